/* agree_derive.c - make the job that reads the fields of the truth table and writes the other table */
#include <string.h>

#include "agree.h"

/*
 * Set the form of a field's text. It is that of the source if the truth table has this text. It is
 * that of field_text otherwise.
 */
static void set_form(const struct agree_plan *p, size_t i, struct field *f)
{
	f->columns = &p->columns[i];
	f->ncolumns = 1;
	f->first = false;
	f->glue = NULL;
	f->transform = NULL;
	f->nulls = NULL;
	f->nnulls = 0;
	f->fallback = NULL;
	if (f->type == FIELD_TIME && !p->sources[i].is_text) {
		f->unit = TIME_FORMAT;
		f->format = TIME_ISO8601;
		f->zone = NULL;
		f->year_rule = YEAR_WRITTEN;
	}
}

static void set_source(struct agree_plan *p)
{
	struct job *d = &p->derived;
	const char *const none = NULL;

	*d = *p->job;
	d->source = SOURCE_CSV;
	d->where = NULL;
	d->nexpects = 0;
	d->csv.npartitions = 0;
	d->csv.nulls = arena_dup(&p->arena, &none, sizeof none);
	d->csv.nnulls = 0;
	d->csv.empty_is_value = true;
	d->csv.thousands = d->csv.decimal = NULL;
	d->csv.minus = MINUS_FRONT;
	d->fields = arena_dup(&p->arena, p->job->fields, p->job->nfields * sizeof *d->fields);
	p->columns = arena_alloc(&p->arena, (p->job->nfields + 1) * sizeof *p->columns);
	for (size_t i = 0; i < p->job->nfields; i++) {
		p->columns[i] = arena_format(&p->arena, "c%zu", i);
		set_form(p, i, &d->fields[i]);
	}
}

/* Let the table have no cells, and a row key that needs no field. */
static void empty_table(struct agree_plan *p, struct job_table *t)
{
	static const struct key_part nothing = {.kind = PART_CONST,
						.terminator = NO_TERMINATOR,
						.constant = {(const uint8_t *)"-", 1}};

	t->rowkey = arena_dup(&p->arena, &nothing, sizeof nothing);
	t->nrowkey = 1;
	t->timestamp_constant = true;
	t->timestamp_ms = 0;
	t->when = NULL;
	t->is_index = false;
	t->ncells = 0;
}

/* Let an event have the row that an index refers to, whatever its cells are. */
static void only_row(struct agree_plan *p, struct job_table *t)
{
	static const struct cell_spec nothing = {.qualifier_constant = true,
						 .kind = VALUE_CONST,
						 .constant = {(const uint8_t *)"", 0}};

	t->cells = arena_dup(&p->arena, &nothing, sizeof nothing);
	t->ncells = 1;
	t->is_index = false;
}

/* --- the fields that a row and each cell depend on --- */

static bool need(void *needs, size_t field, int as)
{
	(void)as;
	if (field != DRAWN_SALT)
		((bool *)needs)[field] = true;
	return true;
}

/* Keep the cells that the truth table can give. The truth table decides if an event has them. */
static void keep_cells(struct agree_plan *p, struct job_table *t)
{
	size_t most = p->other->ncells + 1, n = 0;
	struct cell_spec *cells = arena_alloc(&p->arena, most * sizeof *cells);

	p->number = arena_alloc(&p->arena, most * sizeof *p->number);
	p->cell_needs = arena_alloc(&p->arena, most * sizeof *p->cell_needs);
	p->row_needs = arena_alloc(&p->arena, p->job->nfields + 1);
	memset(p->row_needs, 0, p->job->nfields + 1);
	agree_key_uses(p->job, p->other, need, p->row_needs);
	for (size_t i = 0; i < p->other->ncells; i++) {
		p->number[i] = NOT_COMPARED;
		if (!p->known[i])
			continue;
		p->cell_needs[n] = arena_alloc(&p->arena, p->job->nfields + 1);
		memset(p->cell_needs[n], 0, p->job->nfields + 1);
		agree_cell_uses(p->job, &p->other->cells[i], need, p->cell_needs[n]);
		p->number[i] = n;
		cells[n] = p->other->cells[i];
		cells[n++].optional = true;
	}
	t->cells = cells;
	t->ncells = p->ncells = n;
	p->flag_bytes = (n + 7) / 8;
}

int agree_derive(struct agree_plan *p, struct error *err)
{
	size_t n = p->job->ntables;

	set_source(p);
	p->derived.tables = arena_dup(&p->arena, p->job->tables, n * sizeof *p->derived.tables);
	for (size_t i = 0; i < n; i++) {
		struct job_table *t = &p->derived.tables[i];
		bool is_other = &p->job->tables[i] == p->other;

		if (is_other)
			keep_cells(p, t);
		else if (p->other->is_index && p->other->index_of == i)
			only_row(p, t);
		else
			empty_table(p, t);
	}
	return row_plan_new(&p->rows, &p->derived, p->columns, p->job->nfields, err);
}
