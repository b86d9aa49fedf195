/*
 * asked.h - a question as comparisons of fields with values (inside pipeline/model/key only)
 *
 * Each `not` moves into the comparisons.  A list and an interval become several comparisons.
 */
#ifndef SALTMILL_KEY_ASKED_H
#define SALTMILL_KEY_ASKED_H

#include "field.h"
#include "filter.h"
#include "question.h"

enum asked_kind { ASKED_AND, ASKED_OR, ASKED_COMPARE, ASKED_STARTS, ASKED_NULL };

struct asked {
	enum asked_kind kind;
	const struct asked *left, *right; /* of AND and OR */
	enum filter_op op;		  /* of COMPARE */
	bool negate;			  /* of STARTS and NULL */
	bool is_column;			  /* not a field, but a column: */
	struct bytes family, qualifier;
	size_t field;
	struct value value; /* of STARTS the text alone */
};

static inline bool asked_is_group(const struct asked *q)
{
	return q->kind == ASKED_AND || q->kind == ASKED_OR;
}

static inline bool asked_is_compare(const struct asked *q, enum filter_op op)
{
	return q->kind == ASKED_COMPARE && q->op == op;
}

/*
 * Read a node of the question; its tree lives in the arena.  RC_CONFIG, with the place: a name is
 * neither a field of the job nor a column of the table, or its field cannot have the value.
 */
int asked_read(const struct asked **out, const struct question *q, const struct question_node *node,
	       const struct field_forms *forms, const struct job_table *table, struct arena *a,
	       struct error *err);
/* Join n > 0 trees by AND or OR. */
const struct asked *asked_join(struct arena *a, enum asked_kind kind, const struct asked *const *of,
			       size_t n);

/* True if q asks one field only.  A column is not a field. */
bool asked_of_one_field(const struct asked *q, size_t *field);

#endif
