/*
 * test_lib_sm_job.c - tests the row keys of the library: worked by hand, errors, allocations that
 * fail, threads
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "pipeline/lib/saltmill.h"
#include "temp_dir.h"

/* A job with a zone, a pattern and a file of codes, so that opening it uses much of the parser. */
static const char job[] = "source: {csv: {files: [x.csv]}}\n"
			  "fields:\n"
			  "  user: {type: u64}\n"
			  "  at: {type: time, format: '%Y-%m-%d %H:%M:%S', zone: Asia/Shanghai}\n"
			  "  kind: {codes: {call: 1, text: 2}}\n"
			  "  name: {type: text, match: '(a+)b'}\n"
			  "tables:\n"
			  "  - name: t\n"
			  "    rowkey: [{salt: 16, of: [user]}, {field: user, as: u64},\n"
			  "             {field: at, as: reversed_millis}, {field: kind, as: u32}]\n"
			  "    timestamp: at\n"
			  "    families: {f: }\n"
			  "    cells: [{family: f, qualifier: n, value: name}]\n";

static struct sm_bytes text(const char *s)
{
	return (struct sm_bytes){s, strlen(s)};
}

static char *job_file(void)
{
	char *path = path_of("job.yaml");
	FILE *f = fopen(path, "w");

	fputs(job, f);
	fclose(f);
	return path;
}

static const struct sm_field fields[] = {{"user", {"42", 2}},
					 {"kind", {"text", 4}},
					 {"at", {"1970-01-01 08:16:40", 19}}};

/*
 * The salt of user 42 is 7 by the murmur3 of tests/hbase/oracle.py. The time is
 * 1000 s, and the key has Long.MAX_VALUE minus its milliseconds.
 */
static const uint8_t golden[] = {7,    0,    0,	   0,	 0,    0,    0, 0, 42, 0x7f, 0xff,
				 0xff, 0xff, 0xff, 0xf0, 0xbd, 0xbf, 0, 0, 0,  2};

static int convert(const char *path)
{
	struct sm_job *j;
	struct sm_bytes key;
	const struct sm_field *back;
	size_t n = 0;
	int rc = sm_job_open(&j, path, NULL);

	if (rc == SM_OK)
		rc = sm_job_encode(j, fields, 3, &key);
	if (rc == SM_OK) {
		assert_int_equal(key.len, sizeof golden);
		assert_memory_equal(key.ptr, golden, sizeof golden);
		rc = sm_job_decode(j, (struct sm_bytes){golden, sizeof golden}, &back, &n);
	}
	if (rc == SM_OK) {
		assert_int_equal(n, 3);
		assert_string_equal(back[0].name, "user");
		assert_string_equal(back[0].text.ptr, "42");
		assert_string_equal(back[1].name, "at");
		assert_string_equal(back[1].text.ptr, "1970-01-01T00:16:40.000Z");
		assert_string_equal(back[2].text.ptr, "text");
	}
	assert_true(rc == SM_OK || *sm_job_error(j));
	sm_job_close(j);
	return rc;
}

static void test_a_key_worked_by_hand(void **state)
{
	struct sm_job *j;
	const char *name;

	(void)state;
	assert_int_equal(convert(job_file()), SM_OK);
	assert_int_equal(sm_job_open(&j, job_file(), "t"), SM_OK);
	assert_int_equal(sm_job_field(j, 2, &name), SM_OK);
	assert_string_equal(name, "kind");
	assert_int_equal(sm_job_field(j, 3, &name), SM_END);
	sm_job_close(j);
}

static void test_errors(void **state)
{
	const struct sm_field bad[] = {{"user", {"-1", 2}}, {"usr", {"1", 1}}};
	uint8_t other[sizeof golden];
	const struct sm_field *back;
	struct sm_bytes key;
	struct sm_job *j;
	size_t n;

	(void)state;
	assert_int_equal(sm_job_open(&j, path_of("none.yaml"), NULL), SM_CONFIG);
	assert_non_null(strstr(sm_job_error(j), "none.yaml"));
	assert_int_equal(sm_job_encode(j, fields, 3, &key), SM_CONFIG);
	sm_job_close(j);
	assert_int_equal(sm_job_open(&j, job_file(), "u"), SM_CONFIG);
	sm_job_close(j);
	assert_int_equal(sm_job_open(&j, job_file(), NULL), SM_OK);
	assert_int_equal(sm_job_encode(j, fields, 2, &key), SM_CONFIG);
	assert_non_null(strstr(sm_job_error(j), "`at`"));
	assert_int_equal(sm_job_encode(j, bad, 1, &key), SM_CONFIG);
	assert_int_equal(sm_job_encode(j, bad + 1, 1, &key), SM_CONFIG);
	assert_non_null(strstr(sm_job_error(j), "usr"));
	memcpy(other, golden, sizeof other);
	other[0] = 8;
	assert_int_equal(sm_job_decode(j, (struct sm_bytes){other, sizeof other}, &back, &n),
			 SM_DATA);
	assert_int_equal(sm_job_decode(j, (struct sm_bytes){golden, 5}, &back, &n), SM_DATA);
	assert_int_equal(sm_job_decode(j, text(""), &back, &n), SM_DATA);
	assert_int_equal(sm_job_encode(j, fields, 3, &key), SM_OK); /* the handle is of use */
	sm_job_close(j);
	sm_job_close(NULL);
	assert_int_equal(sm_job_encode(NULL, fields, 3, &key), SM_MEMORY);
}

static void test_failing_allocations(void **state)
{
	char *path = job_file();
	long tried = 0;

	(void)state;
#if !OWN_MALLOC
	print_message("the sanitizer's allocator is not ours to fail\n");
	skip();
#endif
	setenv("TZ", "Europe/Berlin", 1);
	assert_int_equal(convert(path), SM_OK);
	for (int all = 0; all < 2; all++)
		for (long n = 1, rc = SM_MEMORY; rc; n++, tried++) {
			fail_from(n, all);
			rc = convert(path);
			fail_at = 0;
			assert_string_equal(getenv("TZ"), "Europe/Berlin");
			assert_true(n < 20000);
		}
	assert_true(tried > 50);
	long had = blocks;
	for (int i = 0; i < 10; i++)
		assert_int_equal(convert(path), SM_OK);
	assert_int_equal(blocks, had);
}

static void *convert_often(void *path)
{
	for (int i = 0; i < 5; i++)
		assert_int_equal(convert(path), SM_OK);
	return NULL;
}

static void test_threads(void **state)
{
	char *path = job_file();
	pthread_t thread[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, convert_often, path), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_key_worked_by_hand),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_failing_allocations),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
