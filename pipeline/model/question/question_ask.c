/* question_ask.c - evaluate conditions joined by and, or, not */
#include "question.h"

struct question_asker {
	const struct question *q;
	enum answer (*test)(void *ctx, const struct condition *c);
	void *ctx;
};

static enum answer ask(const struct question_asker *a, const struct question_node *n)
{
	if (n->kind == QUESTION_CONDITION)
		return a->test(a->ctx, &a->q->conditions[n->condition]);
	if (n->kind == QUESTION_NOT)
		return ANSWER_YES - ask(a, n->of[0]);
	/* `and` returns the least answer of the parts, `or` the greatest */
	enum answer final = n->kind == QUESTION_AND ? ANSWER_NO : ANSWER_YES;
	enum answer result = ANSWER_YES - final;
	for (size_t i = 0; i < n->nof && result != final; i++) {
		enum answer one = ask(a, n->of[i]);

		if (final == ANSWER_NO ? one < result : one > result)
			result = one;
	}
	return result;
}

enum answer question_ask(const struct question *q,
			 enum answer (*test)(void *ctx, const struct condition *c), void *ctx)
{
	const struct question_asker a = {q, test, ctx};

	return ask(&a, q->root);
}

const char *question_op_text(enum question_op op)
{
	static const char *const texts[] = {"=",  "!=",	     "<",  "<=",	  ">",
					    ">=", "between", "in", "starts with", "is null"};

	return texts[op];
}
