/*
 * Conditions are `where` of the job, and `when` of a table or a cell. This file turns names into
 * fields. predicate.h checks that the values fit the fields' types.
 */
#include "sections.h"

#include "question.h"

/*
 * Return the place of a condition. The condition's parser appends the position within the
 * condition.
 */
static const char *place_of(struct reader *r, struct pos pos, const char *what)
{
	return arena_format(&r->job->arena, "%s:%u:%u: %s", r->job->path, pos.line, pos.column,
			    what);
}

int make_condition(struct reader *r, const char *text, struct pos pos, const char *what,
		   const struct job_condition **out)
{
	struct arena *a = &r->job->arena;
	struct question *q = arena_alloc(a, sizeof *q);
	int rc = question_parse(q, place_of(r, pos, what), text, a, r->err);

	if (rc)
		return rc;
	size_t *fields = arena_alloc(a, (q->nconditions + 1) * sizeof *fields);
	for (size_t i = 0; i < q->nconditions; i++)
		fields[i] = field_use(r, q->conditions[i].name, pos);
	struct job_condition *c = arena_alloc(a, sizeof *c);
	*c = (struct job_condition){q, fields};
	*out = c;
	return RC_OK;
}

int read_condition(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	if (n->kind != NODE_SCALAR || node_is_nothing(n))
		return expected(r, n, key->name,
				"a condition such as \"amount > 0 and kind in (A, B)\"");
	return make_condition(r, n->text, n->pos, key->name, slot);
}
