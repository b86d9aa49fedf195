/*
 * decoded.c - writes cells as the fields of the job (decoded.h)
 *
 * If no column of the job repeats in a row, a CSV line is a row, and each column has a fixed place.
 * If a column can occur more often, a CSV line is a cell.
 */
#include "decoded_places.h"

#include <inttypes.h>
#include <stdlib.h>

#include "mem.h"
#include "form.h"
#include "shown.h"
#include "bytes.h"

/* --- values --- */

static bool is_number(enum field_type t)
{
	return t == FIELD_U32 || t == FIELD_U64 || t == FIELD_I64 || t == FIELD_F64 ||
	       t == FIELD_DECIMAL;
}

/* Quotes an empty text, because a null is an empty value without quotes. */
static void put_csv_text(struct buf *out, struct bytes v)
{
	bool quotes = v.len == 0;

	for (size_t i = 0; i < v.len && !quotes; i++)
		quotes = strchr(",\"\r\n", v.ptr[i]) && v.ptr[i];
	if (!quotes) {
		text_utf8(out, v);
		return;
	}
	buf_put(out, '"');
	for (size_t i = 0, from = 0; i <= v.len; i++) {
		if (i < v.len && v.ptr[i] != '"')
			continue;
		text_utf8(out, bytes_of(v.ptr + from, i - from));
		if (i < v.len)
			buf_append_str(out, "\"\"");
		from = i + 1;
	}
	buf_put(out, '"');
}

/* Writes a text in the output format. */
static void put_text(const struct decoded *d, struct buf *out, struct bytes v)
{
	if (d->format == ANSWER_JSONL)
		text_json_shown(out, v);
	else if (d->format == ANSWER_TABLE)
		text_visible(out, v);
	else if (is_plain_text(v))
		put_bytes(out, v);
	else
		put_csv_text(out, v);
}

/* Writes a value that is not text. Only JSON may need quotes for it. */
static void put_typed(const struct decoded *d, struct buf *out, const struct field *f,
		      const struct value *v)
{
	bool bare = d->format != ANSWER_JSONL || is_number(f->type) || f->type == FIELD_BOOL;

	if (!bare)
		buf_put(out, '"');
	field_text(f, v, out);
	if (!bare)
		buf_put(out, '"');
}

static int put_field(struct decoded *d, struct buf *out, const struct layout *l, size_t field,
		     struct bytes in, struct error *err)
{
	const struct field_form *form = &d->how.stored->forms->form[field];
	enum field_type t = form->field->type;
	bool is_text = t == FIELD_TEXT || t == FIELD_BYTES || t == FIELD_CODE;
	bool as_is = l->kind == LAY_TEXT && !l->width && !l->invert;
	struct value v;

	if (as_is && is_number(t) && is_plain_number(in)) {
		put_bytes(out, in);
		return RC_OK;
	}
	if (as_is && (t == FIELD_TEXT || t == FIELD_BYTES)) {
		put_text(d, out, in);
		return RC_OK;
	}
	int rc = stored_take(l, form, in, &d->values, &d->scratch, &v, err);
	if (rc)
		return rc;
	if (l->kind == LAY_DATE) {
		layout_text(l, &v, out);
	} else if (is_text) {
		d->text.len = 0;
		field_text(form->field, &v, &d->text);
		put_text(d, out, buf_bytes(&d->text));
	} else {
		put_typed(d, out, form->field, &v);
	}
	if (d->values.blocks)
		arena_release(&d->values);
	return RC_OK;
}

/*
 * Writes the value of a cell. If the job does not write the column, the answer has the value as
 * text (find_shown).
 */
static int put_value(struct decoded *d, struct buf *out, const struct stored_column *c,
		     struct bytes value, struct error *err)
{
	if (c && c->spec->kind == VALUE_FIELD)
		return put_field(d, out, &c->value, c->spec->field, value, err);
	put_text(d, out, value);
	return RC_OK;
}

static int row_fault(const struct cell *c, struct error *err)
{
	struct buf text = {0};

	bytes_escape(&text, c->row);
	int rc = error_prefix(err, "row %.*s: ", (int)text.len, (const char *)text.ptr);
	buf_release(&text);
	return rc;
}

/* --- keys --- */

static int split_key(struct decoded *d, struct bytes row, struct error *err)
{
	const struct stored *s = d->how.stored;
	const struct key_schema *k = &s->keys->schema;

	if (key_split(k, row, d->pieces) == k->nsteps && d->pieces[k->nsteps - 1].end == row.len)
		return RC_OK;
	int rc = key_decode(k, s->forms, row, &d->values, d->pieces, err);
	arena_release(&d->values);
	return rc;
}

static int put_key_field(struct decoded *d, struct buf *out, size_t step, struct error *err)
{
	const struct key_schema *k = &d->how.stored->keys->schema;

	return put_field(d, out, &k->steps[step].layout, k->parts[step].field,
			 d->pieces[step].bytes, err);
}

/* Writes the fields of the row key into d->key, in the key's order and in the output format. */
static int make_key(struct decoded *d, const struct cell *c, struct error *err)
{
	const struct key_schema *k = &d->how.stored->keys->schema;
	const char *comma = "";
	int rc = split_key(d, c->row, err);

	d->key.len = 0;
	for (size_t i = 0; rc == RC_OK && i < k->nsteps; i++) {
		if (k->steps[i].kind != PART_FIELD)
			continue;
		if (*comma)
			buf_append_str(&d->key, comma);
		if (d->format == ANSWER_JSONL) {
			text_json_shown(&d->key, bytes_str(k->steps[i].layout.title));
			buf_append_str(&d->key, ": ");
		} else if (d->format == ANSWER_TABLE) {
			buf_printf(&d->key, "%s ", k->steps[i].layout.title);
		}
		rc = put_key_field(d, &d->key, i, err);
		comma = d->format == ANSWER_CSV ? "," : ", ";
	}
	return rc ? row_fault(c, err) : RC_OK;
}

/* --- columns --- */

static const struct stored_column *find_column(struct decoded *d, const struct cell *c)
{
	if (d->next < d->nplaces && d->places[d->next].column &&
	    bytes_eq(d->places[d->next].qualifier, c->qualifier) &&
	    bytes_eq(d->places[d->next].family, c->family))
		return d->places[d->next++].column;
	const struct stored_column *found =
		stored_find(d->how.stored, c->family, c->qualifier, d->pieces);
	d->next = 0;
	while (d->next < d->nplaces && d->places[d->next].column != found)
		d->next++;
	d->next += d->next < d->nplaces;
	return found;
}

/*
 * Writes the column's name, for example "f:m". The name of a computed qualifier contains the values
 * of its fields, separated by slashes.
 */
static int make_name(struct decoded *d, const struct cell *c, struct error *err)
{
	const struct stored_column *of = d->column;
	struct decoded plain = {.how = d->how, .format = ANSWER_TABLE};
	int rc = RC_OK;

	d->name.len = 0;
	text_visible(&d->name, c->family);
	buf_put(&d->name, ':');
	if (!of || of->spec->qualifier_constant) {
		text_visible(&d->name, c->qualifier);
		return RC_OK;
	}
	for (size_t i = 0; rc == RC_OK && i < of->qualifier.nsteps; i++) {
		const struct key_step *step = &of->qualifier.steps[i];

		if (i)
			buf_put(&d->name, '/');
		if (step->kind == PART_FIELD)
			rc = put_field(&plain, &d->name, &step->layout,
				       of->qualifier.parts[i].field, d->pieces[i].bytes, err);
		else
			bytes_escape(&d->name, d->pieces[i].bytes);
	}
	buf_release(&plain.text);
	field_scratch_release(&plain.scratch);
	arena_release(&plain.values);
	return rc;
}

/* --- CSV --- */

static void put_header(struct decoded *d, struct buf *out)
{
	const struct key_schema *k = &d->how.stored->keys->schema;
	const char *comma = "";

	for (size_t i = 0; i < k->nsteps; i++) {
		if (k->steps[i].kind != PART_FIELD)
			continue;
		buf_append_str(out, comma);
		put_text(d, out, bytes_str(k->steps[i].layout.title));
		comma = ",";
	}
	for (size_t i = 0; !d->line_a_cell && i < d->nplaces; i++) {
		d->name.len = 0;
		text_visible(&d->name, d->places[i].family);
		buf_put(&d->name, ':');
		text_visible(&d->name, d->places[i].qualifier);
		buf_append_str(out, comma);
		put_text(d, out, buf_bytes(&d->name));
		comma = ",";
	}
	if (d->line_a_cell)
		buf_printf(out, "%scolumn,timestamp%s,value", comma, d->how.raw ? ",type" : "");
	buf_put(out, '\n');
}

static int put_csv_cell(struct decoded *d, struct buf *out, const struct cell *c, struct error *err)
{
	d->column = find_column(d, c);
	int rc = make_name(d, c, err);
	buf_append(out, d->key.ptr, d->key.len);
	buf_put(out, ',');
	put_text(d, out, buf_bytes(&d->name));
	buf_put(out, ',');
	millis_text(c->ts, out);
	if (d->how.raw)
		buf_printf(out, ",%s", cell_type_name(c->type));
	buf_put(out, ',');
	if (rc == RC_OK && c->type == CELL_PUT)
		rc = put_value(d, out, d->column, c->value, err);
	buf_put(out, '\n');
	return rc;
}

static void end_csv_row(struct decoded *d, struct buf *out)
{
	for (; d->next < d->nplaces; d->next++)
		buf_put(out, ',');
	buf_put(out, '\n');
}

/* Compares short names inline. */
static inline bool same_name(struct bytes a, struct bytes b)
{
	if (a.len != b.len)
		return false;
	if (a.len > 16)
		return memcmp(a.ptr, b.ptr, a.len) == 0;
	for (size_t i = 0; i < a.len; i++)
		if (a.ptr[i] != b.ptr[i])
			return false;
	return true;
}

static int put_csv_value(struct decoded *d, struct buf *out, const struct cell *c,
			 struct error *err)
{
	const struct decoded_place *p = d->places;

	while (d->next < d->nplaces && !(same_name(p[d->next].qualifier, c->qualifier) &&
					 same_name(p[d->next].family, c->family))) {
		d->next++;
		buf_put(out, ',');
	}
	if (d->next == d->nplaces) {
		make_name(d, c, err);
		return error_set(err, RC_CONFIG,
				 "found the column %.*s, which the job does not write and which "
				 "has no place in a CSV line; expected --columns with this column, "
				 "or --format jsonl",
				 (int)d->name.len, (const char *)d->name.ptr);
	}
	p += d->next++;
	buf_put(out, ',');
	return shown_put(&p->shown, c->value, out) ? RC_OK
						   : put_value(d, out, p->column, c->value, err);
}

static bool put_csv_key(const struct decoded *d, struct bytes row, struct buf *out)
{
	size_t start = out->len;

	if (row.len != d->key_bytes || row.len == 0)
		return false;
	for (size_t i = 0; i < d->nkey_places; i++) {
		const struct key_place *p = &d->key_places[i];

		if (i)
			buf_put(out, ',');
		if (!shown_put(&p->shown, bytes_of(row.ptr + p->at, p->shown.width), out)) {
			out->len = start;
			return false;
		}
	}
	return true;
}

static int begin_csv_row(struct decoded *d, struct buf *out, const struct cell *c,
			 struct error *err)
{
	size_t start = out->len;
	int rc = RC_OK;

	if (d->begun)
		end_csv_row(d, out);
	else
		put_header(d, out);
	if (!put_csv_key(d, c->row, out)) {
		rc = make_key(d, c, err);
		put_bytes(out, buf_bytes(&d->key));
	}
	d->next = 0;
	d->column = NULL;
	if (rc)
		out->len = start;
	return rc;
}

static int put_csv(struct decoded *d, struct buf *out, const struct cell *c, struct error *err)
{
	if (!d->line_a_cell)
		return put_csv_value(d, out, c, err);
	if (!d->begun)
		put_header(d, out);
	return put_csv_cell(d, out, c, err);
}

/* --- JSON lines --- */

struct decoded_row_view {
	struct bytes row, key, cells;
};

static const struct form_member row_members[] = {
	{"row", FORM_KEY, IN(decoded_row_view, row), "row key"},
	{"key", FORM_OBJECT, IN(decoded_row_view, key),
	 "names and values of the fields of the row "
	 "key"},
	{"cells", FORM_OBJECT, IN(decoded_row_view, cells),
	 "columns and their values; with --versions, each value is a list of {timestamp, type, "
	 "value}"},
};
const struct form decoded_form = NAMED_FORM(decoded_row_view, row_members, "decoded-rows",
					    "a line of `get --json --decode` and `scan --json "
					    "--decode`");

struct decoded_version_view {
	int64_t timestamp;
	uint8_t type;
	struct bytes value;
};

static const struct form_member version_members[] = {
	{"timestamp", FORM_INT, IN(decoded_version_view, timestamp),
	 "timestamp of the cell, in ms "
	 "since 1970"},
	{"type", FORM_CELL_TYPE, IN(decoded_version_view, type),
	 "type of the cell: Put, and with "
	 "--raw also Delete..."},
	{"value", FORM_JSON, IN(decoded_version_view, value), "value", FORM_OR_NULL},
};
static const struct form version_form = FORM(decoded_version_view, version_members);

/* Ends the previous row and starts the row of `c`, up to its first cell. */
static void begin_json_row(struct decoded *d, struct buf *out, const struct cell *c)
{
	struct decoded_row_view row = {.row = c->row};

	if (d->begun)
		buf_append_str(out, d->how.versions ? "]}}\n" : "}}\n");
	d->object.len = 0;
	buf_put(&d->object, '{');
	buf_append(&d->object, d->key.ptr, d->key.len);
	buf_put(&d->object, '}');
	row.key = buf_bytes(&d->object);
	form_open(out, &decoded_form, &row, FORM_SPACED);
}

static int put_json_value(struct decoded *d, struct buf *out, const struct cell *c,
			  struct error *err)
{
	if (c->type == CELL_PUT)
		return put_value(d, out, d->column, c->value, err);
	buf_append_str(out, "null");
	return RC_OK;
}

/* Writes one item of a column's list of versions. */
static int put_version(struct decoded *d, struct buf *out, const struct cell *c, struct error *err)
{
	struct buf value = {0};
	int rc = put_json_value(d, &value, c, err);
	struct decoded_version_view v = {c->ts, c->type, buf_bytes(&value)};

	form_put(out, &version_form, &v, FORM_SPACED);
	buf_release(&value);
	return rc;
}

static int put_json(struct decoded *d, struct buf *out, const struct cell *c, bool new_row,
		    struct error *err)
{
	d->column = find_column(d, c);
	int rc = make_name(d, c, err);
	bool same = !new_row && bytes_eq(buf_bytes(&d->name), buf_bytes(&d->last));
	if (new_row)
		begin_json_row(d, out, c);
	else
		buf_append_str(out, !same && d->how.versions ? "], " : ", ");
	if (!same) {
		text_json_shown(out, buf_bytes(&d->name));
		buf_append_str(out, d->how.versions ? ": [" : ": ");
	}
	if (rc == RC_OK)
		rc = d->how.versions ? put_version(d, out, c, err) : put_json_value(d, out, c, err);
	d->last.len = 0;
	buf_append(&d->last, d->name.ptr, d->name.len);
	return rc;
}

/* --- table --- */

static int put_line(struct decoded *d, struct buf *out, const struct cell *c, struct error *err)
{
	d->column = find_column(d, c);
	int rc = make_name(d, c, err);
	buf_append_str(out, "  ");
	buf_append(out, d->key.ptr, d->key.len);
	buf_append_str(out, "  ");
	buf_append(out, d->name.ptr, d->name.len);
	buf_append_str(out, "  ");
	millis_text(c->ts, out);
	buf_append_str(out, "  ");
	if (c->type != CELL_PUT)
		buf_append_str(out, cell_type_name(c->type));
	else if (rc == RC_OK)
		rc = put_value(d, out, d->column, c->value, err);
	buf_put(out, '\n');
	return rc;
}

int decoded_cell(struct decoded *d, struct buf *out, const struct cell *c, bool new_row,
		 struct error *err)
{
	int rc = RC_OK;

	if (new_row)
		rc = d->format == ANSWER_CSV && !d->line_a_cell ? begin_csv_row(d, out, c, err)
								: make_key(d, c, err);
	if (rc)
		return rc;
	switch (d->format) {
	case ANSWER_CSV: rc = put_csv(d, out, c, err); break;
	case ANSWER_JSONL: rc = put_json(d, out, c, new_row, err); break;
	case ANSWER_TABLE: rc = put_line(d, out, c, err); break;
	}
	d->begun = true;
	return rc == RC_DATA ? row_fault(c, err) : rc;
}

void decoded_end(struct decoded *d, struct buf *out)
{
	if (!d->begun)
		return;
	if (d->format == ANSWER_CSV && !d->line_a_cell)
		end_csv_row(d, out);
	if (d->format == ANSWER_JSONL)
		buf_append_str(out, d->how.versions ? "]}}\n" : "}}\n");
}
