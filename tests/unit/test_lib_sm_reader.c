/*
 * test_lib_sm_reader.c - tests the keys and dictionaries of a reader, with a file of HBase's own writer:
 * cells, wrong and missing keys, and a failing allocation at every call
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "pipeline/lib/arrow_stream.h"
#include "pipeline/lib/saltmill.h"
#include "temp_dir.h"

/* The input of fuzz_library: one byte, the length of a dictionary (2 bytes), the dictionary, an encrypted HFile. */
#define SAMPLE "tests/fuzz/corpus/library/keys-0"
#define CELLS                                                                                      \
	13 /* in the list of cells that HBase's reader wrote (hbase2/random.zip, file 00113) */

static const char keys[] =
	"# two keys\n8d4861bb591141dff1ea2360a68f57cb\n\nb1a8385d64505d4fc0e302f2a1fb1228\n";
static struct sm_bytes dictionary, file;
static char path[300];
static const struct sm_bytes none = {NULL, 0};

static struct sm_bytes text(const char *s)
{
	return (struct sm_bytes){s, strlen(s)};
}

static int load_sample(void **state)
{
	static uint8_t sample[20000];
	FILE *in = fopen(SAMPLE, "rb");

	assert_non_null(in);
	size_t n = fread(sample, 1, sizeof sample, in), len = (size_t)(sample[1] << 8 | sample[2]);
	fclose(in);
	assert_true(n > len + 3 && n < sizeof sample);
	dictionary = (struct sm_bytes){sample + 3, len};
	file = (struct sm_bytes){sample + 3 + len, n - 3 - len};
	if (setup(state))
		return -1;
	snprintf(path, sizeof path, "%s/encrypted", dir);
	FILE *out = fopen(path, "wb");
	assert_non_null(out);
	assert_int_equal(fwrite(file.ptr, 1, file.len, out), file.len);
	return fclose(out);
}

static struct sm_reader_options options_of(struct sm_bytes master_keys, size_t dictionaries)
{
	return (struct sm_reader_options){.size = sizeof(struct sm_reader_options),
					  .master_keys = master_keys,
					  .dictionaries = &dictionary,
					  .dictionary_count = dictionaries};
}

static void test_cells(void **state)
{
	const struct sm_reader_options o = options_of(text(keys), 1);
	struct sm_counts counts = {.size = sizeof counts};
	struct sm_reader *r[2];
	struct sm_cell c;

	(void)state;
	assert_int_equal(sm_reader_open_with(&r[0], path, &o), SM_OK);
	assert_int_equal(sm_reader_open_memory_with(&r[1], file.ptr, file.len, &o), SM_OK);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sm_reader_verify(r[i], &counts), SM_OK);
		assert_int_equal(counts.cells, CELLS);
		assert_int_equal(sm_reader_seek(r[i], text("\x80"), none, none), SM_OK);
		assert_int_equal(sm_reader_next(r[i], &c), SM_OK);
		assert_int_equal(c.timestamp, 50609);
		assert_memory_equal(c.value.ptr, "bbzbcb", 6);
		assert_int_equal(sm_reader_next(r[i], &c), SM_END);
		sm_reader_close(r[i]);
	}
}

/* Opens the file, which must fail with SM_CONFIG and these words. */
static void refuse(struct sm_reader_options o, const char *why)
{
	struct sm_reader *r;

	assert_int_equal(sm_reader_open_with(&r, path, &o), SM_CONFIG);
	if (!strstr(sm_reader_error(r), why) || strstr(sm_reader_error(r), "8d4861bb"))
		fail_msg("%s", sm_reader_error(r));
	assert_int_equal(sm_reader_next(r, NULL), SM_CONFIG);
	sm_reader_close(r);
}

static void test_wrong_keys(void **state)
{
	const struct sm_bytes junk[2] = {dictionary, {"\x37\xa4\x30\xec junk", 9}};
	struct sm_reader_options o;

	(void)state;
	refuse(options_of(none, 1), "found an encrypted file");
	refuse(options_of(text("00112233445566778899aabbccddeeff"), 1),
	       "found no master key that opens");
	refuse(options_of(text("8d4861bb"), 1), "master_keys:1: found 8 characters");
	o = options_of(text(keys), 2);
	o.dictionaries = junk;
	refuse(o, "dictionaries[1]: found a ZSTD dictionary that libzstd cannot load");
	o = options_of(text(keys), 1);
	o.size = 8;
	refuse(o, "sm_reader_options: found a size of 8 bytes");
}

static void test_no_dictionary(void **state)
{
	const struct sm_reader_options o = options_of(text(keys), 0);
	struct sm_reader *r;
	struct sm_cell c;

	(void)state;
	int rc = sm_reader_open_with(&r, path, &o);
	assert_int_equal(rc ? rc : sm_reader_next(r, &c), SM_CONFIG);
	assert_non_null(strstr(sm_reader_error(r), "needs the ZSTD dictionary"));
	sm_reader_close(r);
}

/* --- allocations that fail --- */

/* Calls each function of a reader. Returns the first code that is no success. */
static int use_all(bool memory)
{
	const struct sm_reader_options o = options_of(text(keys), 1);
	struct sm_info info = {.size = sizeof info};
	struct sm_reads reads = {.size = sizeof reads};
	struct sm_counts counts = {.size = sizeof counts};
	struct sm_bytes key, value;
	const struct sm_cell *cells;
	struct sm_reader *r;
	struct sm_cell c;
	struct ArrowArrayStream s;
	struct ArrowArray a;
	size_t n, all = 0;
	int may, rc = memory ? sm_reader_open_memory_with(&r, file.ptr, file.len, &o)
			     : sm_reader_open_with(&r, path, &o);

	while (rc == SM_OK && (rc = sm_reader_next_cells(r, &cells, &n)) == SM_OK)
		all += n;
	if (rc == SM_END)
		rc = all == CELLS ? sm_reader_range(r, text("a"), text("b1")) : -100;
	if (rc == SM_OK)
		rc = sm_reader_next(r, &c);
	if (rc == SM_OK)
		rc = sm_reader_seek(r, text("b"), none, none);
	if (rc == SM_OK)
		rc = sm_reader_next(r, &c);
	if (rc == SM_OK)
		rc = sm_reader_may_contain(r, text("a"), text("b"), &may);
	if (rc == SM_OK)
		rc = sm_reader_info(r, &info);
	if (rc == SM_OK)
		rc = sm_reader_meta(r, 0, &key, &value);
	if (rc == SM_OK)
		rc = sm_reader_verify(r, &counts);
	if (rc == SM_OK)
		rc = sm_reader_reads(r, &reads);
	if (rc == SM_OK && (rc = sm_reader_to_arrow(r, &s, 0)) == SM_OK) {
		rc = s.get_next(&s, &a) ? SM_MEMORY : SM_OK;
		if (a.release)
			a.release(&a);
		s.release(&s);
		return rc;
	}
	if (!strstr(sm_reader_error(r), "out of memory"))
		print_message("%s\n", sm_reader_error(r));
	sm_reader_close(r);
	return rc;
}

static void test_failing_allocations(void **state)
{
	(void)state;
#if !OWN_MALLOC
	print_message("the sanitizer's allocator is not ours to fail\n");
	skip();
#endif
	assert_int_equal(use_all(false), SM_OK); /* OpenSSL keeps what it allocates first */
	for (int how = 0; how < 4; how++)
		for (long n = 1, rc = SM_MEMORY; rc; n++) {
			long had = blocks;

			fail_from(n, how & 1);
			rc = use_all(how & 2);
			fail_at = 0;
			if (rc && rc != SM_MEMORY)
				fail_msg("allocation %ld: code %ld", n, rc);
			if (blocks != had)
				fail_msg("allocation %ld: %ld blocks remain", n, blocks - had);
			assert_true(n < 5000);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_wrong_keys),
		cmocka_unit_test(test_no_dictionary),
		cmocka_unit_test(test_failing_allocations),
	};

	return cmocka_run_group_tests(tests, load_sample, teardown);
}
