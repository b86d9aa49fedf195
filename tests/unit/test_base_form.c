/*
 * test_form.c - JSON that a form writes equals jansson's text of the same values, and the form
 * reads it
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <jansson.h>
#include <stdlib.h>

#include "form.h"

struct inner {
	bool present;
	const char *name;
	int32_t number;
};
struct outer {
	const char *text, *none;
	struct bytes key, raw;
	uint64_t count;
	int64_t low;
	double real;
	bool flag, known;
	uint8_t digest[16];
	char chars[8];
	unsigned choice;
	struct inner part;
	struct inner *list;
	size_t nlist;
};

static const char *const choices[] = {"one", "two", NULL};
static const struct form_member inner_members[] = {
	{"name", FORM_TEXT, IN(inner, name), "name"},
	{"number", FORM_INT32, IN(inner, number), "number"},
};
static const struct form inner_form = FORM(inner, inner_members);
static const struct form_member outer_members[] = {
	{"text", FORM_TEXT, IN(outer, text), "text"},
	{"none", FORM_TEXT, IN(outer, none), "text or null", FORM_OR_NULL},
	{"key", FORM_KEY, IN(outer, key), "row key"},
	{"raw", FORM_BASE64, IN(outer, raw), "any bytes"},
	{"count", FORM_COUNT, IN(outer, count), "count"},
	{"low", FORM_INT, IN(outer, low), "integer", FORM_IF, IF(outer, known)},
	{"real", FORM_REAL, IN(outer, real), "real"},
	{"flag", FORM_FLAG, IN(outer, flag), "flag"},
	{"digest", FORM_DIGEST, IN(outer, digest), "digest"},
	{"chars", FORM_CHARS, IN(outer, chars), "short text", .count_at = 8},
	{"choice", FORM_CHOICE, IN(outer, choice), "one of two", .choices = choices},
	{"part", FORM_PART, IN(outer, part), "a part", FORM_IF_ANY, &inner_form},
	{"list", FORM_LIST, IN(outer, list), "a list", ITEMS(outer, inner_form, nlist)},
};
static const struct form outer_form =
	NAMED_FORM(outer, outer_members, "outer", "a form of this test");

static const enum form_style styles[] = {FORM_FILE, FORM_REPORT, FORM_FILE_LINE,
					 FORM_LINE, FORM_SPACED, FORM_NARROW};
static const size_t flags[] = {JSON_INDENT(2), JSON_INDENT(2), JSON_COMPACT, JSON_COMPACT, 0,
			       JSON_INDENT(1)};

/* Reads the text and checks that jansson writes the same text of the value. */
static void check_layout(struct bytes text, size_t layout, bool newline)
{
	json_error_t bad;
	json_t *v = json_loadb((const char *)text.ptr, text.len, JSON_ALLOW_NUL, &bad);

	if (!v)
		fail_msg("%s: %.*s", bad.text, (int)text.len, (const char *)text.ptr);
	char *again = json_dumps(v, layout);
	size_t len = strlen(again);
	assert_int_equal(text.len, len + newline);
	assert_memory_equal(text.ptr, again, len);
	free(again);
	json_decref(v);
}

static void layouts(void **state)
{
	struct inner list[] = {{.name = "a", .number = 1}, {.name = "", .number = 2147483647}};
	struct outer o = {.text = "\"\\/\b\f\n\r\t\x01 \xC3\xA4 \xFF",
			  .key = bytes_of("a\0\\", 3),
			  .raw = bytes_of("\xFF\0x", 3),
			  .count = INT64_MAX,
			  .low = INT64_MIN,
			  .digest = {1, 2, 255},
			  .chars = "seven77",
			  .choice = 1,
			  .part = {true, "p", 3},
			  .list = list};

	(void)state;
	for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
		for (int k = 0; k < 16; k++) {
			struct buf out = {0};

			o.nlist = k & 1 ? 2 : 0;
			o.known = k & 2;
			o.part.present = k & 4;
			o.none = k & 8 ? "some" : NULL;
			o.flag = k & 1;
			form_put(&out, &outer_form, &o, styles[i]);
			check_layout(buf_bytes(&out), flags[i], styles[i] != FORM_SPACED);
			out.len = 0;
			form_put_list(&out, &inner_form, list, o.nlist, styles[i]);
			check_layout(buf_bytes(&out), flags[i], styles[i] != FORM_SPACED);
			buf_release(&out);
		}
}

static const double reals[] = {0,
			       -0.0,
			       1,
			       -1,
			       0.1,
			       1.0 / 3,
			       1e5,
			       1e15,
			       1e16,
			       1e17,
			       123456.5,
			       1e20,
			       1e21,
			       1e-5,
			       1e-4,
			       1.5e-7,
			       1e100,
			       1e-100,
			       2.5e17,
			       DBL_MAX,
			       DBL_MIN,
			       DBL_EPSILON,
			       395456191.72100002};

static void numbers(void **state)
{
	struct outer o = {.text = ""};
	static const unsigned digits[] = {0, 6};

	(void)state;
	srand(1);
	for (size_t i = 0; i < 20000; i++) {
		size_t n = sizeof reals / sizeof *reals;
		uint64_t bits =
			((uint64_t)rand() << 33) ^ ((uint64_t)rand() << 11) ^ (uint64_t)rand();
		struct form f = outer_form;
		struct buf out = {0};

		if (i < n)
			o.real = reals[i];
		else
			memcpy(&o.real, &bits, sizeof bits);
		if (o.real != o.real || o.real - o.real != 0)
			continue;
		f.digits = digits[i % 2];
		form_put(&out, &f, &o, FORM_LINE);
		json_t *v = json_real(o.real);
		char *want = json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(f.digits));
		char *at = mem_format("\"real\":%s,", want);
		buf_put(&out, 0);
		if (!strstr((const char *)out.ptr, at))
			fail_msg("%s, expected %s", (const char *)out.ptr, at);
		mem_free(at);
		free(want);
		json_decref(v);
		buf_release(&out);
	}
}

static void there_and_back(void **state)
{
	struct inner list[] = {{.name = "a", .number = 1}};
	struct outer o = {.text = "t\xC3\xA4",
			  .key = bytes_of("\0k", 2),
			  .raw = bytes_of("\xFF\0", 2),
			  .count = 7,
			  .low = -7,
			  .known = true,
			  .real = 1e-7,
			  .flag = true,
			  .digest = {9},
			  .chars = "chars",
			  .choice = 1,
			  .part = {true, "p", 3},
			  .list = list,
			  .nlist = 1};
	struct outer back = {0};
	struct arena a = {0};
	struct error err;
	struct buf one = {0}, two = {0};

	(void)state;
	form_put(&one, &outer_form, &o, FORM_FILE);
	assert_int_equal(form_parse(&outer_form, &back, buf_bytes(&one), "p", "a test", &a, &err),
			 RC_OK);
	assert_true(back.known && back.part.present);
	assert_int_equal(back.low, -7);
	assert_int_equal(back.raw.len, 2);
	form_put(&two, &outer_form, &back, FORM_FILE);
	assert_true(bytes_eq(buf_bytes(&one), buf_bytes(&two)));
	buf_release(&one);
	buf_release(&two);
	arena_release(&a);
}

static void refused(void **state)
{
	static const char *const cases[][3] = {
		{"\"flag\":false", "\"flag\":0", "flag is something else, expected true or false"},
		{"\"count\":0", "\"count\":-1", "count is something else"},
		{"\"choice\":\"one\"", "\"choice\":\"three\"", "choice is something else"},
		{"\"number\":1", "\"number\":2147483648", "list[0].number"},
		{"\"text\":\"\"", "\"text\":\"\\u0000\"", "text is something else"},
		{"\"list\"", "\"lost\"", "list is missing, expected a list"},
		{"\"raw\":\"\"", "\"raw_base64\":\"?\"", "raw: expected a text, or base64"},
	};
	struct inner list[] = {{.name = "a", .number = 1}};
	struct outer o = {.text = "", .raw = bytes_str(""), .list = list, .nlist = 1}, back;
	struct buf good = {0};

	(void)state;
	form_put(&good, &outer_form, &o, FORM_LINE);
	buf_put(&good, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena a = {0};
		struct error err = {0};
		const char *text = (const char *)good.ptr, *at = strstr(text, cases[i][0]);

		assert_non_null(at);
		char *bad = mem_format("%.*s%s%s", (int)(at - text), text, cases[i][1],
				       at + strlen(cases[i][0]));
		back = (struct outer){0};
		assert_int_equal(form_parse(&outer_form, &back, bytes_str(bad), "p", "a test", &a,
					    &err),
				 RC_DATA);
		if (!strstr(err.msg, cases[i][2]))
			fail_msg("\"%s\" lacks \"%s\"", err.msg, cases[i][2]);
		mem_free(bad);
		arena_release(&a);
	}
	buf_release(&good);
}

struct sealed {
	const char *name;
	uint64_t number;
	const char *const *texts;
	size_t ntexts;
};
static const struct form_member sealed_members[] = {
	{"name", FORM_TEXT, IN(sealed, name), "name"},
	{"number", FORM_COUNT, IN(sealed, number), "number", FORM_NEWER},
	{"texts", FORM_TEXTS, IN(sealed, texts), "texts", COUNT_AT(sealed, ntexts)},
};

/* Compares digests of texts that Python's json.dumps writes with sort_keys and without blanks. */
#define CONTENT "\"texts\":[\"x\",\"\xC3\xA4\"]"
#define WITH	"49b7ef44cba315e61bb1198ad4fe2182" /* {"name":"a\"","number":7,...} */
#define WITHOUT "e8db33b8b71692c003003644312b54c4" /* {"name":"a\"",...} */

static void sealed(void **state)
{
	static const struct {
		const char *text;
		bool good, later; /* if the record needs a digest; if the digest may be missing */
	} cases[] = {
		{"{\"name\":\"a\\\"\",\"number\":7," CONTENT ",\"digest\":\"" WITH "\"}", true,
		 true},
		{" {\"digest\" : \"" WITH "\"," CONTENT ",\"number\":7,\n\"name\":\"a\\u0022\"}",
		 true, true},
		{"{\"name\":\"a\\\"\"," CONTENT ",\"digest\":\"" WITHOUT "\"}", true, true},
		{"{\"name\":\"a\\\"\"," CONTENT "}", false, true},
		{"{\"name\":\"a\\\"\",\"number\":8," CONTENT ",\"digest\":\"" WITH "\"}", false,
		 false},
		{"{\"name\":\"a\\\"\",\"number\":7,\"more\":1," CONTENT ",\"digest\":\"" WITH "\"}",
		 false, false},
		{"{\"name\":\"a\\\"\",\"number\":7," CONTENT ",\"digest\":7}", false, false},
	};
	struct form f = NAMED_FORM(sealed, sealed_members, "sealed", "a test");
	static const char *const texts[] = {"x", "\xC3\xA4"};
	struct sealed s = {"a\"", 7, texts, 2};
	struct buf out = {0};

	(void)state;
	f.seal = FORM_SEALED;
	form_put(&out, &f, &s, FORM_NARROW);
	check_layout(buf_bytes(&out), JSON_INDENT(1), true);
	buf_put(&out, 0);
	assert_non_null(strstr((const char *)out.ptr, "\n \"digest\": \"" WITH "\"\n}\n"));
	buf_release(&out);
	for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
		struct arena a = {0};
		struct error err;
		bool later = i % 2;

		s = (struct sealed){0};
		f.seal = later ? FORM_SEALED_LATER : FORM_SEALED;
		int rc = form_parse(&f, &s, bytes_str(cases[i / 2].text), "p", "a test", &a, &err);
		bool good = later ? cases[i / 2].later : cases[i / 2].good;
		if ((rc == RC_OK) != good)
			fail_msg("case %zu: %s", i / 2, rc ? err.msg : "accepted");
		if (rc == RC_OK) {
			assert_int_equal(s.ntexts, 2);
			assert_string_equal(s.texts[1], texts[1]);
		} else {
			assert_non_null(strstr(err.msg, "content that does not match its digest"));
		}
		arena_release(&a);
	}
}

static void lists(void **state)
{
	struct inner list[] = {{.name = "a", .number = 1}, {.name = "b", .number = 2}}, *back;
	struct arena a = {0};
	struct error err;
	struct buf out = {0};
	size_t n;

	(void)state;
	form_put_list(&out, &inner_form, list, 2, FORM_LINE);
	assert_int_equal(form_parse_list(&inner_form, (void *)&back, &n, buf_bytes(&out), "p",
					 "a list", &a, &err),
			 RC_OK);
	assert_int_equal(n, 2);
	assert_string_equal(back[1].name, "b");
	assert_int_equal(form_parse_list(&inner_form, (void *)&back, &n,
					 bytes_str("[{\"name\":\"a\",\"number\":1},{}]"), "p",
					 "a list", &a, &err),
			 RC_DATA);
	assert_non_null(strstr(err.msg, "p is not a list: [1].name is missing"));
	assert_int_equal(form_parse_list(&inner_form, (void *)&back, &n, bytes_str("{}"), "p",
					 "a list", &a, &err),
			 RC_DATA);
	buf_release(&out);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts),	  cmocka_unit_test(numbers),
		cmocka_unit_test(there_and_back), cmocka_unit_test(refused),
		cmocka_unit_test(sealed),	  cmocka_unit_test(lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
