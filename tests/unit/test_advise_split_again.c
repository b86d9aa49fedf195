/* test_advise_split_again.c - rows and their values, worked out by hand */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pipeline/advise/init/value_proof.h"

/* Expects the values, with | between them. The last of `ncolumns` values takes the rest of the row. */
static void expect_of(const struct csv_source *csv, size_t ncolumns, const char *row,
		      const char *values)
{
	struct split_row r = {0};
	struct buf found = {0};

	split_again(&r, csv, ncolumns, bytes_str(row));
	for (size_t i = 0; i < r.n; i++) {
		struct bytes v = split_value(&r, i);

		buf_append_str(&found, i ? "|" : "");
		buf_append(&found, v.ptr, v.len);
	}
	buf_put(&found, 0);
	assert_string_equal((char *)found.ptr, values);
	buf_release(&found);
	split_release(&r);
}

static void expect(const struct csv_source *csv, const char *row, const char *values)
{
	expect_of(csv, SIZE_MAX, row, values);
}

static void test_last_column(void **state)
{
	struct csv_source csv = {.delimiter = ',', .quote = '"', .extra = EXTRA_LAST};

	(void)state;
	expect_of(&csv, 3, "a,b,c,d,e", "a|b|c,d,e");
	expect_of(&csv, 3, "a,b", "a|b");
	expect_of(&csv, 1, "a,b", "a,b");
}

static void test_blanks(void **state)
{
	struct csv_source csv = {.delimiter = ' ',
				 .blanks = true,
				 .quotes = QUOTES_NONE,
				 .extra = EXTRA_LAST};

	(void)state;
	expect(&csv, "  1\t \ta  b ", "1|a|b");
	expect_of(&csv, 3, "root  1 /sbin/init  splash ", "root|1|/sbin/init  splash");
}

static void test_quotes(void **state)
{
	struct csv_source csv = {.delimiter = ',', .quote = '"'};

	(void)state;
	expect(&csv, "a,\"b,c\",,\"say \"\"x\"\"\"", "a|b,c||say \"x\"");
	expect(&csv, "a, \"b\"", "a| \"b\"");
	csv.trim = TRIM_BLANKS;
	expect(&csv, "a, \"b\" ,c", "a|b|c");
	csv.quotes = QUOTES_NONE;
	expect(&csv, "\"a\",b", "\"a\"|b");
}

static void test_forms(void **state)
{
	uint32_t widths[] = {3, 2, 4};
	struct csv_source csv = {.delimiter = '|', .long_delimiter = bytes_of("||", 2)};

	(void)state;
	csv.quotes = QUOTES_NONE;
	expect(&csv, "a||b;c||", "a|b;c|");
	csv = (struct csv_source){.widths = widths, .nwidths = 3};
	expect(&csv,
	       "M\xc3\xbc"
	       "1ab rest of it",
	       "M\xc3\xbc"
	       "1|ab| rest of it");
}

static void test_escapes(void **state)
{
	struct csv_source csv = {.delimiter = '\t', .quotes = QUOTES_NONE};

	(void)state;
	csv.escapes = ESCAPES_MYSQL;
	expect(&csv, "a\\\tb\t\\N\tc\\\\d\\n", "a\tb|\\N|c\\d\n");
	csv.escapes = ESCAPES_POSTGRES;
	expect(&csv, "\\x41\\102\\v\tx", "AB\v|x");
	csv.escapes = ESCAPES_PLAIN;
	expect(&csv, "\\n\tx", "n|x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_column), cmocka_unit_test(test_blanks),
		cmocka_unit_test(test_quotes),	    cmocka_unit_test(test_forms),
		cmocka_unit_test(test_escapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
