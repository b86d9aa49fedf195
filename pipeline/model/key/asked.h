/*
 * asked.h - convert a question to comparisons of fields with values (inside pipeline/model/key
 * only)
 *
 * A `not` changes the comparisons inside it. A list or an interval becomes several comparisons.
 */
#ifndef SALTMILL_KEY_ASKED_H
#define SALTMILL_KEY_ASKED_H

#include "field.h"
#include "filter.h"
#include "question.h"

enum asked_kind { ASKED_AND, ASKED_OR, ASKED_COMPARE, ASKED_STARTS, ASKED_NULL };

struct asked {
	enum asked_kind kind;
	const struct asked *left, *right; /* operands of AND and OR */
	enum filter_op op;		  /* operator of COMPARE */
	bool negate;			  /* for STARTS and NULL */
	/* true if the comparison is about this column, not a field */
	bool is_column;
	struct bytes family, qualifier;
	size_t field;
	struct value value; /* STARTS uses only the text */
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
 * Read a node of the question into a tree in the arena. Returns RC_CONFIG, with the place, if the
 * job has no such field or column, or if its field cannot have the value.
 */
int asked_read(const struct asked **out, const struct question *q, const struct question_node *node,
	       const struct field_forms *forms, const struct job_table *table, struct arena *a,
	       struct error *err);
/* Join `n` > 0 trees by AND or OR. */
const struct asked *asked_join(struct arena *a, enum asked_kind kind, const struct asked *const *of,
			       size_t n);

/* Return true if all comparisons of `q` are about one field. A column is not a field. */
bool asked_of_one_field(const struct asked *q, size_t *field);

#endif
