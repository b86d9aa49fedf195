/*
 * values.c - convert column text to typed values
 *
 * This file converts plain numbers and texts with the digit functions of field.h. The function
 * field_read converts everything else.
 */
#include "digits.h"
#include "field.h"
#include "compiled.h"
#include "error.h"

static bool spells_null(const struct binding *b, const struct column *c)
{
	for (size_t i = 0; i < b->nnulls && (!c->quoted || b->quoted_nulls); i++)
		if (bytes_eq(b->nulls[i], bytes_of(c->ptr, c->len)))
			return true;
	return false;
}

static inline bool is_null(const struct binding *b, const struct column *c)
{
	if (c->absent)
		return true;
	return (b->null_lengths >> (c->len < 63 ? c->len : 63) & 1) && spells_null(b, c);
}

static int null_value(const struct binding *b, struct demand d, const struct column *c,
		      struct reject *why)
{
	const char *use = d.need == NEED_KEY	? "the row key"
			  : d.need == NEED_CELL ? "a cell"
						: "the cell timestamp";
	const char *advice = d.need == NEED_CELL ? "; mark the cell `optional: true`" : "";

	if (c->absent)
		return reject_set(why, "null_value", b->form.field->name,
				  "found no value, expected a value for %s of table %s%s", use,
				  d.table, advice);
	return reject_value(why, "null_value", b->form.field->name, bytes_of(c->ptr, c->len),
			    "which means no value, expected a value for %s of table %s%s", use,
			    d.table, advice);
}

/* Use the field's default, or a null if the field may be null. */
static int no_value(const struct binding *b, struct demand d, const struct column *c,
		    struct value *v, struct reject *why)
{
	v->text = b->fallback;
	return v->text.ptr || !d.need ? RC_OK : null_value(b, d, c, why);
}

/* Return column `i` of the field. `out` holds its text if the text is not in the event. */
static struct column column_at(const struct binding *b, size_t i, const struct event *ev,
			       struct buf *out)
{
	if (b->origins[i] == ORIGIN_COLUMN)
		return ev->columns[b->columns[i]];
	out->len = 0;
	bool absent = !origin_text(b->origins[i], b->names[i], ev, out);
	return (struct column){.ptr = out->ptr, .len = (uint32_t)out->len, .absent = absent};
}

/*
 * Join the texts of the columns and the glue into `*whole`. If a column is null, set `*whole` to
 * that column, and return false.
 */
static bool join_columns(const struct binding *b, const struct event *ev, struct binding_scratch *s,
			 struct column *whole)
{
	struct buf *out = &s->joined;
	bool quoted = false;

	out->len = 0;
	buf_append(out, b->glue[0].ptr, b->glue[0].len);
	for (size_t i = 0; i < b->ncolumns; i++) {
		*whole = column_at(b, i, ev, &s->origin);
		if (is_null(b, whole))
			return false;
		buf_append(out, whole->ptr, whole->len);
		buf_append(out, b->glue[i + 1].ptr, b->glue[i + 1].len);
		quoted = quoted || whole->quoted;
	}
	buf_room(out, EVENT_ROOM_BYTES);
	*whole = (struct column){.ptr = out->ptr, .len = (uint32_t)out->len, .quoted = quoted};
	return true;
}

/* Set `*whole` to the first column that is not null. Return false if all are null. */
static bool first_column(const struct binding *b, const struct event *ev, struct binding_scratch *s,
			 struct column *whole)
{
	for (size_t i = 0; i < b->ncolumns; i++) {
		*whole = column_at(b, i, ev, &s->joined);
		if (!is_null(b, whole))
			return true;
	}
	return false;
}

static const uint8_t nothing[EVENT_ROOM_BYTES];

/*
 * Join and transform the columns. A null column makes the result null. The check of the result is
 * that of a column's text.
 */
static int compute_text(struct row_encoder *e, const struct binding *b, struct demand d,
			const struct event *ev, struct value *v, struct reject *why)
{
	struct binding_scratch *s = &e->scratch[b - e->plan->bindings];
	const struct field *f = b->form.field;
	struct column whole = {.absent = true};
	bool found = f->first ? first_column(b, ev, s, &whole) : join_columns(b, ev, s, &whole);

	if (!found)
		return no_value(b, d, &whole, v, why);
	v->text = bytes_of(whole.len ? whole.ptr : nothing, whole.len);
	if (!f->transform)
		return RC_OK;
	if (transform_text(f, e->plan->letters, &v->text, &s->transform, why))
		return RC_DATA;
	whole.ptr = v->text.ptr;
	whole.len = (uint32_t)v->text.len;
	whole.quoted = whole.quoted && !s->transform.mapped;
	return is_null(b, &whole) ? no_value(b, d, &whole, v, why) : RC_OK;
}

/* Convert texts with several parts or quotes, and texts as short as a null spelling. */
static int take_text(struct row_encoder *e, const struct binding *b, struct demand d,
		     const struct event *ev, struct value *v, struct reject *why)
{
	const struct column *c = &ev->columns[b->column];

	if (b->computed)
		return compute_text(e, b, d, ev, v, why);
	if (is_null(b, c))
		return no_value(b, d, c, v, why);
	v->text = bytes_of(c->len ? c->ptr : nothing, c->len);
	return 0;
}

/*
 * Note the current file. Rows of a file are consecutive, so the function parses each file name
 * once.
 */
static void note_file(struct binding_scratch *s, const char *file)
{
	if (!file || s->file == file)
		return;
	s->file = file;
	s->read.has_file_day = field_day_of(file, &s->read.file_day);
}

/* Convert any text on the slow path. If the text is invalid, describe the fault in `*why`. */
static int decode_slowly(struct row_encoder *e, const struct binding *b, const char *file,
			 struct value *v, struct reject *why)
{
	struct binding_scratch *s = &e->scratch[b - e->plan->bindings];

	if (b->form.field->year_rule == YEAR_OF_FILE)
		note_file(s, file);
	int rc = field_read(&b->form, v, &s->read, why);
	if (rc == RC_OK && b->form.field->type == FIELD_TIME && v->finer && !e->finer_now++)
		e->finer_field = (uint64_t)(b->form.field - e->plan->job->fields);
	return rc;
}

int defaults_check(const struct row_plan *p, struct error *err)
{
	struct row_encoder *e = row_encoder_new(p);
	int rc = RC_OK;

	for (size_t i = 0; i < p->nbindings && rc == RC_OK; i++) {
		const struct binding *b = &p->bindings[i];
		const struct field *f = b->form.field;
		struct value v = {.text = b->fallback};
		struct reject why;

		if (v.text.ptr && decode_slowly(e, b, NULL, &v, &why))
			rc = error_set(err, RC_CONFIG, "%s:%u:%u: default of field `%s`: %s",
				       p->job->path, f->pos.line, f->pos.column, f->name,
				       why.detail);
	}
	row_encoder_free(e);
	return rc;
}

typedef bool parse_digits(struct bytes t, uint64_t *out);

/* Convert a usual text. Return false if the text needs the slow path. */
static inline __attribute__((always_inline)) bool
decode_quickly(const struct binding *b, struct value *v, parse_digits *digits, bool roomy)
{
	struct bytes text = v->text;
	uint64_t u = 0;

	if (b->quick == QUICK_TEXT)
		return roomy && text.len < 8 ? plain_word(load64(text.ptr) | ONES << 8 * text.len)
					     : is_plain_ascii(text);
	if (b->quick != QUICK_NUMBER || !digits(text, &u) || u > b->quick_max)
		return false;
	v->u = u * b->quick_scale;
	v->micros = 0;
	v->finer = false;
	return true;
}

static inline __attribute__((always_inline)) int decode_with(struct row_encoder *e,
							     const struct event *ev,
							     struct reject *why,
							     parse_digits *digits, bool roomy)
{
	const struct row_plan *p = e->plan;
	const struct column *columns = ev->columns;
	struct value *v = e->values;

	for (const struct binding *b = p->bindings, *end = b + p->nalways; b < end; b++, v++) {
		const struct column *c = &columns[b->column];

		v->text = bytes_of(c->ptr, c->len);
		if (__builtin_expect(c->len <= b->null_max || c->absent, 0)) {
			int rc = take_text(e, b, b->demand, ev, v, why);

			if (rc)
				return rc;
			if (!v->text.ptr)
				continue;
		}
		if (!decode_quickly(b, v, digits, roomy) && decode_slowly(e, b, ev->file, v, why))
			return RC_DATA;
	}
	return 0;
}

int value_decode(struct row_encoder *e, const struct binding *b, struct demand d,
		 const struct event *ev, struct reject *why)
{
	struct value *v = &e->values[b - e->plan->bindings];
	int rc = take_text(e, b, d, ev, v, why);

	if (rc || !v->text.ptr || decode_quickly(b, v, digits_portable, false))
		return rc;
	return decode_slowly(e, b, ev->file, v, why);
}

static int decode_portable(struct row_encoder *e, const struct event *ev, struct reject *why)
{
	return decode_with(e, ev, why, digits_portable, false);
}

#if defined(__x86_64__)
static SSE41 int decode_sse41(struct row_encoder *e, const struct event *ev, struct reject *why)
{
	return decode_with(e, ev, why, digits_sse41, true);
}

decode_values *choose_decode(void)
{
	return __builtin_cpu_supports("sse4.1") ? decode_sse41 : decode_portable;
}
#else
decode_values *choose_decode(void)
{
	return decode_portable;
}
#endif

int values_decode(struct row_encoder *e, const struct event *ev, struct reject *why)
{
	if (ev->ncolumns < e->plan->ncolumns)
		return reject_set(why, "too_few_columns", NULL, "found %zu columns, expected %zu",
				  ev->ncolumns, e->plan->ncolumns);
	return ev->roomy ? e->decode_roomy(e, ev, why) : decode_portable(e, ev, why);
}

const struct value *row_encoder_value(const struct row_encoder *e, size_t field)
{
	const struct row_plan *p = e->plan;
	size_t slot = p->slots[field];
	bool used = slot < p->nbindings && p->bindings[slot].form.field == &p->job->fields[field];

	return used ? &e->values[slot] : NULL;
}
