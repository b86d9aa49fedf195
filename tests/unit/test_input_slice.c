/*
 * Tests that a file's rows, read in slices cut at any byte, equal those of the whole file. After a
 * second reading of slices that do not meet, each row occurs once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"
#include "source.h"
#include "tests/unit/draw.h"
#include "tests/unit/temp_dir.h"

static struct job job;
static const char *path, *columns_file;
static size_t piece_bytes;

/* The events and rejects, each with its place, in order. */
struct reading {
	struct buf log;
	uint64_t line_base; /* added to line numbers, because a slice counts from its own start */
	struct source_part part;
};

static void note(struct reading *r, uint64_t offset, uint64_t line, struct bytes raw)
{
	buf_printf(&r->log, "%llu:%llu [", (unsigned long long)offset,
		   (unsigned long long)(line + r->line_base));
	buf_append(&r->log, raw.ptr, raw.len);
	buf_append_str(&r->log, "]\n");
}

static int on_event(void *ctx, const struct event *e, struct reject *why)
{
	(void)why;
	assert_int_equal(e->seq, e->offset);
	note(ctx, e->offset, e->line, e->raw);
	return RC_OK;
}

static int on_reject(void *ctx, const struct rejected *bad, struct error *err)
{
	(void)err;
	note(ctx, bad->offset, bad->line, bad->raw);
	return RC_OK;
}

static int read_slice(struct reading *r, const struct source_slice *slice, struct error *err)
{
	const struct input input = {.files = &path,
				    .nfiles = 1,
				    .columns_file = columns_file,
				    .slice = slice};
	struct source_options o = {.job = &job, .input = &input, .piece_bytes = piece_bytes};
	struct source_sink sink = {.ctx = r, .event = on_event, .reject = on_reject};
	struct source *s;
	int rc = source_open(&s, &o, err);

	if (rc)
		return rc;
	struct source_worker *w = source_worker_new(s);
	while ((rc = source_work(w, &sink, err)) == RC_OK)
		;
	source_worker_free(w);
	source_part(s, &r->part);
	source_close(s);
	return rc == RC_END ? RC_OK : rc;
}

/* Reads the slices [border i, border i + 1) one after another and mends them as their reports
 * request. */
static unsigned read_slices(const uint64_t *borders, size_t n, uint64_t size, struct reading *all)
{
	uint64_t expected = 0, lines = 0;
	unsigned mended = 0;
	struct error err;

	for (size_t i = 0; i + 1 < n; i++) {
		struct source_slice slice = {.from = borders[i], .to = borders[i + 1]};
		struct reading one = {.line_base = 0};
		int rc = read_slice(&one, &slice, &err);

		if (i == 0)
			expected = one.part.head;
		if (rc || one.part.first != expected) {
			mended++;
			buf_release(&one.log);
			slice = (struct source_slice){.from = expected,
						      .to = borders[i + 1],
						      .exact = true,
						      .row = expected};
			one = (struct reading){.line_base = lines};
			assert_int_equal(read_slice(&one, &slice, &err), RC_OK);
			/* the test gives the line number only now */
		} else if (expected != one.part.head) {
			buf_release(&one.log);
			one = (struct reading){.line_base = lines};
			assert_int_equal(read_slice(&one, &slice, &err), RC_OK);
		}
		assert_int_equal(one.part.first, expected);
		expected = one.part.end;
		lines += one.part.lines + (i == 0 ? one.part.head_lines : 0);
		buf_append(&all->log, one.log.ptr, one.log.len);
		buf_release(&one.log);
	}
	assert_int_equal(expected, size);
	return mended;
}

static void check_file(const char *text, unsigned least_mended, unsigned most_mended)
{
	size_t size = strlen(text);

	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
	struct reading whole = {.line_base = 0};
	struct error err;
	unsigned mended = 0;
	assert_int_equal(read_slice(&whole, NULL, &err), RC_OK);
	assert_true(whole.part.whole && whole.part.last && whole.log.len > 0);
	for (uint64_t at = 0; at <= size; at++) {
		const uint64_t borders[] = {0, at, at + 7 < size ? at + 7 : size, size};
		struct reading all = {.line_base = 0};

		mended += read_slices(borders, 4, size, &all);
		assert_int_equal(all.log.len, whole.log.len);
		assert_memory_equal(all.log.ptr, whole.log.ptr, whole.log.len);
		buf_release(&all.log);
	}
	buf_release(&whole.log);
	assert_in_range(mended, least_mended, most_mended);
}

static void test_rows_without_quotes_are_always_guessed_right(void **state)
{
	(void)state;
	check_file("a,b\n1,2\n3,4\n\n5,6\nbad\n7,8\n", 0, 0);
	check_file("a,b\n1,2\n3,4\n5,6", 0, 0);
	check_file("a,b\r\n1,2\r\n\r\n3,4\r\n5,6\r\n", 0, 0);
	check_file("a,b\r1,2\r\r3,4\r5,6\r", 0, 0);
	check_file("\xef\xbb\xbf"
		   "a,b\n1,2\n3,4\n",
		   0, 0);
	check_file("a,b\n1,some text that is longer than any of these slices\n3,4\n", 0, 0);
}

static void test_line_ends_in_quotes_are_told_and_mended(void **state)
{
	(void)state;
	check_file("a,b\n1,\"two\nlines\"\n3,4\n5,\"three\n\nlines\"\n6,7\n", 1, 200);
	check_file("a,b\r\n\"two\r\nlines\",1\r\n3,4\r\n", 1, 200);
	check_file("a,b\n1,\"an \"\"odd\n one\"\"\"\n\"x\ny\n\",z\n", 1, 200);
	check_file("\"a\nname\",b\n1,2\n3,4\n", 0, 0);
	check_file("a,b\n1,2\n3,a \"bad\" one\n4,5\n6,\"open\n7,8\n", 0, 0);
}

static void test_comments_and_other_heads(void **state)
{
	(void)state;
	job.csv.has_comment = true;
	job.csv.comment = '#';
	check_file("a,b\n1,2\n# a \"comment\n3,4\n#\n5,6\n", 0, 0);
	job.csv.has_comment = false;
	job.csv.skip = 2;
	check_file("one\ntwo\na,b\n1,2\n3,4\n", 0, 0);
	job.csv.skip = 0;
}

static void test_random_files(void **state)
{
	(void)state;
	static const char *const texts[] = {"1",	"",	      "xy",	  "\"q\"",
					    "\"a\nb\"", "\"\"\"\n\"", "\"\r\n\"", "z z"};
	static const char *const ends[] = {"\n", "\r\n", "\r", "\n\n"};
	random_state = 17;
	for (int i = 0; i < 12; i++) {
		struct buf text = {0};

		buf_append_str(&text, "a,b\n");
		for (int row = 0; row < 12; row++)
			buf_printf(&text, "%s,%s%s", texts[pick(8)], texts[pick(8)], ends[pick(4)]);
		buf_put(&text, 0);
		piece_bytes = i % 2 ? 16 : 0;
		check_file((const char *)text.ptr, 0, UINT32_MAX);
		buf_release(&text);
	}
	piece_bytes = 0;
}

static void test_parts_of_a_number(void **state)
{
	(void)state;
	check_file("a,b\n1,2\n3,4\n5,6\n7,8\n9,10\n11,12\n", 0, 0);
	uint64_t expected = 4, rows = 0;
	struct error err;
	for (unsigned i = 1; i <= 5; i++) {
		const struct source_slice slice = {.part = i, .parts = 5};
		struct reading r = {.line_base = 0};

		assert_int_equal(read_slice(&r, &slice, &err), RC_OK);
		assert_int_equal(r.part.first, expected);
		expected = r.part.end;
		rows += r.part.rows;
		assert_int_equal(r.part.last, i == 5);
		buf_release(&r.log);
	}
	assert_int_equal(rows, 6);
}

static void test_columns_of_their_own(void **state)
{
	(void)state;
	const char *columns = path_of("columns");
	FILE *f = fopen(columns, "wb");
	assert_non_null(f);
	fputs("a,b\n", f);
	fclose(f);
	columns_file = columns;
	check_file("1,2\n3,4\nno\n", 0, 0);
	columns_file = NULL;
}

static void test_what_is_refused(void **state)
{
	(void)state;
	const struct source_slice slice = {.from = 0, .to = 10}, turned = {.from = 9, .to = 3};
	const char *two[] = {path, path};
	struct input input = {.files = two, .nfiles = 2, .slice = &slice};
	struct source_options o = {.job = &job, .input = &input};
	struct source *s;
	struct error err;
	assert_int_equal(source_open(&s, &o, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "found 2 inputs, expected one file"));
	input.nfiles = 1;
	input.slice = &turned;
	assert_int_equal(source_open(&s, &o, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "found an end before the start"));
	input.slice = &slice;
	job.csv.encoding = "ISO-8859-1";
	assert_int_equal(source_open(&s, &o, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "UTF-8"));
	job.csv.encoding = NULL;
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	fwrite("\x1f\x8b\x08\0\0\0\0\0\0\3\3\0\0\0\0\0\0\0\0\0", 1, 20, f);
	fclose(f);
	assert_int_not_equal(source_open(&s, &o, &err), RC_OK);
}

/* Positions in a fed slice count from its first byte, wherever the feed begins. */
static void test_progress_of_what_is_fed(void **state)
{
	(void)state;
	const char text[] = "1,2\n3,4\n5,6\n7,8\n", *standard = "-", *names[] = {"a", "b"};
	const size_t size = sizeof text - 1, offset = 7;
	const struct source_feed feed = {.name = path,
					 .offset = offset,
					 .bytes = size - offset,
					 .size = size,
					 .columns = names,
					 .ncolumns = 2};
	const struct source_slice slice = {.from = offset + 1, .to = size};
	struct source_sink sink = {.ctx = NULL};
	const struct input input = {.files = &standard,
				    .nfiles = 1,
				    .slice = &slice,
				    .feed = &feed};
	struct source_options o = {.job = &job, .input = &input};
	struct source *s;
	struct error err;
	uint64_t done, total;
	int saved = dup(STDIN_FILENO), ends[2];
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text + offset, size - offset), size - offset);
	close(ends[1]);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	assert_int_equal(source_open(&s, &o, &err), RC_OK);
	struct source_worker *w = source_worker_new(s);
	for (int rc = RC_OK; rc != RC_END;) {
		rc = source_work(w, &sink, &err);
		assert_true(rc == RC_OK || rc == RC_END);
		source_progress(s, &done, &total);
		assert_int_equal(done, size - offset - 1);
		assert_int_equal(total, size - offset - 1);
	}
	source_worker_free(w);
	source_close(s);
	dup2(saved, STDIN_FILENO);
	close(saved);
}

static int set_up(void **state)
{
	if (setup(state))
		return -1;
	path = mem_format("%s/in.csv", dir);
	job.csv = (struct csv_source){.header = true,
				      .delimiter = ',',
				      .quote = '"',
				      .max_row_bytes = 1 << 20};
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_without_quotes_are_always_guessed_right),
		cmocka_unit_test(test_line_ends_in_quotes_are_told_and_mended),
		cmocka_unit_test(test_comments_and_other_heads),
		cmocka_unit_test(test_random_files),
		cmocka_unit_test(test_parts_of_a_number),
		cmocka_unit_test(test_columns_of_their_own),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_progress_of_what_is_fed),
	};

	return cmocka_run_group_tests(tests, set_up, teardown);
}
