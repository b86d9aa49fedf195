/* draw.c - give a question's `?` values of the events */
#include "ask.h"

#define TRIES 64 /* events to try before the draw accepts a value outside the wanted part */

static uint64_t random_at(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

static size_t hole_field(const struct ask *k, const struct ask_hole *h, const struct events *e)
{
	struct error ignored;
	size_t field = 0;

	field_find(e->job, bytes_str(k->q.conditions[h->condition].name), &field, &ignored);
	return field;
}

/* Return the length of the interval that a hole ends, in the field's unit. */
static uint64_t span_of(const struct ask_hole *h, const struct event_column *c)
{
	uint64_t part = (c->most - c->least) / 100;

	return h->span ? h->span : part ? part : 1;
}

/* Return true if the events have the values that the question needs at this event. */
static bool fits(const struct ask *k, const struct events *e, size_t event)
{
	for (size_t i = 0; i < k->nholes; i++) {
		const struct ask_hole *h = &k->hole[i];
		const struct event_column *c = &e->column[hole_field(k, h, e)];

		if (c->null && c->null[event])
			return false;
		if (!c->number || c->field->type == FIELD_F64 || c->field->type == FIELD_I64 ||
		    c->field->type == FIELD_DECIMAL)
			continue;
		uint64_t v = c->number[event], span = span_of(h, c);
		if (h->kind == HOLE_END && c->most - c->least > span && v > c->most - span)
			return false;
		if (k->recent && c->field->type == FIELD_TIME && v + k->recent < c->most)
			return false;
	}
	return true;
}

/* Choose the event whose values answer draw `i`. */
static size_t choose(const struct ask *k, const struct events *e, size_t i, uint64_t *random)
{
	size_t event = 0;

	if (i == ASK_DRAWS && k->nequals)
		return e->column[k->equal[0]].heaviest_event;
	for (unsigned t = 0; t < TRIES; t++) {
		event = random_at(random) % e->n;
		if (fits(k, e, event))
			break;
	}
	return event;
}

/* Append a value in quotes. */
static void put_value(struct buf *out, const struct field *f, const struct value *v)
{
	struct buf text = {0};

	if (f->type == FIELD_TEXT || f->type == FIELD_BYTES || field_has_bytes(f->type))
		buf_append(&text, v->text.ptr, v->text.len);
	else
		field_text(f, v, &text);
	buf_put(out, '\'');
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '\'')
			buf_put(out, '\'');
		buf_put(out, text.ptr[i]);
	}
	buf_put(out, '\'');
	buf_release(&text);
}

static size_t prefix_len(struct bytes text, size_t most)
{
	size_t n = 0;

	while (n < text.len && n < most) {
		size_t one = utf8_char(text.ptr + n, text.ptr + text.len);

		n += one ? one : 1;
	}
	return n;
}

/* Append the values of a hole, for the values of one event. */
static void put_hole(struct drawn *drawn, struct buf *out, const struct ask_hole *h,
		     const struct event_column *c, const struct events *e, size_t event,
		     uint64_t *random)
{
	struct value v;

	event_value(c, event, &v);
	switch (h->kind) {
	case HOLE_VALUE: break;
	case HOLE_END:
		if (!c->number || c->field->type == FIELD_F64)
			break;
		drawn->from = v.u;
		v.u += span_of(h, c);
		drawn->to = v.u;
		drawn->interval = true;
		break;
	case HOLE_LAST:
		v.u = c->most > h->span ? c->most - h->span : 0;
		drawn->from = v.u;
		drawn->to = c->most;
		drawn->interval = true;
		break;
	case HOLE_PREFIX: v.text.len = prefix_len(v.text, h->count); break;
	case HOLE_SEVERAL:
		for (unsigned i = 1; i < h->count; i++) {
			struct value other;

			event_value(c, random_at(random) % e->n, &other);
			if (!other.text.ptr)
				continue;
			put_value(out, c->field, &other);
			buf_append_str(out, ", ");
		}
		break;
	}
	put_value(out, c->field, &v);
}

static const struct ask_hole *hole_at(const struct ask *k, size_t at)
{
	for (size_t i = 0; i < k->nholes; i++)
		if (k->q.conditions[k->hole[i].condition].values[k->hole[i].value].at == at)
			return &k->hole[i];
	return NULL;
}

int ask_draw(struct drawn *out, const struct ask *k, const struct events *e, size_t i,
	     struct arena *a, struct error *err)
{
	uint64_t random = UINT64_C(0x5A17) + i * UINT64_C(0x1000003);
	size_t event = choose(k, e, i, &random);
	struct buf text = {0};

	*out = (struct drawn){.text = "", .event = event};
	if (!k->q.root)
		return RC_OK;
	for (size_t at = 0; k->q.text[at];) {
		const struct ask_hole *h = k->q.text[at] == '?' ? hole_at(k, at) : NULL;

		if (!h) {
			buf_put(&text, (uint8_t)k->q.text[at++]);
			continue;
		}
		put_hole(out, &text, h, &e->column[hole_field(k, h, e)], e, event, &random);
		at += k->q.conditions[h->condition].values[h->value].text.len;
	}
	out->text = arena_strndup(a, text.ptr, text.len);
	buf_release(&text);
	return question_parse(&out->q, k->text, out->text, a, err);
}
