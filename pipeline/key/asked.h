/*
 * asked.h - a question as comparisons of fields with values (inside pipeline/key only)
 *
 * `not` stands inside the comparisons; a list and an interval are several of them.
 */
#ifndef SALTMILL_KEY_ASKED_H
#define SALTMILL_KEY_ASKED_H

#include "field.h"
#include "question.h"

enum asked_op {
	ASKED_AND,
	ASKED_OR,
	ASKED_EQ,
	ASKED_NE,
	ASKED_LT,
	ASKED_LE,
	ASKED_GT,
	ASKED_GE,
	ASKED_STARTS,
	ASKED_STARTS_NOT,
	ASKED_NULL,
	ASKED_NULL_NOT,
};

struct asked {
	enum asked_op op;
	const struct asked *left, *right; /* of AND and OR */
	bool is_column;			  /* not of a field, but of */
	struct bytes family, qualifier;
	size_t field;
	struct value value; /* of STARTS the text alone */
};

/*
 * In the arena.  RC_CONFIG at its place: a name that is neither a field of the job nor a column of
 * the table, or a value that is none of its field.
 */
int asked_read(const struct asked **out, const struct question *q, const struct field_forms *forms,
	       const struct job_table *table, struct arena *a, struct error *err);

/* All of q is of one field; a column is of none. */
bool asked_of_one_field(const struct asked *q, size_t *field);

#endif
