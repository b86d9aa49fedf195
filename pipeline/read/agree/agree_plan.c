/* agree_plan.c - decide which cells of the other table the truth table can give */
#include "agree.h"

#include <string.h>

/* Return a field that the condition reads and the truth table lacks, or NULL. */
static const char *lacks_condition(const struct agree_plan *p, const struct job_condition *c)
{
	for (size_t i = 0; c && i < c->question->nconditions; i++)
		if (!agree_has(p, c->fields[i]))
			return p->job->fields[c->fields[i]].name;
	return NULL;
}

static const char *lacks_key(const struct agree_plan *p, const struct job_table *t);

/* Return a field that the parts need and the truth table lacks, or NULL. */
static const char *lacks_parts(const struct agree_plan *p, const struct key_part *parts, size_t n)
{
	const char *lacked = NULL;

	for (size_t i = 0; !lacked && i < n; i++) {
		const struct key_part *k = &parts[i];

		if (k->kind == PART_FIELD && !agree_gives(p, k->field, k->as))
			lacked = p->job->fields[k->field].name;
		for (size_t j = 0; !lacked && j < k->nof; j++)
			if (!agree_has(p, k->of[j]))
				lacked = p->job->fields[k->of[j]].name;
		if (!lacked && k->kind == PART_SALT && k->draw)
			lacked = "(a drawn salt)";
		if (!lacked && k->kind == PART_KEY)
			lacked = lacks_key(p, &p->job->tables[k->table]);
	}
	return lacked;
}

static const char *lacks_key(const struct agree_plan *p, const struct job_table *t)
{
	const char *lacked = lacks_parts(p, t->rowkey, t->nrowkey);

	if (!lacked)
		lacked = lacks_condition(p, t->when);
	if (!lacked && !t->timestamp_constant && !agree_gives(p, t->timestamp_field, AS_MILLIS))
		lacked = p->job->fields[t->timestamp_field].name;
	return lacked;
}

static const char *lacks_cell(const struct agree_plan *p, const struct cell_spec *c)
{
	const char *lacked = lacks_parts(p, c->qualifier, c->nqualifier);

	if (!lacked)
		lacked = lacks_condition(p, c->when);
	if (!lacked && c->kind == VALUE_FIELD && !agree_gives(p, c->field, c->as))
		lacked = p->job->fields[c->field].name;
	if (!lacked && c->kind == VALUE_KEY)
		lacked = lacks_key(p, &p->job->tables[c->table]);
	return lacked;
}

/* Write the name of a cell, such as "borrowed:{student}". */
static const char *name_column(const struct agree_plan *p, const struct cell_spec *c,
			       struct arena *a)
{
	const char *text = arena_format(a, "%s:", p->other->schema.families[c->family].name);

	for (size_t i = 0; i < c->nqualifier; i++) {
		const struct key_part *k = &c->qualifier[i];

		if (k->kind == PART_CONST)
			text = arena_format(a, "%s%.*s", text, (int)k->constant.len,
					    (const char *)k->constant.ptr);
		else
			text = arena_format(a, "%s{%s}", text,
					    k->kind == PART_FIELD ? p->job->fields[k->field].name
								  : "key");
	}
	return text;
}

static void leave_out(const struct agree_plan *p, const struct cell_spec *c, const char *field,
		      struct agree_result *out)
{
	out->columns = arena_grow(&out->arena, out->columns, out->ncolumns, sizeof *out->columns);
	out->columns[out->ncolumns++] =
		(struct agree_column){name_column(p, c, &out->arena), field};
}

static bool judge_cells(struct agree_plan *p, struct agree_result *out)
{
	bool any = false;

	p->known = arena_alloc(&p->arena, (p->other->ncells + 1) * sizeof *p->known);
	for (size_t i = 0; i < p->other->ncells; i++) {
		const struct cell_spec *c = &p->other->cells[i];
		const char *lacked = c->marker ? NULL : lacks_cell(p, c);

		p->known[i] = !c->marker && !lacked;
		any = any || p->known[i];
		if (lacked)
			leave_out(p, c, lacked, out);
	}
	return any;
}

/* --- whether an extra cell is wrong --- */

static bool has_field(const struct key_part *parts, size_t n, size_t field)
{
	for (size_t i = 0; i < n; i++)
		if (parts[i].kind == PART_FIELD && parts[i].field == field)
			return true;
	return false;
}

/* Return a field of the parts that neither the truth table's row key nor `c` has, or NULL. */
static const char *unidentified(const struct agree_plan *p, const struct cell_spec *c,
				const struct key_part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (parts[i].kind == PART_FIELD &&
		    !has_field(p->truth->rowkey, p->truth->nrowkey, parts[i].field) &&
		    !has_field(c->qualifier, c->nqualifier, parts[i].field))
			return p->job->fields[parts[i].field].name;
	return NULL;
}

/*
 * Return a field of the other table's rows and columns that does not identify the cell `c` of the
 * truth table, or NULL. If there is none, a later event that overwrites the cell overwrites the
 * other table's cells, too.
 */
static const char *outlives(const struct agree_plan *p, const struct cell_spec *c)
{
	const struct job_table *o = p->other;
	const char *field = unidentified(p, c, o->rowkey, o->nrowkey);

	for (size_t i = 0; !field && i < o->ncells; i++)
		if (p->known[i])
			field = unidentified(p, c, o->cells[i].qualifier, o->cells[i].nqualifier);
	return field;
}

static bool has_same_condition(const struct job_condition *a, const struct job_condition *b)
{
	return !a || (b && strcmp(a->question->text, b->question->text) == 0);
}

/*
 * Return the reason why an extra cell can be right, or NULL. It is wrong if the truth table still
 * has a cell of every event that the other table has. An index has no older entries.
 */
static const char *doubt_extra(const struct agree_plan *p, struct arena *a)
{
	const struct job_table *t = p->truth, *o = p->other;
	const char *field = NULL;
	bool any = false;

	if (!has_same_condition(t->when, o->when))
		return arena_format(a, "%s takes only events with `%s`", t->schema.name,
				    t->when->question->text);
	for (size_t i = 0; i < t->ncells; i++) {
		if (t->cells[i].optional || t->cells[i].when || t->cells[i].marker)
			continue;
		any = true;
		field = outlives(p, &t->cells[i]);
		if (!field)
			return NULL;
	}
	if (!any)
		return arena_format(a, "%s can lack an event, because all its cells are optional",
				    t->schema.name);
	if (o->is_index && &p->job->tables[o->index_of] == t)
		return NULL;
	return arena_format(a,
			    "%s keeps only the newest event of a row and column, and the key of %s "
			    "also has field `%s`",
			    t->schema.name, o->schema.name, field);
}

int agree_plan_make(struct agree_plan *p, const struct agree_options *o,
		    const struct stored *stored, struct agree_result *out, struct error *err)
{
	*p = (struct agree_plan){.job = o->job,
				 .truth = &o->job->tables[o->truth],
				 .other = &o->job->tables[o->other],
				 .stored = stored};
	agree_find_sources(p);
	const char *lacked = lacks_key(p, p->other);
	if (lacked)
		return error_set(err, RC_CONFIG,
				 "%s: found a row that depends on field `%s`, expected only fields "
				 "that %s stores; the tables cannot be compared",
				 p->other->schema.name, lacked, p->truth->schema.name);
	if (!judge_cells(p, out))
		return error_set(err, RC_CONFIG,
				 "%s: found no cell whose fields %s stores; the tables cannot be "
				 "compared",
				 p->other->schema.name, p->truth->schema.name);
	out->extra_kept = doubt_extra(p, &out->arena);
	return agree_derive(p, err);
}

void agree_plan_release(struct agree_plan *p)
{
	row_plan_free(p->rows);
	arena_release(&p->arena);
}
