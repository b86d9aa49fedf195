/*
 * test_source_faults.c - what ends the reading of delimited text: rows, files, the sink
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "tests/unit/source_rig.h"

static void test_fatal_rows(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *part;
	} t[] = {
		{"a,b\n\"c,d\ne,f\n", RC_DATA, "in:2 (byte 4): found the end"},
		{"a,b\n\r\nc,\"", RC_DATA, "in:3 (byte 6): found the end"},
		{"a,b\n\n12345678901,3", RC_LIMIT, "in:3 (byte 5): a row longer than 12 bytes"},
		{"a,b\n12345678901,3\nc,d\n", RC_LIMIT, "in:2 (byte 4): a row longer than 12"},
		{"a,b\n\"234567890\",3\nc,d\n", RC_LIMIT, "in:2 (byte 4): a row longer than 12"},
		{"a,b\n\"\n\n\n\n\n\n\n\n\n\n\n\nc,d\n", RC_LIMIT, "in:2 (byte 4): a row longer"},
		{"a,b\nx\"45678901234\nc,d\n", RC_LIMIT, "in:2 (byte 4): a row longer than 12"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		for (size_t k = 0; k < 12; k++) {
			struct setup setup = {.ncolumns = 2,
					      .max_row_bytes = 12,
					      .piece_bytes = piece_sizes[k / 2],
					      .libcsv_only = k % 2,
					      .nfiles = 1};
			setup.files[0] = put_file("in", t[i].text, strlen(t[i].text));
			expect_failure(&setup, t[i].rc, t[i].part, "1:0 [a] [b]\n");
		}
	}
	struct setup exact = {.ncolumns = 2, .max_row_bytes = 12, .piece_bytes = 5};
	struct outcome o = run_text(exact, "1234567890,2\r\n\"345678901\",2\r\n", 29);
	assert_int_equal(o.rc, RC_LIMIT);
	drop(&o);
	o = run_text(exact, "1234567890,2\r\n\"34567890\",2\r\n", 28);
	assert_int_equal(o.rc, 0);
	drop(&o);
}

/* A line without end costs no more than a small multiple of the limit. */
static void test_endless_line(void **state)
{
	size_t len = 20 << 20;
	char *data = mem_alloc(len);
	struct setup setup = {.ncolumns = 1, .max_row_bytes = 100000, .piece_bytes = 4096};

	(void)state;
	for (int k = 0; k < 2; k++) {
		memset(data, 'x', len);
		data[0] = k ? '"' : 'x';
		struct outcome o = run_text(setup, data, len);
		assert_int_equal(o.rc, RC_LIMIT);
		assert_true(o.done < 3 * setup.max_row_bytes);
		drop(&o);
	}
	mem_free(data);
}

static void test_bad_files(void **state)
{
	const char *good = put_file("good", "a\n", 2);
	struct setup setup = {.files = {good, path_of("missing")}, .nfiles = 2, .ncolumns = 1};

	(void)state;
	expect_failure(&setup, RC_IO, "/missing: No such file", "");
	setup.files[1] = dir;
	expect_failure(&setup, RC_IO, "is a folder", "");
	setup.files[0] = setup.files[1] = "-";
	expect_failure(&setup, RC_CONFIG, "standard input is named 2 times", "");
	if (geteuid() != 0) {
		setup.files[0] = good;
		setup.files[1] = put_file("closed", "b\n", 2);
		assert_int_equal(chmod(setup.files[1], 0), 0);
		expect_failure(&setup, RC_IO, "/closed: Permission denied", "");
		unlink(setup.files[1]);
	}
}

static int grow(void *ctx, const struct event *e, struct reject *why)
{
	(void)why;
	if (e->line == 1) {
		FILE *f = fopen(ctx, "ab");
		assert_non_null(f);
		fputs("more,rows\n", f);
		fclose(f);
	}
	return RC_OK;
}

static void test_file_changed(void **state)
{
	static const char *columns[] = {"a", "b"};
	char path[128];
	struct job job = {.csv = {.columns = columns,
				  .ncolumns = 2,
				  .delimiter = ',',
				  .quote = '"',
				  .max_row_bytes = 100}};
	const char *file = path;
	struct source_options options = {.job = &job,
					 .files = &file,
					 .nfiles = 1,
					 .piece_bytes = 8};
	struct source_sink sink = {.ctx = path, .event = grow};
	struct source *s;
	struct error err;
	int rc;

	(void)state;
	snprintf(path, sizeof(path), "%s", put_file("grows", "1,2\n3,4\n5,6\n7,8\n9,0\n", 20));
	assert_int_equal(source_open(&s, &options, &err), 0);
	struct source_worker *w = source_worker_new(s);
	while ((rc = source_work(w, &sink, &err)) == 0)
		;
	assert_int_equal(rc, RC_IO);
	assert_non_null(strstr(err.msg, "changed while being read: 20 bytes when opened, 30 read"));
	assert_int_equal(source_work(w, &sink, &err), RC_IO); /* and it stays so */
	source_worker_free(w);
	source_close(s);
}

static void test_sink_stops(void **state)
{
	struct setup setup = {.ncolumns = 1, .nfiles = 1};

	(void)state;
	setup.files[0] = put_file("in", "a\nstop\nb\n", 9);
	struct outcome o = run(&setup);
	assert_int_equal(o.rc, RC_STOPPED);
	assert_string_equal(LOG(o), "1:0 [a]\n");
	drop(&o);
	setup.files[0] = put_file("in", "a\nbad\nb\n", 8);
	o = run_with(&setup, bytes_of(NULL, 0), "disk full");
	assert_int_equal(o.rc, RC_IO);
	assert_string_equal(o.err.msg, "disk full");
	assert_string_equal(LOG(o), "1:0 [a]\n");
	drop(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fatal_rows), cmocka_unit_test(test_endless_line),
		cmocka_unit_test(test_bad_files),  cmocka_unit_test(test_file_changed),
		cmocka_unit_test(test_sink_stops),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
