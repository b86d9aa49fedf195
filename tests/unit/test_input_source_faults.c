/*
 * test_input_source_faults.c - tests errors of rows, files and the sink that end the reading of
 * delimited text
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "tests/unit/source_rig.h"

static void test_fatal_rows(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *part;
	} t[] = {
		{"a,b\n\n12345678901,3", RC_LIMIT,
		 "in:3 (byte 5): found a row of more than 12 "
		 "bytes"},
		{"a,b\n12345678901,3\nc,d\n", RC_LIMIT,
		 "in:2 (byte 4): found a row of more than "
		 "12"},
		{"a,b\n\"234567890\",3\nc,d\n", RC_LIMIT,
		 "in:2 (byte 4): found a row of more "
		 "than 12"},
		{"a,b\nx\"45678901234\nc,d\n", RC_LIMIT,
		 "in:2 (byte 4): found a row of more "
		 "than 12"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
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

/* An unclosed quote costs only its own line. The reader continues with the lines below it. */
static void test_open_quotes(void **state)
{
	static const struct {
		const char *text, *want;
	} t[] = {
		{"a,b\n\"c,d\ne,f\n", "1:0 [a] [b]\n2:4 open_quote 1 <\"c,d>\n3:9 [e] [f]\n"},
		{"a,b\n\r\nc,\"", "1:0 [a] [b]\n3:6 open_quote 2 <c,\">\n"},
		{"\"c,d\r\ne,f", "1:0 open_quote 1 <\"c,d>\n2:6 [e] [f]\n"},
		/* longer than max_row, 12 bytes, with and without a closing quote after the limit
		 */
		{"a,b\n\"\n\n\n\n\n\n\n\n\n\n\n\nc,d\n",
		 "1:0 [a] [b]\n2:4 open_quote 1 <\">\n14:17 [c] [d]\n"},
		{"\"x\ne,f\ng,h\ni,j\",k\nl,m\n",
		 "1:0 open_quote 1 <\"x>\n2:3 [e] [f]\n3:7 [g] [h]\n4:11 bad_quote 2 <i,j\",k>\n"
		 "5:18 [l] [m]\n"},
		/* the second half of a pair becomes an opening quote */
		{"\"x\ne,\"\"f\n1,2\n3,\"4\n5,6\n",
		 "1:0 open_quote 1 <\"x>\n2:3 bad_quote 2 <e,\"\"f>\n3:9 [1] [2]\n"
		 "4:13 open_quote 2 <3,\"4>\n5:18 [5] [6]\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		for (size_t k = 0; k < 12; k++) {
			struct setup setup = {.ncolumns = 2,
					      .max_row_bytes = 12,
					      .piece_bytes = piece_sizes[k / 2],
					      .libcsv_only = k % 2};
			struct outcome o = run_text(setup, t[i].text, strlen(t[i].text));
			struct buf brief = {0};

			assert_int_equal(o.rc, 0);
			for (const char *p = LOG(o); *p;) {
				const char *why = strstr(p, " (column "), *end = strchr(p, '\n');

				if (why && why < end) {
					buf_append(&brief, p, (size_t)(why - p));
					buf_printf(&brief, " %c", why[9]);
					p = strstr(why, ") <") + 1;
				}
				buf_append(&brief, p, (size_t)(end + 1 - p));
				p = end + 1;
			}
			buf_put(&brief, 0);
			assert_string_equal((char *)brief.ptr, t[i].want);
			buf_release(&brief);
			drop(&o);
		}
	}
}

/* A line without an end costs at most a small multiple of the limit. */
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
	setup.files[1] = path_of("empty");
	assert_int_equal(mkdir(setup.files[1], 0700), 0);
	expect_failure(&setup, RC_IO, "/empty: found no files in this folder", "");
	setup.files[0] = setup.files[1] = "-";
	expect_failure(&setup, RC_CONFIG, "found `-` (standard input) 2 times", "");
	if (geteuid() != 0) {
		setup.files[0] = good;
		setup.files[1] = put_file("closed", "b\n", 2);
		assert_int_equal(chmod(setup.files[1], 0), 0);
		expect_failure(&setup, RC_IO, "/closed: Permission denied", "");
		unlink(setup.files[1]);
	}
}

/* Changes a file during reading, after the sink got its first row. */
struct change {
	void (*change)(const char *path);
	const char *says;
};
static char changing[128]; /* its path */

static void grow(const char *path)
{
	FILE *f = fopen(path, "ab");
	assert_non_null(f);
	fputs("more,rows\n", f);
	fclose(f);
}

static void overwrite(const char *path)
{
	int fd = open(path, O_WRONLY);

	assert_int_equal(pwrite(fd, "x", 1, 16), 1);
	close(fd);
}

/* Replaces the file as `cp -p` and rsync replace files. */
static void overwrite_secretly(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	overwrite(path);
	assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){st.st_atim, st.st_mtim}, 0),
			 0);
}

static int change_once(void *ctx, const struct event *e, struct reject *why)
{
	const struct change *c = ctx;

	(void)why;
	if (e->line == 1)
		c->change(changing);
	return RC_OK;
}

static void expect_change(const struct change *c)
{
	static const char *columns[] = {"a", "b"};
	struct job job = {.csv = {.columns = columns,
				  .ncolumns = 2,
				  .delimiter = ',',
				  .quote = '"',
				  .max_row_bytes = 100}};
	const char *file = changing;
	const struct input input = {.files = &file, .nfiles = 1};
	struct source_options options = {.job = &job, .input = &input, .piece_bytes = 8};
	struct source_sink sink = {.ctx = (void *)(uintptr_t)c, .event = change_once};
	struct source *s;
	struct error err;
	int rc;

	snprintf(changing, sizeof changing, "%s",
		 put_file("changes", "1,2\n3,4\n5,6\n7,8\n9,0\n1,2\n3,4\n5,6\n", 32));
	usleep(20000); /* more than a tick of the file system's clock */
	assert_int_equal(source_open(&s, &options, &err), 0);
	struct source_worker *w = source_worker_new(s);
	while ((rc = source_work(w, &sink, &err)) == 0)
		;
	assert_int_equal(rc, RC_IO);
	if (!strstr(err.msg, c->says))
		fail_msg("%s", err.msg);
	assert_int_equal(source_work(w, &sink, &err), RC_IO); /* and the error stays */
	source_worker_free(w);
	source_close(s);
}

static void test_file_changed(void **state)
{
	static const struct change changes[] = {
		{grow, "the file changed during the load: found 42 bytes, expected 32"},
		{overwrite, "the file changed during the load (a program wrote to the file)"},
		{overwrite_secretly, "the file changed during the load (a program changed the "
				     "file (ctime))"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
		expect_change(&changes[i]);
}

/* The second of two files changes between the check of its header and its reading. */
static void replace(const char *path)
{
	char name[160];

	(void)path;
	snprintf(name, sizeof name, "%s", put_file("new", "5,6\n7,9\n", 8));
	assert_int_equal(rename(name, path_of("second")), 0);
}

static void test_file_replaced(void **state)
{
	static const char *columns[] = {"a", "b"};
	static const struct change c = {.change = replace};
	struct job job = {.csv = {.columns = columns,
				  .ncolumns = 2,
				  .delimiter = ',',
				  .quote = '"',
				  .max_row_bytes = 100}};
	char first[128], second[128];
	const char *files[] = {first, second};
	const struct input input = {.files = files, .nfiles = 2};
	struct source_options options = {.job = &job, .input = &input, .piece_bytes = 8};
	struct source_sink sink = {.ctx = (void *)(uintptr_t)&c, .event = change_once};
	struct source *s;
	struct error err;
	int rc;

	(void)state;
	snprintf(first, sizeof first, "%s", put_file("first", "1,2\n3,4\n", 8));
	snprintf(second, sizeof second, "%s", put_file("second", "5,6\n7,8\n", 8));
	assert_int_equal(source_open(&s, &options, &err), 0);
	struct source_worker *w = source_worker_new(s);
	while ((rc = source_work(w, &sink, &err)) == 0)
		;
	assert_int_equal(rc, RC_IO);
	if (!strstr(err.msg,
		    "second: the file changed after saltmill checked it (another file replaced "
		    "the file)"))
		fail_msg("%s", err.msg);
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
		cmocka_unit_test(test_fatal_rows),   cmocka_unit_test(test_open_quotes),
		cmocka_unit_test(test_endless_line), cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_file_changed), cmocka_unit_test(test_file_replaced),
		cmocka_unit_test(test_sink_stops),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
