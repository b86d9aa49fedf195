/* Regular expressions: what is found, and what is no pattern. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pattern.h"

/* found NULL: nothing is. */
static void finds(const char *text, const char *in, const char *found)
{
	struct arena a = {0};
	struct pattern *p;
	struct pattern_scratch s = {0};
	struct error err;
	struct bytes got = {0};

	assert_int_equal(pattern_new(&p, &a, text, &err), RC_OK);
	enum pattern_result result = pattern_find(p, &s, bytes_str(in), &got);
	assert_int_equal(result, found ? PATTERN_FOUND : PATTERN_NONE);
	if (found && !bytes_eq(got, bytes_str(found)))
		fail_msg("%s in %s: found %.*s", text, in, (int)got.len, (const char *)got.ptr);
	pattern_scratch_release(&s);
	arena_release(&a);
}

static void groups(void **state)
{
	(void)state;
	finds("b+", "abbbc", "bbb");
	finds("a(b+)c", "abbbc", "bbb");
	finds("^TRAILER", "TRAILER|3", "TRAILER");
	finds("^TRAILER", "x\nTRAILER", NULL); /* ^ is the start of the text */
	finds("(?:a|b)(\\d*)", "b", "");
	finds("x(y)?", "xz", ""); /* took no part */
	finds("(?<=\")[^\"]*", "say \"so\"", "so");
	finds("^.(.)", "\xc3\xa4\xc3\xb6", "\xc3\xb6"); /* characters, not bytes */
	finds("\\d", "\xd9\xa3", NULL);			/* an Arabic three */
	finds("(?i)straSSe", "STRASSE", "STRASSE");
	finds("^(\\S+) ", "ok \xff\xfe", "ok");
	finds("k .", "ok \xff", NULL); /* no UTF-8, no character */
	finds("", "", "");
}

static void costly(void **state)
{
	(void)state;
	struct arena a = {0};
	struct pattern *p;
	struct pattern_scratch s = {0};
	struct error err;
	assert_int_equal(pattern_new(&p, &a, "^(a+)+$", &err), RC_OK);
	assert_int_equal(pattern_find(p, &s, bytes_str("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), NULL),
			 PATTERN_COSTLY);
	assert_int_equal(pattern_find(p, &s, bytes_str("aaaa"), NULL), PATTERN_FOUND);
	pattern_scratch_release(&s);
	arena_release(&a);
}

static void no_patterns(void **state)
{
	(void)state;
	static const struct {
		const char *text, *words;
	} cases[] = {
		{"(a", "found `(a`, expected a regular expression: at byte 2: missing closing"},
		{"[z-a]", "at byte 3"},
		{"\\C", "\\C"},
		{"\xff", "UTF-8"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = {0};
		struct pattern *p;
		struct error err;

		assert_int_equal(pattern_new(&p, &a, cases[i].text, &err), RC_CONFIG);
		if (!strstr(err.msg, cases[i].words))
			fail_msg("%s: %s", cases[i].text, err.msg);
		arena_release(&a);
	}
}

static void counts_groups(void **state)
{
	(void)state;
	struct arena a = {0};
	struct pattern *p;
	struct error err;
	assert_int_equal(pattern_new(&p, &a, "(a)(?:b)(?<c>c)", &err), RC_OK);
	assert_int_equal(pattern_groups(p), 2);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups),
		cmocka_unit_test(costly),
		cmocka_unit_test(no_patterns),
		cmocka_unit_test(counts_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
