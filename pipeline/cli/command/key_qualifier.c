/* key_qualifier.c - builds computed qualifiers from FIELD=VALUE operands */
#include "key_qualifier.h"

#include "mem.h"

/*
 * Returns true if each field of the qualifier has a value. Otherwise sets *missing to the name of a
 * field without a value.
 */
static bool has_fields(const struct key_values *g, const struct cell_spec *c, const char **missing)
{
	for (size_t i = 0; i < c->nqualifier; i++) {
		const struct key_part *p = &c->qualifier[i];

		if (p->kind == PART_KEY)
			return false;
		if (p->kind == PART_FIELD && !g->has[p->field]) {
			*missing = g->job->fields[p->field].name;
			return false;
		}
	}
	return true;
}

static int build_qualifier(const struct key_values *g, const struct key_table *k,
			   const struct cell_spec *c, struct buf *out, struct error *err)
{
	struct arena a = {0};
	struct key_maker maker = {.job = g->job, .arena = &a};
	struct key_schema schema;
	struct key_scratch scratch;
	struct reject why;

	key_schema_make(&schema, &maker, c->qualifier, c->nqualifier);
	key_scratch_init(&scratch, &maker);
	int rc = key_build(&schema, &scratch, g->values, out, &why);
	if (rc)
		rc = error_set(err, RC_CONFIG, "table %s: %s%s%s", k->table->schema.name,
			       why.field ? why.field : "", why.field ? ": " : "", why.detail);
	key_scratch_release(&scratch);
	arena_release(&a);
	return rc;
}

int key_qualifier_build(const struct key_values *g, const struct key_table *k,
			const struct cell_spec **column, struct buf *out, struct error *err)
{
	const struct job_table *t = k->table;
	const char *missing = NULL;

	for (size_t i = 0; i < t->ncells; i++) {
		if (t->cells[i].qualifier_constant || !has_fields(g, &t->cells[i], &missing))
			continue;
		*column = &t->cells[i];
		return build_qualifier(g, k, &t->cells[i], out, err);
	}
	if (missing)
		return error_set(
			err, RC_CONFIG,
			"--qualifier: found no value for `%s`, expected `%s=VALUE`, because it "
			"is in a qualifier of table %s",
			missing, missing, t->schema.name);
	return error_set(err, RC_CONFIG,
			 "--qualifier: found only constant qualifiers in table %s, expected one "
			 "with fields",
			 t->schema.name);
}
