/*
 * fuzz_question.c - any text is an error, or gives the answer of a plain evaluation by the rules of
 * SQL
 *
 * The first byte chooses which conditions are true, false or unknown.
 */
#include "memory_file.h"

#include "mem.h"
#include "question.h"

struct asked {
	const struct question *q;
	uint8_t seed;
	size_t last; /* one more than the number of the last tested condition */
};

static enum answer answer_to(const struct asked *a, size_t condition)
{
	return (enum answer)((a->seed >> (condition % 4 * 2) & 3) % 3);
}

/* The evaluation tests conditions at most once, and in the order of the text. */
static enum answer test(void *ctx, const struct condition *c)
{
	struct asked *a = ctx;
	size_t i = (size_t)(c - a->q->conditions);

	if (i >= a->q->nconditions || i < a->last)
		abort();
	a->last = i + 1;
	return answer_to(a, i);
}

/* Kleene's logic: AND is the least answer, OR the largest, and NOT mirrors it. */
static enum answer evaluate(const struct asked *a, const struct question_node *n)
{
	enum answer all = n->kind == QUESTION_AND ? ANSWER_YES : ANSWER_NO;

	if (n->kind == QUESTION_CONDITION)
		return answer_to(a, n->condition);
	if (n->kind == QUESTION_NOT)
		return (enum answer)(ANSWER_YES - evaluate(a, n->of[0]));
	for (size_t i = 0; i < n->nof; i++) {
		enum answer one = evaluate(a, n->of[i]);

		if (n->kind == QUESTION_AND ? one < all : one > all)
			all = one;
	}
	return all;
}

static void check_values(const struct condition *c)
{
	size_t least = c->op == QUESTION_IS_NULL ? 0 : c->op == QUESTION_BETWEEN ? 2 : 1;

	if (c->nvalues < least || (c->op != QUESTION_IN && c->nvalues != least) || !*c->name)
		abort();
	for (size_t i = 0; i < c->nvalues; i++)
		if (c->values[i].text.ptr[c->values[i].text.len])
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = {0};
	struct question q;
	struct error err;

	if (size == 0)
		return 0;
	char *text = mem_format("%.*s", (int)(size - 1), (const char *)data + 1);
	int rc = question_parse(&q, "--where", text, &arena, &err);
	expect_sentence(rc, &err);
	if (rc && (rc != RC_CONFIG || strncmp(err.msg, "--where", 7) != 0))
		abort();
	if (rc == RC_OK) {
		struct asked a = {.q = &q, .seed = data[0]};

		for (size_t i = 0; i < q.nconditions; i++)
			check_values(&q.conditions[i]);
		if (question_ask(&q, test, &a) != evaluate(&a, q.root))
			abort();
	}
	mem_free(text);
	arena_release(&arena);
	return 0;
}
