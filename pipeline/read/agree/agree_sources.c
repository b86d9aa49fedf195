/* agree_sources.c - find the places of the truth table that have the fields of an event */
#include <string.h>

#include "agree.h"

static enum precision of_source(const struct field *f)
{
	switch (f->unit) {
	case TIME_S: return IN_SECONDS;
	case TIME_MS: return IN_MILLIS;
	case TIME_US:
	case TIME_NS:
	case TIME_OF_SOURCE: return IN_MICROS;
	case TIME_FORMAT: break;
	}
	return strcmp(f->format, TIME_ISO8601) == 0 || strstr(f->format, "%f") ? IN_MICROS
									       : IN_SECONDS;
}

static bool is_text(enum encode_as as)
{
	return encodings[as].kind == LAY_TEXT || encodings[as].kind == LAY_REVERSED;
}

static enum precision of_encoding(enum encode_as as)
{
	if (encodings[as].kind == LAY_TIME)
		return as == AS_REVERSED_SECONDS ? IN_SECONDS : IN_MICROS;
	return encodings[as].kind == LAY_NUMBER ? IN_MILLIS : IN_MICROS;
}

/* Return true if the encoding has all of the field's value. */
static bool is_whole(const struct field *f, enum encode_as as)
{
	/* the year of such a text is not in the text */
	if (is_text(as) && f->type == FIELD_TIME && f->unit == TIME_FORMAT)
		return f->year_rule == YEAR_WRITTEN;
	return encoding_keeps(as, f->type) || as == AS_REVERSED_SECONDS;
}

/* Return true if the text of the type follows from its value, whatever the text of the source was. */
static bool has_one_text(enum field_type t)
{
	return t == FIELD_TEXT || t == FIELD_BYTES || t == FIELD_U32 || t == FIELD_U64 ||
	       t == FIELD_I64 || t == FIELD_DECIMAL || t == FIELD_CODE;
}

static bool is_better(const struct field *f, const struct field_source *a,
		      const struct field_source *b)
{
	enum precision need = f->type == FIELD_TIME ? of_source(f) : IN_SECONDS;
	bool whole_a = a->precision >= need, whole_b = b->precision >= need;
	bool text_a = a->is_text || has_one_text(f->type);
	bool text_b = b->is_text || has_one_text(f->type);

	if (b->place == FROM_NOWHERE)
		return true;
	if (whole_a != whole_b)
		return whole_a;
	if (text_a != text_b)
		return text_a;
	return a->place < b->place;
}

static void offer(struct agree_plan *p, size_t field, struct field_source s)
{
	if (is_better(&p->job->fields[field], &s, &p->sources[field]))
		p->sources[field] = s;
}

static void offer_parts(struct agree_plan *p, const struct key_part *parts, size_t n,
			struct field_source s)
{
	for (s.part = 0; s.part < n; s.part++) {
		const struct key_part *k = &parts[s.part];

		if (k->kind != PART_FIELD || !is_whole(&p->job->fields[k->field], k->as))
			continue;
		s.is_text = is_text(k->as);
		s.precision = of_encoding(k->as);
		offer(p, k->field, s);
	}
}

static void offer_cell(struct agree_plan *p, size_t column)
{
	const struct cell_spec *c = &p->truth->cells[column];
	struct field_source s = {.place = FROM_QUALIFIER, .column = column};

	if (c->marker)
		return;
	offer_parts(p, c->qualifier, c->nqualifier, s);
	if (c->kind != VALUE_FIELD || !is_whole(&p->job->fields[c->field], c->as))
		return;
	s.place = FROM_VALUE;
	s.is_text = is_text(c->as);
	s.precision = of_encoding(c->as);
	s.layout = p->stored->columns[column].value;
	offer(p, c->field, s);
}

void agree_find_sources(struct agree_plan *p)
{
	const struct job_table *t = p->truth;

	p->sources = arena_alloc(&p->arena, (p->job->nfields + 1) * sizeof *p->sources);
	for (size_t i = 0; i < p->job->nfields; i++)
		p->sources[i] = (struct field_source){.place = FROM_NOWHERE};
	offer_parts(p, t->rowkey, t->nrowkey, (struct field_source){.place = FROM_KEY});
	if (!t->timestamp_constant)
		offer(p, t->timestamp_field,
		      (struct field_source){.place = FROM_TIMESTAMP, .precision = IN_MILLIS});
	for (size_t i = 0; i < t->ncells; i++)
		offer_cell(p, i);
}

bool agree_has(const struct agree_plan *p, size_t field)
{
	const struct field *f = &p->job->fields[field];
	const struct field_source *s = &p->sources[field];

	return s->place != FROM_NOWHERE && (f->type != FIELD_TIME || s->precision >= of_source(f));
}

bool agree_gives(const struct agree_plan *p, size_t field, enum encode_as as)
{
	const struct field *f = &p->job->fields[field];
	const struct field_source *s = &p->sources[field];

	if (s->place == FROM_NOWHERE)
		return false;
	if (is_text(as))
		return s->is_text || has_one_text(f->type);
	if (f->type != FIELD_TIME)
		return true;
	enum precision need = encodings[as].kind == LAY_DATE ? IN_SECONDS : of_encoding(as);
	return s->precision >= need || s->precision >= of_source(f);
}
