/* compiled.c - create and free a plan */
#include "compiled.h"

/* Open a locale for letters if a field changes their case. */
static int open_letters(struct row_plan *p, struct error *err)
{
	bool some = false;

	for (size_t i = 0; i < p->nbindings; i++) {
		const struct transform *t = p->bindings[i].form.field->transform;

		some = some || (t && t->letters);
	}
	p->letters = some ? transform_locale() : (locale_t)0;
	if (some && !p->letters)
		return error_errno(err, "the locale C.UTF-8, which `case` needs");
	return RC_OK;
}

static bool has_condition(const struct row_plan *p)
{
	bool any = p->job->where || p->job->nexpects;

	for (size_t i = 0; i < p->ntables; i++)
		any |= p->tables[i].conditional;
	return any;
}

/* Compile everything except fields, which bind.c binds. */
static int compile(struct row_plan *p, struct error *err)
{
	struct field_forms forms;
	const struct job *job = p->job;
	int rc = field_forms_open(&forms, job, err);

	if (rc == RC_OK && job->where)
		rc = predicate_new(&p->where, job->where, &forms, &p->arena, err);
	p->expects = arena_alloc(&p->arena, (job->nexpects + 1) * sizeof *p->expects);
	for (size_t i = 0; i < job->nexpects && rc == RC_OK; i++)
		if (job->expects[i].when)
			rc = predicate_new(&p->expects[i], job->expects[i].when, &forms, &p->arena,
					   err);
	for (size_t i = 0; i < job->ntables && rc == RC_OK; i++)
		rc = table_compile(p, &p->tables[i], &job->tables[i], &forms, err);
	field_forms_close(&forms);
	p->conditional = has_condition(p);
	return rc;
}

int row_plan_new(struct row_plan **out, const struct job *job, const char *const *columns,
		 size_t ncolumns, struct error *err)
{
	struct row_plan *p = mem_calloc(1, sizeof *p);

	p->job = job;
	p->ntables = job->ntables;
	p->tables = arena_alloc(&p->arena, (job->ntables + 1) * sizeof *p->tables);
	p->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	int rc = fields_bind(p, job, columns, ncolumns, err);
	if (rc == RC_OK)
		rc = open_letters(p, err);
	p->maker = (struct key_maker){.job = job, .arena = &p->arena, .slots = p->slots};
	if (rc == RC_OK)
		rc = compile(p, err);
	if (rc == RC_OK) {
		quick_compile(p, ncolumns);
		rc = defaults_check(p, err);
	}
	if (rc) {
		row_plan_free(p);
		p = NULL;
	}
	*out = p;
	return rc;
}

void row_plan_free(struct row_plan *p)
{
	if (!p)
		return;
	if (p->c_locale)
		freelocale(p->c_locale);
	if (p->letters)
		freelocale(p->letters);
	arena_release(&p->arena);
	mem_free(p);
}

size_t row_secondary_bytes(const struct row_plan *p, size_t table)
{
	return p->tables[table].ts == TS_MINOR ? 8 : 0;
}

bool row_constant_columns(const struct row_plan *p, size_t table)
{
	return p->tables[table].constant_columns;
}

size_t row_columns(const struct row_plan *p, size_t table, struct row_cell *columns)
{
	const struct table_plan *t = &p->tables[table];

	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_step *s = &t->cells[i];

		columns[i] = (struct row_cell){.cell = {.family = s->family_name,
							.qualifier = s->qualifier,
							.type = CELL_PUT},
					       .family = s->family,
					       .column = s->column};
	}
	return t->ncells;
}

size_t row_max_cells(const struct row_plan *p, size_t table)
{
	return p->tables[table].ncells;
}
