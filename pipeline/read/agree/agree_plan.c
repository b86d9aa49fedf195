/* agree_plan.c - decide which cells of the other table the truth table can give */
#include "agree.h"

#include <string.h>

struct lacking {
	const struct agree_plan *p;
	const char *field; /* the first field that the truth table lacks, or NULL */
};

static bool find_lacked(void *ctx, size_t field, int as)
{
	struct lacking *l = ctx;
	const struct agree_plan *p = l->p;

	if (field == DRAWN_SALT)
		l->field = "(a drawn salt)";
	else if (as == WHOLE_VALUE ? !source_has(&p->job->fields[field], &p->sources[field])
				   : !source_gives(&p->job->fields[field], &p->sources[field],
						   (enum encode_as)as))
		l->field = p->job->fields[field].name;
	return !l->field;
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
		struct lacking l = {.p = p};

		if (!c->marker)
			agree_cell_uses(p->job, c, find_lacked, &l);
		if (cell_has_ttl(c))
			l.field = "(a TTL of its own)";
		p->known[i] = !c->marker && !l.field;
		any = any || p->known[i];
		if (l.field)
			leave_out(p, c, l.field, out);
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
		if (t->cells[i].optional || t->cells[i].when || t->cells[i].marker ||
		    cell_has_ttl(&t->cells[i]))
			continue;
		any = true;
		field = outlives(p, &t->cells[i]);
		if (!field)
			return NULL;
	}
	if (!any)
		return arena_format(
			a, "%s can lack an event, because all its cells are optional or expire",
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
	struct lacking key = {.p = p};

	p->sources = sources_of_event(stored, &p->arena);
	if (!agree_key_uses(p->job, p->other, find_lacked, &key))
		return error_set(err, RC_CONFIG,
				 "%s: found a row that depends on field `%s`, expected only fields "
				 "that %s stores; the tables cannot be compared",
				 p->other->schema.name, key.field, p->truth->schema.name);
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
