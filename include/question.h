/*
 * question.h - a question over names, as people write it: `owner = 1 and created >= 20120901`
 *
 *   question_parse, [the caller gives names and values a meaning], question_ask
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
 * Keywords in any case.  A name is a bare word or stands in backquotes; a value is a bare word or
 * number, or stands in ' or ".  In each of the three a doubled quote is one of it.  A bare word
 * ends at white space and at any of ` ' " ( ) , = ! < >.
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
	QUESTION_IN,	  /* one value or more */
	QUESTION_STARTS,
	QUESTION_IS_NULL, /* none */
};

struct question_value {
	struct bytes text; /* without its quotes; NUL-terminated */
	bool quoted;
	size_t at; /* byte of the question, from 0 */
};

/* One condition.  `not` in front of its operator stands around it as a node. */
struct condition {
	const char *name;
	size_t at; /* of the name */
	enum question_op op;
	struct question_value *values;
	size_t nvalues;
};

enum question_kind { QUESTION_CONDITION, QUESTION_AND, QUESTION_OR, QUESTION_NOT };

struct question_node {
	enum question_kind kind;
	size_t condition;		 /* QUESTION_CONDITION: index in question.conditions */
	const struct question_node **of; /* AND, OR: two or more; NOT: one */
	size_t nof;
};

struct question {
	const char *what; /* for messages: "--where", or a place in the job file */
	const char *text;
	struct condition *conditions; /* in the order of the text */
	size_t nconditions;
	const struct question_node *root;
};

/*
 * Everything lives in the arena, text and what are borrowed.  RC_CONFIG with the place and what was
 * expected there.
 */
int question_parse(struct question *q, const char *what, const char *text, struct arena *a,
		   struct error *err);
/* The caller's own fault with what stands at byte `at`: RC_CONFIG, the place in front. */
int question_fault(const struct question *q, size_t at, struct error *err, const char *fmt, ...)
	ERROR_FORMAT(4, 5);

/* As SQL has it: what compares with a null is unknown, and so is its `not`. */
enum answer { ANSWER_NO, ANSWER_UNKNOWN, ANSWER_YES };
/* Ask test of each condition whose answer still matters, in the order of the text. */
enum answer question_ask(const struct question *q,
			 enum answer (*test)(void *ctx, const struct condition *c), void *ctx);

/* The operator as the grammar spells it. */
const char *question_op_text(enum question_op op);

#endif
