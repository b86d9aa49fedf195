/*
 * question.h - parse a condition such as `owner = 1 and created >= 20120901`
 *
 *   question_parse, [the caller interprets names and values], question_ask
 *
 *   question  = all { "or" all }
 *   all       = one { "and" one }
 *   one       = "not" one | "(" question ")" | condition
 *   condition = name ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) value
 *             | name [ "not" ] "between" value "and" value          both ends included
 *             | name [ "not" ] "in" "(" value { "," value } ")"
 *             | name [ "not" ] "starts" "with" value
 *             | name "is" [ "not" ] "null"
 *
 * Keywords may be in upper or lower case. A name is a bare word or is in backquotes. A value is a
 * bare word or number, or is in single or double quotes. Inside quotes, a doubled quote means one
 * quote. A bare word ends at white space and at any of ` ' " ( ) , = ! < >.
 */
#ifndef SALTMILL_QUESTION_H
#define SALTMILL_QUESTION_H

#include "bytes.h"
#include "error.h"
#include "mem.h"

enum question_op {
	QUESTION_EQ,
	QUESTION_NE,
	QUESTION_LT,
	QUESTION_LE,
	QUESTION_GT,
	QUESTION_GE,
	QUESTION_BETWEEN, /* two values */
	QUESTION_IN,	  /* one or more values */
	QUESTION_STARTS,
	QUESTION_IS_NULL, /* no values */
};

struct question_value {
	struct bytes text; /* text without its quotes; NUL-terminated */
	bool quoted;
	size_t at; /* byte position in the question, from 0 */
};

/* One condition. A `not` before the operator is a separate node around the condition. */
struct condition {
	const char *name;
	size_t at; /* position of the name */
	enum question_op op;
	struct question_value *values;
	size_t nvalues;
};

enum question_kind { QUESTION_CONDITION, QUESTION_AND, QUESTION_OR, QUESTION_NOT };

struct question_node {
	enum question_kind kind;
	size_t condition; /* QUESTION_CONDITION: index in question.conditions */
	/* children; AND and OR have two or more, but NOT has one */
	const struct question_node **of;
	size_t nof;
};

struct question {
	const char *what; /* place for messages, such as "--where" or a place in the job file */
	const char *text;
	struct condition *conditions; /* the conditions, in the order of the text */
	size_t nconditions;
	const struct question_node *root;
};

/*
 * Parse `text` into the arena. The struct borrows `text` and `what`. Returns RC_CONFIG if `text` is
 * not a question. The message has the place and the expected text.
 */
int question_parse(struct question *q, const char *what, const char *text, struct arena *a,
		   struct error *err);
/* Write the caller's message about byte `at`, with the place before it. Returns RC_CONFIG. */
int question_fault(const struct question *q, size_t at, struct error *err, const char *fmt, ...)
	ERROR_FORMAT(4, 5);

/*
 * Three-valued logic as in SQL. A comparison with null is unknown, and so is the `not` of such a
 * comparison.
 */
enum answer { ANSWER_NO, ANSWER_UNKNOWN, ANSWER_YES };
/*
 * Decide the question. The parser calls `test` for conditions in the order of the text. The
 * function skips conditions that cannot change the answer.
 */
enum answer question_ask(const struct question *q,
			 enum answer (*test)(void *ctx, const struct condition *c), void *ctx);

/* Return the operator's text in the grammar. */
const char *question_op_text(enum question_op op);

#endif
