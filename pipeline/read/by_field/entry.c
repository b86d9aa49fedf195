/* entry.c - check whether an index entry still matches its row (by_field.h) */
#include "by_field.h"

/* A field in the entry's row key, and its place in the rows. */
struct entry_field {
	size_t part; /* number of the part in the entry's key */
	/* true if part `from` of the row's key has the value; false if a column has the value */
	bool in_key;
	size_t from;
	const struct stored_column *column;
	struct layout entry, row;
	const struct field_form *form;
	bool same; /* entry and row encode the value with the same bytes */
};

static bool is_text(const struct layout *l)
{
	return l->kind == LAY_TEXT || l->kind == LAY_BYTES || l->kind == LAY_REVERSED;
}

static bool same_layout(const struct layout *a, const struct layout *b)
{
	return a->as == b->as && a->kind == b->kind && a->width == b->width && a->flip == b->flip &&
	       a->invert == b->invert && a->pad == b->pad && a->pad_left == b->pad_left &&
	       a->exact == b->exact && a->ordered == b->ordered && a->date == b->date &&
	       a->zone == b->zone;
}

/* Returns true if the row's bytes determine the entry's bytes. */
static bool leads_to(const struct layout *row, const struct layout *entry)
{
	if (same_layout(row, entry))
		return true;
	/* only text keeps the spelling of a number, and padding changes the spelling */
	if (is_text(entry) || is_text(row))
		return is_text(row) && (row->width == 0 || row->exact);
	return encoding_keeps(row->as, row->from);
}

static bool find_in_key(const struct stored *rows, size_t field, struct entry_field *f)
{
	const struct key_schema *k = &rows->keys->schema;

	for (size_t i = 0; i < k->nsteps; i++) {
		if (k->steps[i].kind != PART_FIELD || k->parts[i].field != field ||
		    !leads_to(&k->steps[i].layout, &f->entry))
			continue;
		f->in_key = true;
		f->from = i;
		f->row = k->steps[i].layout;
		return true;
	}
	return false;
}

/* Finds the field in the columns. Skips columns with a condition, because they may be missing. */
static bool find_in_columns(const struct stored *rows, size_t field, struct entry_field *f)
{
	for (size_t i = 0; i < rows->ncolumns; i++) {
		const struct stored_column *c = &rows->columns[i];

		if (c->spec->kind != VALUE_FIELD || c->spec->marker || c->spec->when ||
		    !c->spec->qualifier_constant || c->spec->field != field ||
		    !leads_to(&c->value, &f->entry))
			continue;
		f->column = c;
		f->row = c->value;
		return true;
	}
	return false;
}

static void read_column(struct entry_check *e, const struct stored_column *c,
			const struct query_family *families, size_t nfamilies)
{
	size_t family = 0;

	while (family < nfamilies && !bytes_eq(families[family].name, c->family))
		family++;
	e->columns[e->ncolumns++] =
		(struct query_column){.family = family, .qualifier = c->constant};
}

void entry_check_open(struct entry_check *e, const struct stored *index, const struct stored *rows,
		      const struct query_family *families, size_t nfamilies)
{
	const struct key_schema *k = &index->keys->schema;

	*e = (struct entry_check){.index = index, .rows = rows};
	e->fields = arena_alloc(&e->arena, (k->nsteps + 1) * sizeof *e->fields);
	e->columns = arena_alloc(&e->arena, (k->nsteps + 1) * sizeof *e->columns);
	e->of_entry = arena_alloc(&e->arena, (index->max_pieces + 1) * sizeof *e->of_entry);
	e->of_row = arena_alloc(&e->arena, (rows->max_pieces + 1) * sizeof *e->of_row);
	for (size_t i = 0; i < k->nsteps; i++) {
		if (k->steps[i].kind != PART_FIELD)
			continue;
		size_t field = k->parts[i].field;
		struct entry_field f = {.part = i,
					.entry = k->steps[i].layout,
					.form = &rows->forms->form[field]};
		if (!find_in_key(rows, field, &f) && !find_in_columns(rows, field, &f))
			continue;
		f.same = same_layout(&f.row, &f.entry);
		e->fields[e->nfields++] = f;
		if (f.column)
			read_column(e, f.column, families, nfamilies);
	}
}

void entry_check_release(struct entry_check *e)
{
	buf_release(&e->bytes);
	field_scratch_release(&e->scratch);
	arena_release(&e->values);
	arena_release(&e->arena);
}

/* Finds the value in a row. Returns a null pointer if the row has no value. */
static struct bytes find_value(const struct entry_check *e, const struct entry_field *f,
			       const struct cell *cells, size_t ncells)
{
	if (f->in_key)
		return e->of_row[f->from].bytes;
	for (size_t i = 0; i < ncells; i++)
		if (cells[i].type == CELL_PUT && bytes_eq(cells[i].family, f->column->family) &&
		    bytes_eq(cells[i].qualifier, f->column->constant))
			return bytes_of(cells[i].value.ptr ? cells[i].value.ptr
							   : (const uint8_t *)"",
					cells[i].value.len);
	return (struct bytes){NULL, 0};
}

/* Returns true if this value gives the entry's bytes. */
static bool gives(struct entry_check *e, const struct entry_field *f, struct bytes value)
{
	struct bytes entry = e->of_entry[f->part].bytes;
	struct value v;
	struct error err;
	struct reject why;

	if (!value.ptr)
		return false;
	if (f->same)
		return bytes_eq(value, entry);
	e->bytes.len = 0;
	bool made = stored_take(&f->row, f->form, value, &e->values, &e->scratch, &v, &err) == 0 &&
		    layout_put(&f->entry, &v, &e->bytes, &why) == 0;
	bool same = made && bytes_eq(buf_bytes(&e->bytes), entry);
	arena_release(&e->values);
	return same;
}

bool entry_check_row(struct entry_check *e, struct bytes entry, struct bytes row,
		     const struct cell *cells, size_t ncells)
{
	const struct key_schema *of_entry = &e->index->keys->schema,
				*of_row = &e->rows->keys->schema;

	if (key_split(of_entry, entry, e->of_entry) < of_entry->nsteps ||
	    key_split(of_row, row, e->of_row) < of_row->nsteps)
		return true; /* accept the entry, because another job wrote this cell */
	for (size_t i = 0; i < e->nfields; i++)
		if (!gives(e, &e->fields[i], find_value(e, &e->fields[i], cells, ncells)))
			return false;
	return true;
}
