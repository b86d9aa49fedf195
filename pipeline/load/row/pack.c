/*
 * pack.c - encode a decoded event as one compact record for each table
 *
 * Payload, by cell in plan order (expand.c reads it):
 *
 *   constant qualifier, constant value   nothing
 *   constant qualifier                   varint(value length + 1), value     0: no cell
 *   computed qualifier, constant value   varint(length + 1), qualifier       0: no cell
 *   computed qualifier                   the same, varint(value length + 1), value
 *
 * Write a constant value with a condition like the value of a field. If a field gives the cell's TTL,
 * its tag comes last, as varint(tag length + 1), tag. 0 means no tag.
 */
#include "compiled.h"
#include "error.h"

#include <inttypes.h>

#define VALUE_MAX ((size_t)INT32_MAX) /* KeyValue lengths are Java ints */

struct row_encoder *row_encoder_new(const struct row_plan *p)
{
	struct row_encoder *e = mem_calloc(1, sizeof *e);

	e->plan = p;
	e->decode_roomy = choose_decode();
	key_scratch_init(&e->keys, &p->maker);
	e->values = mem_calloc(p->nbindings + 1, sizeof *e->values);
	e->rows = mem_calloc(p->ntables + 1, sizeof *e->rows);
	e->keys.rows = e->rows;
	e->known = mem_calloc(p->nbindings + 1, sizeof *e->known);
	size_t most = 0;
	for (size_t i = 0; i < p->ntables; i++)
		most = p->tables[i].ncells > most ? p->tables[i].ncells : most;
	e->marked = mem_calloc(most + 1, sizeof *e->marked);
	e->scratch = mem_calloc(p->nbindings + 1, sizeof *e->scratch);
	for (size_t i = 0; i < p->nbindings; i++)
		e->scratch[i].transform.match = &e->match;
	e->out = mem_calloc(p->ntables + 1, sizeof *e->out);
	quick_start(e);
	return e;
}

void row_encoder_trim(struct row_encoder *e)
{
	for (size_t i = 0; i < e->plan->nbindings; i++) {
		buf_release(&e->scratch[i].joined);
		buf_release(&e->scratch[i].origin);
		transform_scratch_release(&e->scratch[i].transform);
		field_scratch_release(&e->scratch[i].read);
	}
	for (size_t i = 0; i < e->plan->ntables; i++)
		buf_release(&e->out[i].payload);
	buf_release(&e->keys.hash_input);
	buf_release(&e->qualifier);
}

void row_encoder_free(struct row_encoder *e)
{
	if (!e)
		return;
	row_encoder_trim(e);
	for (size_t i = 0; i < e->plan->ntables; i++)
		buf_release(&e->out[i].key);
	mem_free(e->numbers);
	unique_release(e);
	pattern_scratch_release(&e->match);
	key_scratch_release(&e->keys);
	mem_free(e->values);
	mem_free(e->rows);
	mem_free(e->known);
	mem_free(e->marked);
	mem_free(e->scratch);
	mem_free(e->out);
	mem_free(e);
}

static int encode_key(struct row_encoder *e, const struct table_plan *t, struct buf *key,
		      struct reject *why)
{
	int rc = key_build(&t->key, &e->keys, e->values, key, why);

	if (rc || __builtin_expect(key->len - 1 < ROW_KEY_MAX, 1))
		return rc;
	return key_check_length(t->table->schema.name, key->len, why);
}

/* Encode the timestamp. Reject Long.MAX_VALUE, which means "now" to a region server. */
static int encode_ts(const struct row_encoder *e, const struct table_plan *t, uint8_t secondary[8],
		     struct reject *why)
{
	if (t->ts == TS_CONSTANT)
		return 0;
	const struct value *v = &e->values[t->ts_slot];
	if (v->u > INT64_MAX - 1)
		return reject_value(
			why, "out_of_range", t->ts_spec->name, v->text,
			"expected a cell timestamp in 0..9223372036854775806 ms since 1970");
	if (t->ts == TS_MINOR)
		put_be64(secondary, INT64_MAX - v->u);
	return 0;
}

/*
 * Return true if the cell refers to a row of another table, and the event does not have that row.
 */
static bool is_absent(const struct row_encoder *e, const struct table_plan *t,
		      const struct cell_step *s)
{
	if (s->refers && !e->rows[t->table->index_of].len)
		return true;
	if (!s->optional)
		return false;
	if (!s->value.ptr && !s->key_value && !e->values[s->layout.slot].text.ptr)
		return true;
	for (size_t i = 0; i < s->qualifier_slots.n; i++)
		if (!e->values[s->qualifier_slots.of[i]].text.ptr)
			return true;
	return false;
}

static inline void put_slice(struct buf *out, struct bytes v)
{
	uint8_t *to = buf_room(out, v.len + 10);
	size_t n = put_varint(to, v.len + 1);

	copy_short(to + n, v.ptr, v.len);
	out->len += n + v.len;
}

static int encode_qualifier(struct row_encoder *e, const struct table_plan *t,
			    const struct cell_step *s, struct buf *out, struct reject *why)
{
	int rc = key_build(&s->parts, &e->keys, e->values, &e->qualifier, why);

	if (rc)
		return rc;
	size_t len = e->qualifier.len;
	if (len > QUALIFIER_MAX)
		return reject_set(why, "qualifier_too_long", NULL,
				  "found a qualifier of table %s with %zu bytes, expected at "
				  "most %d",
				  t->table->schema.name, len, QUALIFIER_MAX);
	put_slice(out, buf_bytes(&e->qualifier));
	return 0;
}

static int encode_value(const struct row_encoder *e, const struct table_plan *t,
			const struct cell_step *s, struct buf *out, struct reject *why)
{
	const struct layout *l = &s->layout;

	if (s->key_value) {
		put_slice(out, e->rows[t->table->index_of]);
		return 0;
	}
	const struct value *v = &e->values[l->slot];
	if (s->value.ptr) {
		put_slice(out, s->value);
		return 0;
	}
	struct bytes slice = l->kind == LAY_BYTES ? v->bytes : v->text;
	if (l->width) {
		*buf_room(out, 1) = (uint8_t)(l->width + 1);
		out->len++;
		return layout_put(l, v, out, why);
	}
	if (slice.len > VALUE_MAX)
		return reject_set(why, "value_too_long", l->name,
				  "found %zu bytes, expected fewer than 2 GiB", slice.len);
	if (l->kind != LAY_REVERSED && !l->invert) {
		put_slice(out, slice);
		return 0;
	}
	out->len += put_varint(buf_room(out, 10), slice.len + 1);
	return layout_put(l, v, out, why);
}

/* Encode the tags of a cell whose TTL is in a field. A null means only the constant tags. */
static int encode_ttl(const struct row_encoder *e, const struct cell_step *s, struct buf *out,
		      struct reject *why)
{
	const struct value *v = &e->values[s->ttl_slot];
	uint64_t most = (uint64_t)(CELL_TTL_MAX_MS / s->ttl_unit_ms);
	uint8_t tag[CELL_TTL_TAG_BYTES];

	if (!v->text.ptr) {
		*buf_room(out, 1) = 0;
		out->len++;
		return RC_OK;
	}
	if (v->u - 1 >= most)
		return reject_value(why, "out_of_range",
				    e->plan->bindings[s->ttl_slot].form.field->name, v->text,
				    "expected a TTL of 1 to %" PRIu64 " units of %" PRId64 " ms",
				    most, s->ttl_unit_ms);
	cell_put_ttl(tag, (int64_t)v->u * s->ttl_unit_ms);
	out->len += put_varint(buf_room(out, 10), s->tags.len + sizeof tag + 1);
	buf_append(out, s->tags.ptr, s->tags.len);
	buf_append(out, tag, sizeof tag);
	return RC_OK;
}

int cell_encode(struct row_encoder *e, const struct table_plan *t, const struct cell_step *s,
		struct buf *out, bool *any, struct reject *why)
{
	int rc = 0;

	if ((s->optional || s->refers) && is_absent(e, t, s)) {
		*buf_room(out, 1) = 0;
		out->len++;
		return 0;
	}
	*any = true;
	if (s->computed)
		rc = encode_qualifier(e, t, s, out, why);
	if (rc == RC_OK && !s->constant)
		rc = encode_value(e, t, s, out, why);
	if (rc == RC_OK && s->ttl_unit_ms)
		rc = encode_ttl(e, s, out, why);
	return rc;
}

/*
 * Copy a short text without a function call. A null is optional here, because decoding rejects
 * required nulls.
 */
static inline bool encode_short(const struct value *v, struct buf *out, bool roomy, bool *any)
{
	size_t len = v->text.len;

	if (!v->text.ptr || len > 120)
		return false;
	uint8_t *to = buf_room(out, 128);
	*to = (uint8_t)(len + 1);
	if (roomy && len <= EVENT_ROOM_BYTES)
		memcpy(to + 1, v->text.ptr, EVENT_ROOM_BYTES);
	else
		copy_short(to + 1, v->text.ptr, len);
	out->len += len + 1;
	*any = true;
	return true;
}

/* Encode the cells of a row. Set `*any` if the row has a cell. */
static inline int encode_cells(struct row_encoder *e, const struct table_plan *t, bool roomy,
			       struct buf *out, bool *any, struct reject *why)
{
	out->len = 0;
	for (const struct cell_step *s = t->cells, *end = s + t->ncells; s < end; s++) {
		if (s->plain && encode_short(&e->values[s->layout.slot], out, roomy, any))
			continue;
		if (cell_encode(e, t, s, out, any, why))
			return RC_DATA;
	}
	return 0;
}

static void note_newest(struct row_encoder *e, const struct table_plan *t)
{
	int64_t ts = t->ts == TS_CONSTANT ? t->ts_constant : (int64_t)e->values[t->ts_slot].u;

	if (e->newest_ms < ts)
		e->newest_ms = ts;
}

int table_encode_key(struct row_encoder *e, size_t table, struct reject *why)
{
	const struct table_plan *t = &e->plan->tables[table];
	struct table_output *o = &e->out[table];
	int rc = encode_key(e, t, &o->key, why);

	return rc ? rc : encode_ts(e, t, o->secondary, why);
}

static inline int encode_table(struct row_encoder *e, size_t table, const struct event *ev,
			       bool *any, struct reject *why)
{
	const struct table_plan *t = &e->plan->tables[table];

	if (t->conditional)
		return conditional_table(e, table, ev, any, why);
	int rc = table_encode_key(e, table, why);
	return rc ? rc : encode_cells(e, t, ev->roomy, &e->out[table].payload, any, why);
}

int row_encode(struct row_encoder *e, const struct event *ev, struct record *out,
	       struct reject *why)
{
	const struct row_plan *p = e->plan;
	bool taken = true;

	e->finer_now = 0;
	pattern_begin(&e->match);
	int rc = p->conditional ? conditional_start(e, ev, &taken, why) : values_decode(e, ev, why);

	e->keys.event = bytes_of(ev->raw.ptr ? (const void *)ev->raw.ptr : "", ev->raw.len);
	e->keys.place = ev->line ? ev->line : ev->offset;
	for (size_t i = 0; i < p->ntables && rc == RC_OK; i++) {
		struct table_output *o = &e->out[i];
		bool any = false;

		if (taken)
			rc = encode_table(e, i, ev, &any, why);
		out[i] = (struct record){.key = bytes_of(o->key.ptr, any ? o->key.len : 0),
					 .secondary = o->secondary,
					 .seq = ev->seq,
					 .payload = buf_bytes(&o->payload)};
		e->rows[i] = out[i].key;
	}
	for (size_t i = 0; i < p->ntables && rc == RC_OK; i++)
		if (out[i].key.len > 0)
			note_newest(e, &p->tables[i]);
	if (__builtin_expect(e->finer_now > 0, 0) && rc == RC_OK)
		finer_times_add(&e->finer,
				(struct finer_times){e->finer_now, ev->seq, e->finer_field});
	return rc;
}

struct finer_times row_encoder_finer(const struct row_encoder *e)
{
	return e->finer;
}

int64_t row_encoder_newest(const struct row_encoder *e)
{
	return e->newest_ms;
}
