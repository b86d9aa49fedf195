/* Tests regular expressions, with matches and invalid patterns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "pattern.h"

/* If `found` is NULL, expects no match. */
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
	finds("^TRAILER", "x\nTRAILER", NULL); /* ^ matches only the start of the text */
	finds("(?:a|b)(\\d*)", "b", "");
	finds("x(y)?", "xz", ""); /* a group that took no part */
	finds("(?<=\")[^\"]*", "say \"so\"", "so");
	finds("^.(.)", "\xc3\xa4\xc3\xb6", "\xc3\xb6"); /* counts characters, not bytes */
	finds("\\d", "\xd9\xa3", NULL);			/* an Arabic digit three */
	finds("(?i)straSSe", "STRASSE", "STRASSE");
	finds("^(\\S+) ", "ok \xff\xfe", "ok");
	finds("k .", "ok \xff", NULL); /* invalid UTF-8 is not a character */
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

/* The result for a long text is that of a short text, and the work over all positions has a
 * limit. */
static void long_texts(void **state)
{
	static const char *const patterns[] = {"(\\S+):\\d", "(\\w+):\\d", "(x)y"};
	enum { LEN = 40000 };
	struct arena a = {0};
	struct pattern_scratch s = {0};
	struct error err;
	uint8_t *text = arena_alloc(&a, LEN + 3);
	struct bytes found;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct pattern *p;

		assert_int_equal(pattern_new(&p, &a, patterns[i], &err), RC_OK);
		memset(text, 'a', LEN);
		memcpy(text + LEN, i < 2 ? "b:5" : "xy ", 3);
		assert_int_equal(pattern_find(p, &s, bytes_of(text, LEN + 3), &found),
				 PATTERN_FOUND);
		assert_true(found.ptr + found.len == text + LEN + 1);
		assert_int_equal(found.len, i < 2 ? LEN + 1 : 1);
		memcpy(text + LEN, i < 2 ? " :5" : "x y", 3);
		clock_t began = clock();
		assert_int_equal(pattern_find(p, &s, bytes_of(text, LEN + 3), &found),
				 i < 2 ? PATTERN_COSTLY : PATTERN_NONE);
		assert_true((double)(clock() - began) / CLOCKS_PER_SEC < 3);
	}
	pattern_scratch_release(&s);
	arena_release(&a);
}

/* Searches of one event share the event's steps. The next event has all steps again. */
static void shared(void **state)
{
	struct arena a = {0};
	struct pattern_scratch s = {0};
	struct pattern *p;
	struct error err;
	enum { LEN = 3000 };
	uint8_t *text = arena_alloc(&a, LEN);
	int n = 0;

	(void)state;
	assert_int_equal(pattern_new(&p, &a, "(\\S+):\\d", &err), RC_OK);
	memset(text, 'a', LEN);
	text[LEN - 1] = ':';
	for (int event = 0; event < 2; event++) {
		pattern_begin(&s);
		for (n = 0; n < 1000; n++)
			if (pattern_find_more(p, &s, bytes_of(text, LEN), NULL) != PATTERN_NONE)
				break;
		assert_in_range(n, 1, 20);
		assert_int_equal(pattern_find_more(p, &s, bytes_of(text, LEN), NULL),
				 PATTERN_COSTLY);
	}
	assert_int_equal(pattern_find(p, &s, bytes_of(text, LEN), NULL), PATTERN_NONE);
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
		cmocka_unit_test(groups),      cmocka_unit_test(costly),
		cmocka_unit_test(long_texts),  cmocka_unit_test(shared),
		cmocka_unit_test(no_patterns), cmocka_unit_test(counts_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
