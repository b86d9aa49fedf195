/*
 * test_model_question_parse.c - tests trees of conditions, errors with their place, and answers
 *
 * The test writes a random tree as text with the fewest parentheses. The parsed text must answer as
 * the tree does, by three-valued logic that the test implements again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "question.h"
#include "tests/unit/draw.h"

static void put_node(struct buf *out, const struct question *q, const struct question_node *n)
{
	static const char *const names[] = {"", "and", "or", "not"};

	if (n->kind == QUESTION_CONDITION) {
		const struct condition *c = &q->conditions[n->condition];

		buf_printf(out, "[%s %s", c->name, question_op_text(c->op));
		for (size_t i = 0; i < c->nvalues; i++)
			buf_printf(out, " %s%s", c->values[i].quoted ? "'" : "",
				   (const char *)c->values[i].text.ptr);
		buf_put(out, ']');
		return;
	}
	buf_printf(out, "(%s", names[n->kind]);
	for (size_t i = 0; i < n->nof; i++) {
		buf_put(out, ' ');
		put_node(out, q, n->of[i]);
	}
	buf_put(out, ')');
}

static void test_trees(void **state)
{
	static const struct {
		const char *text, *tree;
	} cases[] = {
		{"a = 1", "[a = 1]"},
		{" a=1 ", "[a = 1]"},
		{"a == 1", NULL},
		{"a<>1 and b!=2", "(and [a != 1] [b != 2])"},
		{"a<1 or b<=2 AND c>3 or d>=4", "(or [a < 1] (and [b <= 2] [c > 3]) [d >= 4])"},
		{"(a<1 or b<=2) and c>3", "(and (or [a < 1] [b <= 2]) [c > 3])"},
		{"not a = 1 and not (b = 2 or c = 3)",
		 "(and (not [a = 1]) (not (or [b = 2] [c = 3])))"},
		{"not not a = 1", "(not (not [a = 1]))"},
		{"t between 1 and 2 and u = 3", "(and [t between 1 2] [u = 3])"},
		{"t not between 1 and 2", "(not [t between 1 2])"},
		{"k in (A, 'B b', \"C\")", "[k in A 'B b 'C]"},
		{"k NOT IN(A)", "(not [k in A])"},
		{"n starts with '中国'", "[n starts with '中国]"},
		{"n not starts with x", "(not [n starts with x])"},
		{"n is null or m is not null", "(or [n is null] (not [m is null]))"},
		{"f:name = 'it''s'", "[f:name = 'it's]"},
		{"`odd name` = \"a \"\"b\"\"\"", "[odd name = 'a \"b\"]"},
		{"`and` = 'and'", "[and = 'and]"},
		{"items[0].sku=-1.5e3", "[items[0].sku = -1.5e3]"},
		{"at >= 2013-07-01T00:00:00Z", "[at >= 2013-07-01T00:00:00Z]"},
		{"$partition = 3", "[$partition = 3]"},
		{"a = ''", "[a = ']"},
		{"((((a = 1))))", "[a = 1]"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = {0};
		struct buf tree = {0};
		struct question q;
		struct error err;
		int rc = question_parse(&q, "--where", cases[i].text, &a, &err);

		assert_int_equal(rc, cases[i].tree ? RC_OK : RC_CONFIG);
		if (cases[i].tree) {
			put_node(&tree, &q, q.root);
			buf_put(&tree, 0);
			assert_string_equal((char *)tree.ptr, cases[i].tree);
		}
		buf_release(&tree);
		arena_release(&a);
	}
}

static void test_faults(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "character 1: found the end, expected the name of a field or column (in "
		     "backquotes if it has spaces or signs, or is a keyword)"},
		{"a", "character 2: found the end, expected =, !=, <, <=, >, >=, between, in, "
		      "starts with or is null"},
		{"a =",
		 "character 4: found the end, expected a value (in quotes, if it has spaces, "
		 "signs or is a keyword)"},
		{"a = and b = 1",
		 "character 5: found `and`, expected a value (in quotes, if it has "
		 "spaces, signs or is a keyword)"},
		{"a = 1 b = 2",
		 "character 7: found `b`, expected `and`, `or` or the end; a value with spaces needs quotes"},
		{"a = 'x", "character 5: found no closing ', expected one (write ' twice inside "
			   "the text)"},
		{"a == 1", "character 4: found `=`, expected a value; write `=` once"},
		{"a in 1", "character 6: found `1`, expected `(` and the values"},
		{"a in (1 2)", "character 9: found `2`, expected `,` or `)`"},
		{"a in ()",
		 "character 7: found `)`, expected a value (in quotes, if it has spaces, "
		 "signs or is a keyword)"},
		{"(a = 1", "character 7: found the end, expected `and`, `or` or `)`"},
		{"a between 1 or 2", "character 13: found `or`, expected `and`"},
		{"a starts 1", "character 10: found `1`, expected `with`"},
		{"a is 1", "character 6: found `1`, expected `null`"},
		{"a not = 1", "character 7: found `=`, expected between, in or starts with"},
		{"`` = 1", "character 1: found ``, expected the name of a field or column (in "
			   "backquotes if it has spaces or signs, or is a keyword)"},
		{"'a' = 1", "character 1: found `a`, expected the name of a field or column (in "
			    "backquotes if it has spaces or signs, or is a keyword)"},
		{"名 = '中国' x",
		 "character 10: found `x`, expected `and`, `or` or the end; a value with spaces needs quotes"},
		{"a ! 1", "character 3: found `!`, expected =, !=, <, <=, >, >=, between, in, "
			  "starts with or is null"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = {0};
		struct question q;
		struct error err;

		assert_int_equal(question_parse(&q, "--where", cases[i].text, &a, &err), RC_CONFIG);
		assert_memory_equal(err.msg, "--where: ", 9);
		assert_string_equal(err.msg + 9, cases[i].message);
		arena_release(&a);
	}
}

/* Deep or long conditions give a tree or an error. The stack does not overflow. */
static void test_bounds(void **state)
{
	struct buf deep = {0}, list = {0};
	struct arena a = {0};
	struct question q;
	struct error err;

	(void)state;
	for (int i = 0; i < 100000; i++)
		buf_append_str(&deep, i % 2 ? "(" : "not ");
	buf_put(&deep, 0);
	assert_int_equal(question_parse(&q, "w", (char *)deep.ptr, &a, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "more than 100 levels"));
	buf_append_str(&list, "a in (0");
	for (int i = 1; i < 9999; i++)
		buf_printf(&list, ",%d", i);
	size_t len = list.len;
	buf_append(&list, ")", 2);
	assert_int_equal(question_parse(&q, "w", (char *)list.ptr, &a, &err), RC_OK);
	assert_int_equal(q.conditions[0].nvalues, 9999);
	list.len = len;
	buf_append(&list, ",x)", 4);
	assert_int_equal(question_parse(&q, "w", (char *)list.ptr, &a, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "more than 10000 conditions and values"));
	buf_release(&deep);
	buf_release(&list);
	arena_release(&a);
}

/* --- answers --- */

#define LEAVES 5
static enum answer given[LEAVES];

struct tree {
	int kind; /* enum question_kind */
	int leaf;
	struct tree *of[3];
	int n;
};

static struct tree *grow(struct arena *a, int depth)
{
	struct tree *t = arena_alloc(a, sizeof *t);

	*t = (struct tree){.kind = depth ? (int)(draw() % 4) : QUESTION_CONDITION};
	if (t->kind == QUESTION_CONDITION) {
		t->leaf = (int)(draw() % LEAVES);
		return t;
	}
	t->n = t->kind == QUESTION_NOT ? 1 : 2 + (int)(draw() % 2);
	for (int i = 0; i < t->n; i++)
		t->of[i] = grow(a, depth - 1);
	return t;
}

/* Use the order of Kleene's logic, false < unknown < true. */
static int logic(const struct tree *t)
{
	if (t->kind == QUESTION_CONDITION)
		return (int)given[t->leaf];
	int v = logic(t->of[0]);
	if (t->kind == QUESTION_NOT)
		return 2 - v;
	for (int i = 1; i < t->n; i++) {
		int w = logic(t->of[i]);

		v = t->kind == QUESTION_AND ? (w < v ? w : v) : (w > v ? w : v);
	}
	return v;
}

/* `or` within `and`, and both within `not`, need parentheses. */
static void write_tree(struct buf *out, const struct tree *t, int within)
{
	bool parens = (t->kind == QUESTION_OR && within != QUESTION_OR && within >= 0) ||
		      (t->kind == QUESTION_AND && within == QUESTION_NOT);

	if (t->kind == QUESTION_CONDITION) {
		buf_printf(out, "c%d = x", t->leaf);
		return;
	}
	if (parens)
		buf_put(out, '(');
	if (t->kind == QUESTION_NOT)
		buf_append_str(out, "not ");
	for (int i = 0; i < t->n; i++) {
		if (i)
			buf_append_str(out, t->kind == QUESTION_AND ? " and " : " or ");
		write_tree(out, t->of[i], t->kind);
	}
	if (parens)
		buf_put(out, ')');
}

static enum answer test(void *ctx, const struct condition *c)
{
	int *asked = ctx;

	++*asked;
	return given[c->name[1] - '0'];
}

static void test_answers(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct arena a = {0};
		struct buf text = {0};
		struct question q;
		struct error err;
		int asked = 0;
		struct tree *t = grow(&a, 1 + round % 5);

		write_tree(&text, t, -1);
		buf_put(&text, 0);
		if (question_parse(&q, "w", (char *)text.ptr, &a, &err))
			fail_msg("%s: %s", (char *)text.ptr, err.msg);
		for (int i = 0; i < LEAVES; i++)
			given[i] = (enum answer)(draw() % 3);
		if ((int)question_ask(&q, test, &asked) != logic(t))
			fail_msg("%s", (char *)text.ptr);
		assert_true(asked >= 1 && (size_t)asked <= q.nconditions);
		buf_release(&text);
		arena_release(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
