/*
 * test_input_source_rows.c - tests rows, delimiters and headers of delimited text with tables
 * written by hand
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/source_rig.h"

#define BAD_PLAIN(n)                                                                               \
	"bad_quote (column " n ": found a quote inside an unquoted value, expected the whole "     \
	"value in quotes and the quote doubled)"
#define BAD_BEHIND(n, c)                                                                           \
	"bad_quote (column " n ": found '" c "' after the closing quote, expected a delimiter "    \
	"or the line's end)"

/* ---- tables ---- */

static const struct {
	const char *text;
	size_t len; /* 0: use strlen */
	size_t ncolumns;
	const char *log;
	uint64_t blank;
} cases[] = {
	{"a,b\n", 0, 2, "1:0 [a] [b]\n", 0},
	{"a,b", 0, 2, "1:0 [a] [b]\n", 0},
	{"a,b\r\nc,d\r\n", 0, 2, "1:0 [a] [b]\n2:5 [c] [d]\n", 0},
	{"a,b\rc,d\r", 0, 2, "1:0 [a] [b]\n2:4 [c] [d]\n", 0},
	{"a,b\nc,d\r\ne,f\rg,h", 0, 2, "1:0 [a] [b]\n2:4 [c] [d]\n3:9 [e] [f]\n4:13 [g] [h]\n", 0},
	{",\n", 0, 2, "1:0 [] []\n", 0},
	{"a,", 0, 2, "1:0 [a] []\n", 0},
	{" a , b \n", 0, 2, "1:0 [ a ] [ b ]\n", 0},
	{"\t\n  \n", 0, 1, "1:0 [\\x09]\n2:2 [  ]\n", 0},
	{"\n\r\n\ra\n\n", 0, 1, "4:4 [a]\n", 4},
	{"\"\"\n", 0, 1, "1:0 Q[]\n", 0},
	{"\"\",\"\"", 0, 2, "1:0 Q[] Q[]\n", 0},
	{"\"a,b\",c\n", 0, 2, "1:0 Q[a,b] [c]\n", 0},
	{"\"a\"\"b\",\"\"\"\"\r\nx,y\n", 0, 2, "1:0 Q[a\"b] Q[\"]\n2:13 [x] [y]\n", 0},
	{"\"a\r\nb\rc\nd\",e\nf,g\n", 0, 2, "1:0 Q[a\\x0d\\x0ab\\x0dc\\x0ad] [e]\n5:13 [f] [g]\n",
	 0},
	{"\"a\"", 0, 1, "1:0 Q[a]\n", 0},
	{"a\0b,\0\n", 6, 2, "1:0 [a\\x00b] [\\x00]\n", 0},
	{"a\n", 0, 2, "1:0 field_count (found 1 field, expected 2) <a>\n", 0},
	{"a,b,c\r\nx,y", 0, 2,
	 "1:0 field_count (found 3 fields, expected 2) <a,b,c>\n2:7 [x] [y]\n", 0},
	{"\"a\",b,\"c\"\nx,y", 0, 2,
	 "1:0 field_count (found 3 fields, expected 2) <\"a\",b,\"c\">\n2:10 [x] [y]\n", 0},
	{"bad,1\nx,2\n", 0, 2, "1:0 sink (no) <bad,1>\n2:6 [x] [2]\n", 0},
	{"a\"b,c\nx,y\n", 0, 2, "1:0 " BAD_PLAIN("1") " <a\"b,c>\n2:6 [x] [y]\n", 0},
	{"a,\"b\"c\r\nx,y", 0, 2, "1:0 " BAD_BEHIND("2", "c") " <a,\"b\"c>\n2:8 [x] [y]\n", 0},
	{"a, \"b\"\nx,y\n", 0, 2, "1:0 " BAD_PLAIN("2") " <a, \"b\">\n2:7 [x] [y]\n", 0},
	{"a,\"b\" \nx,y\n", 0, 2, "1:0 " BAD_BEHIND("2", " ") " <a,\"b\" >\n2:7 [x] [y]\n", 0},
	/* the fault is in the row's second line, so the reader also skips the second line */
	{"\"a\nb\"c,\"d\nx,y\n", 0, 2,
	 "1:0 " BAD_BEHIND("1", "c") " <\"a\\x0ab\"c,\"d>\n3:10 [x] [y]\n", 0},
	{"a\"b", 0, 1, "1:0 " BAD_PLAIN("1") " <a\"b>\n", 0},
	{"a\"\r\"b\"\r", 0, 1, "1:0 " BAD_PLAIN("1") " <a\">\n2:3 Q[b]\n", 0},
	{"", 0, 2, "", 0},
	{"\xef\xbb\xbf"
	 "a,b\n",
	 0, 2, "1:3 [a] [b]\n", 0},
	{"\xef\xbb\xbf", 0, 2, "", 0},
	{"\xef\xbb", 0, 1, "1:0 [\\xef\\xbb]\n", 0},
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t len = cases[i].len ? cases[i].len : strlen(cases[i].text);

		for (size_t k = 0; k < 12; k++) {
			struct setup setup = {.ncolumns = cases[i].ncolumns,
					      .piece_bytes = piece_sizes[k / 2],
					      .libcsv_only = k % 2};
			struct outcome o = run_text(setup, cases[i].text, len);

			assert_int_equal(o.rc, 0);
			assert_string_equal(LOG(o), cases[i].log);
			assert_int_equal(o.counts.blank_lines, cases[i].blank);
			assert_int_equal(o.done, len);
			assert_int_equal(o.total, len);
			drop(&o);
		}
	}
}

static void test_delimiters(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct setup setup = {.ncolumns = 2, .delimiter = '\t', .libcsv_only = k};
		struct outcome o = run_text(setup, "a,\tb\n\"x\ty\"\tz\n", 13);

		assert_string_equal(LOG(o), "1:0 [a,] [b]\n2:5 Q[x\\x09y] [z]\n");
		drop(&o);
		setup.delimiter = ' ';
		o = run_text(setup, "a b\n\"x y\" \n", 11);
		assert_string_equal(LOG(o), "1:0 [a] [b]\n2:4 Q[x y] []\n");
		drop(&o);
	}
}

/* ---- headers ---- */

static void test_header(void **state)
{
	static const struct {
		const char *first, *second; /* second may be NULL */
		int rc;
		const char *want; /* the log, or a part of the error message */
	} t[] = {
		{"x,y\n1,2\n", NULL, 0, "2:4 [1] [2]\n"},
		{"x,y", NULL, 0, ""},
		{"x,y\r", NULL, 0, ""},
		{"\xef\xbb\xbf\"x\",y\r\n1,2", NULL, 0, "2:10 [1] [2]\n"},
		{"\n\r\nx\n1", NULL, 0, "4:5 [1]\n"},
		{"\"x\ny\",z\n1,2\n", NULL, 0, "3:8 [1] [2]\n"},
		{"x,x,\n1,2,3\n", NULL, 0, "2:5 [1] [2] [3]\n"},
		{"", NULL, RC_DATA, "in: found an empty file, expected a header line"},
		{"\xef\xbb\xbf\n\n", NULL, RC_DATA,
		 "in: found an empty file, expected a header line"},
		{"x,\"y\n1,2\n", NULL, RC_DATA, "in:1: found no closing quote for column 2"},
		{"\nx,y\"\n1,2\n", NULL, RC_DATA, "in:2: found a misplaced quote in column 2"},
		{"x,y\n1,2", "\xef\xbb\xbf\"x\",y\r\n3,4\n", 0, "2:4 [1] [2]\n2:10 [3] [4]\n"},
		{"x,y\n1,2", "x,y", 0, "2:4 [1] [2]\n"},
		{"x,y\n1,2", "y,x\n3,4\n", RC_DATA,
		 "in2: found the header \"y,x\", expected \"x,y\" as in "},
		{"x,y\n1,2", "x,y,z\n", RC_DATA, "found the header \"x,y,z\", expected \"x,y\""},
		{"x,y\n1,2", "", RC_DATA, "in2: found an empty file, expected a header line"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		for (size_t k = 0; k < 12; k++) {
			struct setup setup = {.header = true,
					      .piece_bytes = piece_sizes[k / 2],
					      .libcsv_only = k % 2};

			setup.files[setup.nfiles++] =
				put_file("in", t[i].first, strlen(t[i].first));
			if (t[i].second)
				setup.files[setup.nfiles++] =
					put_file("in2", t[i].second, strlen(t[i].second));
			struct outcome o = run(&setup);
			assert_int_equal(o.rc, t[i].rc);
			if (o.rc == RC_OK)
				assert_string_equal(LOG(o), t[i].want);
			else
				assert_non_null(strstr(o.err.msg, t[i].want));
			drop(&o);
		}
	}
}

static void test_columns(void **state)
{
	const char *path = put_file("in", "one,\"t\"\"wo\",,one\n", 17);
	struct job job = {
		.csv = {.header = true, .delimiter = ',', .quote = '"', .max_row_bytes = 100}};
	struct input input = {.files = &path, .nfiles = 1};
	struct source_options options = {.job = &job, .input = &input};
	struct source *s;
	struct error err;
	size_t n;

	(void)state;
	assert_int_equal(source_open(&s, &options, &err), 0);
	const char *const *names = source_columns(s, &n);
	assert_int_equal(n, 4);
	assert_string_equal(names[0], "one");
	assert_string_equal(names[1], "t\"wo");
	assert_string_equal(names[2], "#3");
	assert_string_equal(names[3], "one#2");
	source_close(s);
	input.nfiles = 0;
	assert_int_equal(source_open(&s, &options, &err), RC_CONFIG);
	job.csv.files = &path;
	job.csv.nfiles = 1;
	assert_int_equal(source_open(&s, &options, &err), 0);
	source_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_delimiters),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
