/* field_sources.c - find the places of a table that have the values of fields (read/field_sources.h) */
#include "read/field_sources.h"

#include <string.h>

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

/* The search for the best place of each field. */
struct source_search {
	const struct stored *stored;
	struct field_source *out; /* by field */
};

static const struct job *job_of(const struct source_search *s)
{
	return s->stored->keys->job;
}

static void offer(struct source_search *s, size_t field, struct field_source from)
{
	if (is_better(&job_of(s)->fields[field], &from, &s->out[field]))
		s->out[field] = from;
}

static void offer_parts(struct source_search *s, const struct key_part *parts, size_t n,
			struct field_source from)
{
	for (from.part = 0; from.part < n; from.part++) {
		const struct key_part *k = &parts[from.part];

		if (k->kind != PART_FIELD || !is_whole(&job_of(s)->fields[k->field], k->as))
			continue;
		from.is_text = is_text(k->as);
		from.precision = of_encoding(k->as);
		offer(s, k->field, from);
	}
}

static void offer_qualifier(struct source_search *s, size_t column)
{
	const struct cell_spec *c = s->stored->columns[column].spec;

	if (!c->marker)
		offer_parts(s, c->qualifier, c->nqualifier,
			    (struct field_source){.place = FROM_QUALIFIER, .column = column});
}

static void offer_value(struct source_search *s, size_t column)
{
	const struct cell_spec *c = s->stored->columns[column].spec;

	if (c->marker || c->kind != VALUE_FIELD || !is_whole(&job_of(s)->fields[c->field], c->as))
		return;
	offer(s, c->field,
	      (struct field_source){.place = FROM_VALUE,
				    .column = column,
				    .is_text = is_text(c->as),
				    .precision = of_encoding(c->as),
				    .layout = s->stored->columns[column].value});
}

/* Begin with the fields of the row key. */
static struct source_search begin(const struct stored *stored, struct arena *a)
{
	const struct job_table *t = stored->keys->table;
	size_t n = stored->keys->job->nfields;
	struct source_search s = {.stored = stored, .out = arena_alloc(a, (n + 1) * sizeof *s.out)};

	for (size_t i = 0; i < n; i++)
		s.out[i] = (struct field_source){.place = FROM_NOWHERE};
	offer_parts(&s, t->rowkey, t->nrowkey, (struct field_source){.place = FROM_KEY});
	return s;
}

struct field_source *sources_of_event(const struct stored *stored, struct arena *a)
{
	const struct job_table *t = stored->keys->table;
	struct source_search s = begin(stored, a);

	if (!t->timestamp_constant)
		offer(&s, t->timestamp_field,
		      (struct field_source){.place = FROM_TIMESTAMP, .precision = IN_MILLIS});
	for (size_t i = 0; i < stored->ncolumns; i++) {
		offer_qualifier(&s, i);
		offer_value(&s, i);
	}
	return s.out;
}

struct field_source *sources_of_row(const struct stored *stored, struct arena *a)
{
	struct source_search s = begin(stored, a);

	for (size_t i = 0; i < stored->ncolumns; i++)
		if (stored->columns[i].spec->qualifier_constant)
			offer_value(&s, i);
	return s.out;
}

bool source_has(const struct field *f, const struct field_source *s)
{
	return s->place != FROM_NOWHERE && (f->type != FIELD_TIME || s->precision >= of_source(f));
}

bool source_gives(const struct field *f, const struct field_source *s, enum encode_as as)
{
	if (s->place == FROM_NOWHERE)
		return false;
	if (is_text(as))
		return s->is_text || has_one_text(f->type);
	if (f->type != FIELD_TIME)
		return true;
	enum precision need = encodings[as].kind == LAY_DATE ? IN_SECONDS : of_encoding(as);
	return s->precision >= need || s->precision >= of_source(f);
}
