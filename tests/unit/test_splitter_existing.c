/*
 * test_splitter_existing.c - reads the output of the shell's get_splits and list_regions back
 *
 * The test prints this output with a few lines that follow list_regions.rb and get_splits.rb.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "mem.h"
#include "splits.h"

/* Bytes.toStringBinary leaves all of 0x20..0x7E except the backslash unchanged. */
static void to_string_binary(struct buf *out, struct bytes v)
{
	for (size_t i = 0; i < v.len; i++) {
		uint8_t c = v.ptr[i];

		if (c >= 0x20 && c <= 0x7E && c != '\\')
			buf_put(out, c);
		else
			buf_printf(out, "\\x%02X", c);
	}
}

static char *text_of(struct bytes v)
{
	struct buf b = {0};

	to_string_binary(&b, v);
	buf_put(&b, 0);
	return (char *)b.ptr;
}

/* Ruby's strip. */
static char *stripped(char *text)
{
	char *from = text + strspn(text, " ");

	memmove(text, from, strlen(from) + 1);
	size_t n = strlen(text);
	while (n && text[n - 1] == ' ')
		text[--n] = 0;
	return text;
}

/* Prints cells of a table by columns as list_regions does, right-justified and followed by " |". */
static void print_table(struct buf *out, const char *const *cells, size_t columns, size_t rows)
{
	size_t width[8] = {12, 12, 10, 10, 5, 5, 10};

	for (size_t i = 0; i < columns * rows; i++)
		if (strlen(cells[i]) > width[i % columns])
			width[i % columns] = strlen(cells[i]);
	for (size_t r = 0; r < rows + 1; r++) {
		for (size_t c = 0; c < columns; c++) {
			char dashes[400];

			snprintf(dashes, sizeof dashes, "%.*s", (int)width[c],
				 "-----------------------------------------------------------------"
				 "-----------"
				 "-----------------------------------------------------------------"
				 "-----------");
			buf_printf(out, " %*s |", (int)width[c],
				   r == 1 ? dashes : cells[(r ? r - 1 : 0) * columns + c]);
		}
		buf_put(out, '\n');
	}
	buf_printf(out, " %zu rows\n", rows - 1);
}

/* Tests every byte value alone, and keys that contain blanks and bars. */
static void hard_keys(struct splits *s)
{
	static const char *const hard[] = {"\x7f ", "\x7f  |  ", "\x7f , 5.x", "\x7f=>",
					   "\x80 Took 1 s"};
	struct error err;

	for (unsigned i = 0; i < 256; i++) {
		uint8_t b = (uint8_t)i;

		assert_int_equal(splits_add(s, bytes_of(&b, 1), &err), 0);
		for (size_t h = 0; h < 5; h++)
			if ((uint8_t)hard[h][0] == b)
				assert_int_equal(splits_add(s, bytes_str(hard[h]), &err), 0);
	}
}

static void assert_same(const struct splits *a, const struct splits *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++)
		assert_true(bytes_eq(a->keys[i], b->keys[i]));
}

static void test_get_splits(void **state)
{
	(void)state;
	static const char *const around[][2] = {
		{"", ""},
		{"hbase:001:0> get_splits 't'\n",
		 "Took 0.0510 seconds\n=> [\"\\\\x00\", \"a\"]\nhbase:002:0> \n"},
		{"SLF4J: some words\nhbase(main):001:0> get_splits 't'\n",
		 "0 row(s) in 0.0510 seconds\n\n=> [\"a\"]\n"},
	};
	for (size_t i = 0; i < 6; i++) {
		struct splits want = {0};
		struct existing e;
		struct error err;
		struct buf text = {0};
		const char *eol = i % 2 ? "\r\n" : "\n";

		hard_keys(&want);
		buf_printf(&text, "%sTotal number of splits = %zu%s", around[i / 2][0],
			   want.count + 1, eol);
		for (size_t k = 0; k < want.count; k++) {
			to_string_binary(&text, want.keys[k]);
			buf_append_str(&text, eol);
		}
		buf_append_str(&text, around[i / 2][1]);
		assert_int_equal(existing_parse(&e, "f", buf_bytes(&text), &err), 0);
		assert_same(&e.splits, &want);
		assert_null(e.table);
		assert_null(e.regions[want.count].encoded);
		assert_true(e.regions[0].size_bytes == EXISTING_UNKNOWN);
		existing_release(&e);
		splits_release(&want);
		buf_release(&text);
	}
}

/* For one region, Ruby's `puts []` prints an empty line. */
static void test_one_region(void **state)
{
	(void)state;
	struct existing e;
	struct error err;
	assert_int_equal(existing_parse(&e, "f", bytes_str("Total number of splits = 1\n\n"), &err),
			 0);
	assert_int_equal(e.splits.count, 0);
	assert_non_null(e.regions);
	existing_release(&e);
}

/* `cells` is [7 * (regions + 1)], with the header first. The cells of row r are at order[r]. */
static void fill_cells(const char **cells, const struct splits *s, const size_t *order,
		       size_t replicas)
{
	static const char *const head[] = {"SERVER_NAME", "REGION_NAME", "START_KEY", "END_KEY",
					   "SIZE",	  "REQ",	 "LOCALITY"};

	for (size_t c = 0; c < 7; c++)
		cells[c] = head[c];
	for (size_t r = 0; r <= s->count; r++)
		for (size_t k = 0; k < replicas; k++) {
			const char **row = cells + 7 * (1 + order[r] * replicas + k);
			struct bytes none = {0};
			char *start = text_of(r ? s->keys[r - 1] : none);

			row[0] = mem_strdup("host-1.example,16020,1700000000000");
			row[1] = mem_format("ns:t,%s,1700000000%03zu%s.%032zx.", start, r,
					    k ? "_0001" : "", r + 4096 * k);
			row[2] = stripped(start);
			row[3] = stripped(text_of(r < s->count ? s->keys[r] : none));
			row[4] = mem_format("%zu", r * 7);
			row[5] = mem_strdup("12345678");
			row[6] = mem_strdup("0.5");
		}
}

/* Keeps only the columns of `mask`, in print_table's order. */
static void print_listing(struct buf *out, const char *const *cells, size_t rows, unsigned mask)
{
	const char **some = mem_alloc(7 * rows * sizeof *some);
	size_t n = 0, columns = 0;

	for (size_t i = 0; i < 7 * rows; i++)
		if (mask >> (i % 7) & 1)
			some[n++] = cells[i];
	columns = n / rows;
	print_table(out, some, columns, rows);
	mem_free(some);
}

static void free_cells(const char **cells, size_t rows)
{
	for (size_t i = 7; i < 7 * rows; i++) {
		void *owned = (void *)(uintptr_t)cells[i];

		mem_free(owned);
	}
	mem_free(cells);
}

static void check_listing(const struct existing *e, const struct splits *want, unsigned mask)
{
	assert_same(&e->splits, want);
	for (size_t r = 0; r <= want->count; r++) {
		char encoded[40];

		snprintf(encoded, sizeof encoded, "%032zx", r);
		if (mask & 2)
			assert_string_equal(e->regions[r].encoded, encoded);
		else
			assert_null(e->regions[r].encoded);
		assert_true(e->regions[r].size_bytes ==
			    (mask & 16 ? (uint64_t)r * 7 << 20 : EXISTING_UNKNOWN));
	}
	if (mask & 2)
		assert_string_equal(e->table, "ns:t");
}

static void test_list_regions(void **state)
{
	(void)state;
	/* all columns, the name alone, or no name; without sizes, each region comes twice because
	 * of replicas */
	static const struct {
		unsigned mask;
		size_t replicas;
	} cases[] = {{0x7f, 1}, {0x7f, 2}, {0x02, 1}, {0x02, 2}, {0x0a, 1}, {0x1b, 1}, {0x12, 1}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct splits want = {0};
		struct existing e;
		struct error err = {0};
		struct buf text = {0};

		hard_keys(&want);
		size_t n = want.count + 1, rows = 1 + n * cases[i].replicas;
		size_t *order = mem_alloc(n * sizeof *order);
		for (size_t r = 0; r < n; r++)
			order[r] = (r * 101) %
				   /* n is not a multiple of 101: the shell guarantees no order */
				   n;
		const char **cells = mem_calloc(7 * rows, sizeof *cells);
		fill_cells(cells, &want, order, cases[i].replicas);
		buf_append_str(&text, "hbase:001:0> list_regions 'ns:t'\n");
		print_listing(&text, cells, rows, cases[i].mask);
		buf_append_str(&text, "Took 0.3 seconds\n=> nil\n");
		int rc = existing_parse(&e, "f", buf_bytes(&text), &err);
		if (rc)
			fail_msg("columns %x: %s", cases[i].mask, err.msg);
		check_listing(&e, &want, cases[i].mask);
		existing_release(&e);
		free_cells(cells, rows);
		mem_free(order);
		splits_release(&want);
		buf_release(&text);
	}
}

#define HEAD " START_KEY  |    END_KEY | SIZE  |\n ---------- | ---------- | ----- |\n"

static void test_faults(void **state)
{
	(void)state;
	static const struct {
		const char *text, *words;
	} cases[] = {
		{"", "f: found neither"},
		{"ERROR: Unknown table t!\n", "f: found neither"},
		{"a\nb c\n", "f: found neither"},
		{"a\n\\x62\n", "f: found neither"}, /* the name is not splits.txt */
		{"Total number of splits = x\n", "f:1: "},
		{"Total number of splits = 0\n", "f:1: "},
		{"Total number of splits = 3\na\n", "f:2: found the end of the text"},
		{"Total number of splits = 2\na\nb\n", "f:3: found more lines"},
		{"Total number of splits = 3\nb\na\n", "f:3: split key 2: found a key below"},
		{"Total number of splits = 3\na\na\n",
		 "f:3: split key 2: found the previous key again"},
		{"Total number of splits = 3\na\n\n", "f:3: found an empty line"},
		{"Total number of splits = 2\n\\xab\n", "f:2: "},
		{"Total number of splits = 2\n\xc3\xa4\n", "f:2: found byte 0xC3"},
		{HEAD, "f:2: "},
		{HEAD " 0 rows\n", "f:3: found no region without a start key"},
		{" START_KEY  |\n            |\n 1 rows\n", "dashes"},
		{" SIZE  |\n ----- |\n     3 |\n 1 rows\n", "START_KEY or REGION_NAME"},
		{HEAD "            |          b |     3 |\n", "f:3: "},
		{HEAD "            |          b |     3 |\n          b |            |     3 |\n 3 "
		      "rows\n",
		 "f:5: "},
		{HEAD "            |          b |     3 |\n          c |            |     3 |\n 2 "
		      "rows\n",
		 "f:3: found a region that does not end"},
		{HEAD "          b |            |     3 |\n 1 rows\n",
		 "f:3: found no region without a start key"},
		{HEAD "            |          b |     3 |\n 1 rows\n",
		 "f:3: found a region that does not end"},
		{HEAD "            |            |     3 |\n            |          b |     3 |\n"
		      "          b |            |     3 |\n 3 rows\n",
		 "f:4: "},
		{HEAD "            |            |   3.5 |\n 1 rows\n", "f:3: found another SIZE"},
		{" REGION_NAME  |\n ------------ |\n     t,,1.ab. |\n 1 rows\n", NULL},
		{" REGION_NAME  |\n ------------ |\n      t,1.ab. |\n 1 rows\n",
		 "f:3: found another REGION_NAME"},
		{" REGION_NAME  |\n ------------ |\n      t,,1.ab |\n 1 rows\n",
		 "f:3: found another REGION_NAME"},
		{" REGION_NAME  |\n ------------ |\n        t,,1. |\n 1 rows\n",
		 "f:3: found another REGION_NAME"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct existing e;
		struct error err = {0};
		int rc = existing_parse(&e, "f", bytes_str(cases[i].text), &err);

		assert_int_equal(rc, cases[i].words ? RC_DATA : RC_OK);
		if (cases[i].words && !strstr(err.msg, cases[i].words))
			fail_msg("case %zu: \"%s\" not in \"%s\"", i, cases[i].words, err.msg);
		existing_release(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_get_splits),
		cmocka_unit_test(test_one_region),
		cmocka_unit_test(test_list_regions),
		cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
