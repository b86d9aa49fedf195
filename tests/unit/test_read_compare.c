/*
 * test_read_compare.c - tests regular expressions with the semantics of RegexStringComparator
 *
 * The answers of Java come from OpenJDK 17: Pattern.compile(text, DOTALL) .matcher(new
 * String(value, UTF_8)).find().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pipeline/read/query/filter_kinds.h"

enum answer { NOT, FOUND, REFUSED };

#define VALUE(text) text, sizeof text - 1

static enum answer ask(const char *expression, struct bytes value)
{
	struct filter f = {.type = FILTER_VALUE,
			   .op = FILTER_EQUAL,
			   .with = {.type = COMPARE_REGEX, .value = bytes_str(expression)}};
	struct cell c = {.row = bytes_str("r"), .type = CELL_PUT, .value = value};
	struct error err;
	enum answer found = REFUSED;
	int rc = filter_open(&f, &err);

	if (rc == RC_OK) {
		found = filter_cell(&f, &c) == CODE_INCLUDE ? FOUND : NOT;
		assert_int_equal(filter_check(&f, &err), 0);
	} else {
		assert_int_equal(rc, RC_CONFIG);
		assert_non_null(strstr(err.msg, "expected a regular expression"));
	}
	filter_close(&f);
	return found;
}

static void as_java(void **state)
{
	(void)state;
	static const struct {
		const char *expression, *value;
		size_t len;
		enum answer java;
	} cases[] = {
		{"a.b", VALUE("a\nb"), FOUND},
		{"a.b", VALUE("a\0b"), FOUND},
		{"^b", VALUE("a\nb"), NOT},
		{"(?m)^b", VALUE("a\nb"), FOUND},
		{"b$", VALUE("ab\n"), FOUND},
		{"b\\z", VALUE("ab\n"), NOT},
		{"\\Aab\\Z", VALUE("ab\n"), FOUND},
		{"\\d+", VALUE("x12"), FOUND},
		{"\\d", VALUE("\u0663"), NOT},
		{"\\bword\\b", VALUE("a word b"), FOUND},
		{"a{2,3}?b", VALUE("aaab"), FOUND},
		{"(?i)abc", VALUE("xABCx"), FOUND},
		{"(a)\\1", VALUE("aa"), FOUND},
		{"(?<n>a)\\k<n>", VALUE("aa"), FOUND},
		{"(?=b)b", VALUE("b"), FOUND},
		{"(?<!a)b", VALUE("ab"), NOT},
		{"a++a", VALUE("aaa"), NOT},
		{"(?>a+)a", VALUE("aaa"), NOT},
		{"\\Qa.b\\E", VALUE("a.b"), FOUND},
		{"\\Qa.b\\E", VALUE("axb"), NOT},
		{"\\p{L}", VALUE("é"), FOUND},
		{"\\w", VALUE("é"), NOT},
		{"\\x{e9}", VALUE("é"), FOUND},
		{"[^a]", VALUE("é"), FOUND},
		{"^.$", VALUE("é"), FOUND},
		{"^.{2}$", VALUE("中国"), FOUND},
		{"[[:alpha:]]", VALUE("a"), FOUND},
		{"\\<a", VALUE("a"), NOT}, /* in POSIX: the beginning of a word */
		{"a\\+", VALUE("a+"), FOUND},
		{"[\\d]", VALUE("5"), FOUND}, /* in POSIX: a backslash or a d */
		{"[\\d]", VALUE("d"), NOT},
		{"\\s", VALUE("\v"), FOUND},
		{"\\h", VALUE("\u00a0"), FOUND},
		{"\\R", VALUE("\u2028"), FOUND},
		{"\\G", VALUE("a"), FOUND},
		{"[]a]", VALUE("a"), FOUND},
		{"a]", VALUE("a]"), FOUND},
		{"(?x)a b", VALUE("ab"), FOUND},
		{"\\p{Lower}", VALUE("a"), FOUND},
		{"", VALUE(""), FOUND},
		{"^$", VALUE(""), FOUND},
		{"x*", VALUE(""), FOUND},
		{"a|b", VALUE("b"), FOUND},
		/* invalid UTF-8 counts as many characters as in Java */
		{"^a.b$",
		 VALUE("a\xff"
		       "b"),
		 FOUND},
		{"\\x{fffd}", VALUE("a\xff"), FOUND},
		{"^a..b$",
		 VALUE("a\xff\xfe"
		       "b"),
		 FOUND},
		{"^a.b$",
		 VALUE("a\xe4\xb8"
		       "b"),
		 FOUND},
		{"^a.b$",
		 VALUE("a\xed\xa0\x80"
		       "b"),
		 FOUND},
		{"^a...b$",
		 VALUE("a\xed\xa0\x80"
		       "b"),
		 NOT},
		{"^a.b$",
		 VALUE("a\xf0\x9f\x98"
		       "b"),
		 FOUND},
		{"^a..b$",
		 VALUE("a\xc0\x80"
		       "b"),
		 FOUND},
		{"^a....b$",
		 VALUE("a\xf5\x80\x80\x80"
		       "b"),
		 FOUND},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		enum answer ours = ask(cases[i].expression, bytes_of(cases[i].value, cases[i].len));

		if (ours != cases[i].java)
			fail_msg("case %zu, %s: %d, Java %d", i, cases[i].expression, ours,
				 cases[i].java);
	}
}

/* Section 7 of read/query/README.md describes each of these texts. */
static void not_as_java(void **state)
{
	(void)state;
	static const struct {
		const char *expression, *value;
		enum answer java, ours;
	} cases[] = {
		{"b$", "b\r", FOUND, NOT},
		{"b$", "b\u2028", FOUND, NOT},
		{"(?i)ä", "Ä", NOT, FOUND},
		{"\\bä", " ä", FOUND, NOT},
		{"[a-c&&[b]]", "a", NOT, NOT},
		{"[a-c&&[b]]", "b", FOUND, NOT},
		{"[a-c&&[b]]", "&]", NOT, FOUND},
		{"[a[b]]", "b", FOUND, NOT},
		{"[[:alpha:]]", "b", NOT, FOUND},
		{"(?<=a{1,3})b", "aab", FOUND, REFUSED},
		{"\\u0061", "a", FOUND, REFUSED},
		{"(?d)a", "a", FOUND, REFUSED},
		{"\\p{javaLowerCase}", "a", FOUND, REFUSED},
		{"\\p{IsAlphabetic}", "a", FOUND, REFUSED},
		{"a\\Kb", "ab", REFUSED, FOUND},
		{"a(?R)?b", "aabb", REFUSED, FOUND},
		{"(*FAIL)|a", "a", REFUSED, FOUND},
		{"(a)?(?(1)b|c)", "c", REFUSED, FOUND},
		{"{", "{", REFUSED, FOUND},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		enum answer ours = ask(cases[i].expression, bytes_str(cases[i].value));

		if (ours != cases[i].ours)
			fail_msg("case %zu, %s: %d, expected %d", i, cases[i].expression, ours,
				 cases[i].ours);
	}
}

static void gives_up(void **state)
{
	(void)state;
	struct filter one = {.type = FILTER_VALUE,
			     .op = FILTER_EQUAL,
			     .with = {.type = COMPARE_REGEX, .value = bytes_str("^(a+)+$")}};
	struct filter *of[] = {&one};
	struct filter list = {.type = FILTER_LIST_OR, .of = of, .nof = 1};
	struct cell c = {.row = bytes_str("r"), .type = CELL_PUT, .value = bytes_str("aaab")};
	struct error err;
	assert_int_equal(filter_open(&list, &err), 0);
	filter_cell(&list, &c);
	assert_int_equal(filter_check(&list, &err), 0);
	c.value = bytes_str("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
	filter_cell(&list, &c);
	assert_int_equal(filter_check(&list, &err), RC_LIMIT);
	assert_non_null(strstr(err.msg, "`^(a+)+$`"));
	filter_close(&list);
}

static void no_expression(void **state)
{
	(void)state;
	struct filter f = {.type = FILTER_VALUE,
			   .with = {.type = COMPARE_REGEX, .value = bytes_of("a\0b", 3)}};
	struct error err;
	assert_int_equal(filter_open(&f, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "NUL"));
	filter_close(&f);
	assert_int_equal(ask("(a", bytes_str("a")), REFUSED);
	assert_int_equal(ask("[z-a]", bytes_str("a")), REFUSED);
}

/* BinaryComponentComparator of HBase 2.6.4 returns the sign of given - value, compared from an
 * offset on.
 */
static void components(void **state)
{
	static const struct {
		const char *given;
		size_t at;
		int hbase;
	} cases[] = {{"cd", 2, 0},     {"cc", 2, -1}, {"ce", 2, 1},
		     {"abcdef", 0, 0}, {"f", 5, 0},   {"g", 5, 1}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct comparator c = {.type = COMPARE_COMPONENT,
					     .value = bytes_str(cases[i].given),
					     .at = cases[i].at};
		struct bytes value = bytes_str("abcdef");

		assert_int_equal(comparator_passes(&c, FILTER_EQUAL, value), cases[i].hbase == 0);
		assert_int_equal(comparator_passes(&c, FILTER_LESS, value), cases[i].hbase > 0);
		assert_int_equal(comparator_passes(&c, FILTER_GREATER, value), cases[i].hbase < 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_java),    cmocka_unit_test(not_as_java),
		cmocka_unit_test(gives_up),   cmocka_unit_test(no_expression),
		cmocka_unit_test(components),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
