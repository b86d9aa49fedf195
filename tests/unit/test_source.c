/*
 * test_source.c - delimited text to events
 *
 * Judges: tables written by hand, a generator that knows the fields it has written (RFC 4180), a
 * naive count of line ends, libcsv alone (libcsv_only), and xxhash over the file on disk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include "io.h"
#include "mem.h"
#include "pipeline/source/source.h"

static char dir[96];

struct setup {
	const char *files[4]; /* paths; by default one file "in" in dir */
	size_t nfiles;
	bool header;
	size_t ncolumns; /* without a header; up to 8 */
	uint8_t delimiter; /* 0: comma */
	uint64_t max_row_bytes; /* 0: 1 MiB */
	size_t piece_bytes;
	bool libcsv_only;
	unsigned threads; /* 0: one */
};

struct record {
	uint64_t seq;
	char *text;
};

/* What one thread saw. */
struct seen {
	struct source *source;
	struct record *records;
	size_t n, cap;
	struct bytes naive; /* the decoded file: check positions against it */
	const char *stop_reject;
	struct source_counts counts;
	struct error err;
	int rc;
};

struct outcome {
	struct buf log; /* one line an event or reject, in order of seq */
	int rc;         /* of source_open or source_work; RC_END is 0 */
	struct error err;
	struct source_counts counts;
	struct source_file file[4];
	uint64_t done, total;
};

static const char *path_of(const char *name)
{
	static char paths[8][128];
	static unsigned turn;
	char *p = paths[turn++ % 8];

	snprintf(p, sizeof(paths[0]), "%s/%s", dir, name);
	return p;
}

static const char *put_file(const char *name, const void *data, size_t len)
{
	const char *path = path_of(name);
	unlink(path);
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	return path;
}

static void show(struct buf *b, struct bytes v)
{
	for (size_t i = 0; i < v.len; i++) {
		if (v.ptr[i] < 0x20 || v.ptr[i] >= 0x7f)
			buf_printf(b, "\\x%02x", v.ptr[i]);
		else
			buf_put(b, v.ptr[i]);
	}
}

static void keep(struct seen *t, uint64_t seq, struct buf *line)
{
	buf_put(line, 0);
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 64;
		t->records = mem_realloc(t->records, t->cap * sizeof(*t->records));
	}
	t->records[t->n++] = (struct record){seq, (char *)line->ptr};
}

static uint64_t naive_line(struct bytes all, uint64_t offset)
{
	uint64_t line = 1;

	for (uint64_t i = 0; i < offset; i++)
		line += all.ptr[i] == '\n' ? !(i > 0 && all.ptr[i - 1] == '\r') : all.ptr[i] == '\r';
	return line;
}

static void check_place(const struct seen *t, uint64_t line, uint64_t offset, struct bytes raw)
{
	if (!t->naive.ptr)
		return;
	assert_int_equal(line, naive_line(t->naive, offset));
	assert_true(offset + raw.len <= t->naive.len);
	assert_memory_equal(raw.ptr, t->naive.ptr + offset, raw.len);
}

/* Events whose first column is "bad" are refused. */
static int on_event(void *ctx, const struct event *e, struct reject *why)
{
	struct seen *t = ctx;
	struct buf b = {0};

	check_place(t, e->line, e->offset, e->raw);
	if (e->columns[0].len == 3 && memcmp(e->columns[0].ptr, "bad", 3) == 0) {
		*why = (struct reject){.reason = "sink", .detail = "no"};
		return RC_DATA;
	}
	if (e->columns[0].len == 4 && memcmp(e->columns[0].ptr, "stop", 4) == 0)
		return RC_STOPPED;
	buf_printf(&b, "%llu:%llu", (unsigned long long)e->line, (unsigned long long)e->offset);
	for (size_t i = 0; i < e->ncolumns; i++) {
		assert_false(e->columns[i].absent);
		buf_append_str(&b, e->columns[i].quoted ? " Q[" : " [");
		show(&b, bytes_of(e->columns[i].ptr, e->columns[i].len));
		buf_put(&b, ']');
	}
	keep(t, e->seq, &b);
	return RC_OK;
}

static int on_reject(void *ctx, const struct rejected *r, struct error *err)
{
	struct seen *t = ctx;
	struct buf b = {0};

	check_place(t, r->line, r->offset, r->raw);
	if (t->stop_reject)
		return error_set(err, RC_IO, "%s", t->stop_reject);
	buf_printf(&b, "%llu:%llu %s (%s) <", (unsigned long long)r->line,
	           (unsigned long long)r->offset, r->why.reason, r->why.detail);
	show(&b, r->raw);
	buf_put(&b, '>');
	keep(t, r->seq, &b);
	return RC_OK;
}

static void *thread_main(void *arg)
{
	struct seen *t = arg;
	struct source_worker *w = source_worker_new(t->source);
	struct source_sink sink = {.ctx = t, .event = on_event, .reject = on_reject};

	while ((t->rc = source_work(w, &sink, &t->err)) == 0)
		;
	source_worker_counts(w, &t->counts);
	source_worker_free(w);
	return NULL;
}

static int by_seq(const void *a, const void *b)
{
	uint64_t x = ((const struct record *)a)->seq, y = ((const struct record *)b)->seq;
	return (x > y) - (x < y);
}

static void gather(struct outcome *o, struct seen *t, unsigned n)
{
	struct seen all = {0};

	for (unsigned i = 0; i < n; i++) {
		for (size_t k = 0; k < t[i].n; k++) {
			assert_true(k == 0 || t[i].records[k].seq > t[i].records[k - 1].seq);
			if (all.n == all.cap) {
				all.cap = all.cap ? 2 * all.cap : 64;
				all.records = mem_realloc(all.records, all.cap * sizeof(*all.records));
			}
			all.records[all.n++] = t[i].records[k];
		}
		o->counts.events += t[i].counts.events;
		o->counts.rejects += t[i].counts.rejects;
		o->counts.blank_lines += t[i].counts.blank_lines;
		o->rc = t[i].rc == RC_END ? o->rc : t[i].rc;
		o->err = t[i].rc == RC_END ? o->err : t[i].err;
		mem_free(t[i].records);
	}
	if (all.n)
		qsort(all.records, all.n, sizeof(*all.records), by_seq);
	for (size_t k = 0; k < all.n; k++) {
		assert_true(k == 0 || all.records[k].seq > all.records[k - 1].seq);
		buf_printf(&o->log, "%s\n", all.records[k].text);
		mem_free(all.records[k].text);
	}
	mem_free(all.records);
}

static struct outcome run_with(const struct setup *setup, struct bytes naive, const char *stop)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	const char *columns[8];
	unsigned n = setup->threads ? setup->threads : 1;
	struct outcome o = {0};
	struct seen t[4] = {0};
	pthread_t threads[4];
	struct job job = {0};

	memcpy(columns, names, sizeof(columns));
	job.csv.header = setup->header;
	job.csv.columns = columns;
	job.csv.ncolumns = setup->ncolumns;
	job.csv.delimiter = setup->delimiter ? setup->delimiter : ',';
	job.csv.quote = '"';
	job.csv.max_row_bytes = setup->max_row_bytes ? setup->max_row_bytes : 1 << 20;
	struct source_options options = {.job = &job, .files = setup->files, .nfiles = setup->nfiles,
	                                 .piece_bytes = setup->piece_bytes,
	                                 .libcsv_only = setup->libcsv_only};
	struct source *s = NULL;
	o.rc = source_open(&s, &options, &o.err);
	if (o.rc != 0) {
		assert_null(s);
		return o;
	}
	for (unsigned i = 0; i < n; i++) {
		t[i].source = s;
		t[i].naive = naive;
		t[i].stop_reject = stop;
		if (i > 0)
			assert_int_equal(pthread_create(&threads[i], NULL, thread_main, &t[i]), 0);
	}
	thread_main(&t[0]);
	for (unsigned i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	gather(&o, t, n);
	size_t nfiles;
	const struct source_file *files = source_files(s, &nfiles);
	memcpy(o.file, files, nfiles * sizeof(*files));
	for (size_t i = 0; i < nfiles; i++)
		assert_string_equal(files[i].path, setup->files[i]);
	source_progress(s, &o.done, &o.total);
	source_close(s);
	buf_put(&o.log, 0);
	return o;
}

static struct outcome run(const struct setup *setup)
{
	return run_with(setup, bytes_of(NULL, 0), NULL);
}

/* The same from memory; positions are checked. */
static struct outcome run_text(struct setup setup, const void *data, size_t len)
{
	char path[64];
	int fd = memfd_create("in", 0); /* tens of thousands of inputs: not on a disk */

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	setup.files[0] = path;
	setup.nfiles = 1;
	struct outcome o = run_with(&setup, bytes_of(data, len), NULL);
	close(fd);
	return o;
}

static void drop(struct outcome *o)
{
	buf_release(&o->log);
}

#define LOG(o) ((o).log.ptr ? (const char *)(o).log.ptr : "")
#define BAD_PLAIN(n) \
	"bad_quote (column " n ": found a quote inside an unquoted value, expected the whole " \
	"value in quotes and the quote doubled)"
#define BAD_BEHIND(n, c) \
	"bad_quote (column " n ": found '" c "' behind the closing quote, expected a delimiter " \
	"or the line's end)"

/* ---- tables ---- */

static const struct {
	const char *text;
	size_t len; /* 0: strlen */
	size_t ncolumns;
	const char *log;
	uint64_t blank;
} cases[] = {
        {"a,b\n", 0, 2, "1:0 [a] [b]\n", 0},
        {"a,b", 0, 2, "1:0 [a] [b]\n", 0},
        {"a,b\r\nc,d\r\n", 0, 2, "1:0 [a] [b]\n2:5 [c] [d]\n", 0},
        {"a,b\rc,d\r", 0, 2, "1:0 [a] [b]\n2:4 [c] [d]\n", 0},
        {"a,b\nc,d\r\ne,f\rg,h", 0, 2,
         "1:0 [a] [b]\n2:4 [c] [d]\n3:9 [e] [f]\n4:13 [g] [h]\n", 0},
        {",\n", 0, 2, "1:0 [] []\n", 0},
        {"a,", 0, 2, "1:0 [a] []\n", 0},
        {" a , b \n", 0, 2, "1:0 [ a ] [ b ]\n", 0},
        {"\t\n  \n", 0, 1, "1:0 [\\x09]\n2:2 [  ]\n", 0},
        {"\n\r\n\ra\n\n", 0, 1, "4:4 [a]\n", 4},
        {"\"\"\n", 0, 1, "1:0 Q[]\n", 0},
        {"\"\",\"\"", 0, 2, "1:0 Q[] Q[]\n", 0},
        {"\"a,b\",c\n", 0, 2, "1:0 Q[a,b] [c]\n", 0},
        {"\"a\"\"b\",\"\"\"\"\r\nx,y\n", 0, 2, "1:0 Q[a\"b] Q[\"]\n2:13 [x] [y]\n", 0},
        {"\"a\r\nb\rc\nd\",e\nf,g\n", 0, 2,
         "1:0 Q[a\\x0d\\x0ab\\x0dc\\x0ad] [e]\n5:13 [f] [g]\n", 0},
        {"\"a\"", 0, 1, "1:0 Q[a]\n", 0},
        {"a\0b,\0\n", 6, 2, "1:0 [a\\x00b] [\\x00]\n", 0},
        {"a\n", 0, 2, "1:0 field_count (found 1 field, expected 2) <a>\n", 0},
        {"a,b,c\r\nx,y", 0, 2,
         "1:0 field_count (found 3 fields, expected 2) <a,b,c>\n2:7 [x] [y]\n", 0},
        {"\"a\",b,\"c\"\nx,y", 0, 2,
         "1:0 field_count (found 3 fields, expected 2) <\"a\",b,\"c\">\n2:10 [x] [y]\n", 0},
        {"bad,1\nx,2\n", 0, 2, "1:0 sink (no) <bad,1>\n2:6 [x] [2]\n", 0},
        {"a\"b,c\nx,y\n", 0, 2, "1:0 " BAD_PLAIN("1") " <a\"b,c>\n2:6 [x] [y]\n", 0},
        {"a,\"b\"c\r\nx,y", 0, 2,
         "1:0 " BAD_BEHIND("2", "c") " <a,\"b\"c>\n2:8 [x] [y]\n", 0},
        {"a, \"b\"\nx,y\n", 0, 2, "1:0 " BAD_PLAIN("2") " <a, \"b\">\n2:7 [x] [y]\n", 0},
        {"a,\"b\" \nx,y\n", 0, 2, "1:0 " BAD_BEHIND("2", " ") " <a,\"b\" >\n2:7 [x] [y]\n", 0},
        /* the fault is in the row's second line: that line is skipped, not the first one only */
        {"\"a\nb\"c,\"d\nx,y\n", 0, 2,
         "1:0 " BAD_BEHIND("1", "c") " <\"a\\x0ab\"c,\"d>\n3:10 [x] [y]\n", 0},
        {"a\"b", 0, 1, "1:0 " BAD_PLAIN("1") " <a\"b>\n", 0},
        {"a\"\r\"b\"\r", 0, 1, "1:0 " BAD_PLAIN("1") " <a\">\n2:3 Q[b]\n", 0},
        {"", 0, 2, "", 0},
        {"\xef\xbb\xbf" "a,b\n", 0, 2, "1:3 [a] [b]\n", 0},
        {"\xef\xbb\xbf", 0, 2, "", 0},
        {"\xef\xbb", 0, 1, "1:0 [\\xef\\xbb]\n", 0},
};

static const size_t piece_sizes[] = {1, 2, 3, 7, 64, 0};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
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
		const char *want; /* the log, or a part of the sentence */
	} t[] = {
	        {"x,y\n1,2\n", NULL, 0, "2:4 [1] [2]\n"},
	        {"x,y", NULL, 0, ""},
	        {"x,y\r", NULL, 0, ""},
	        {"\xef\xbb\xbf\"x\",y\r\n1,2", NULL, 0, "2:10 [1] [2]\n"},
	        {"\n\r\nx\n1", NULL, 0, "4:5 [1]\n"},
	        {"\"x\ny\",z\n1,2\n", NULL, 0, "3:8 [1] [2]\n"},
	        {"x,x,\n1,2,3\n", NULL, 0, "2:5 [1] [2] [3]\n"},
	        {"", NULL, RC_DATA, "in: empty, expected a header line"},
	        {"\xef\xbb\xbf\n\n", NULL, RC_DATA, "in: empty, expected a header line"},
	        {"x,\"y\n1,2\n", NULL, RC_DATA, "in:1 (byte 0): found the end of the input"},
	        {"\nx,y\"\n1,2\n", NULL, RC_DATA, "in:2: found a misplaced quote in column 2"},
	        {"x,y\n1,2", "\xef\xbb\xbf\"x\",y\r\n3,4\n", 0, "2:4 [1] [2]\n2:10 [3] [4]\n"},
	        {"x,y\n1,2", "x,y", 0, "2:4 [1] [2]\n"},
	        {"x,y\n1,2", "y,x\n3,4\n", RC_DATA,
	         "in2: found the header \"y,x\", expected \"x,y\" as in "},
	        {"x,y\n1,2", "x,y,z\n", RC_DATA, "found the header \"x,y,z\", expected \"x,y\""},
	        {"x,y\n1,2", "", RC_DATA, "in2: empty, expected a header line"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		for (size_t k = 0; k < 12; k++) {
			struct setup setup = {.header = true,
			                      .piece_bytes = piece_sizes[k / 2],
			                      .libcsv_only = k % 2};
			setup.files[setup.nfiles++] = put_file("in", t[i].first, strlen(t[i].first));
			if (t[i].second)
				setup.files[setup.nfiles++] =
				        put_file("in2", t[i].second, strlen(t[i].second));
			struct outcome o = run(&setup);
			assert_int_equal(o.rc, t[i].rc);
			if (o.rc == 0)
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
	struct job job = {.csv = {.header = true, .delimiter = ',', .quote = '"',
	                          .max_row_bytes = 100}};
	struct source_options options = {.job = &job, .files = &path, .nfiles = 1};
	struct source *s;
	struct error err;
	size_t n;

	(void)state;
	assert_int_equal(source_open(&s, &options, &err), 0);
	const char *const *names = source_columns(s, &n);
	assert_int_equal(n, 4);
	assert_string_equal(names[0], "one");
	assert_string_equal(names[1], "t\"wo");
	assert_string_equal(names[2], "");
	assert_string_equal(names[3], "one");
	source_close(s);
	options.nfiles = 0;
	assert_int_equal(source_open(&s, &options, &err), RC_CONFIG);
	job.csv.files = &path;
	job.csv.nfiles = 1;
	assert_int_equal(source_open(&s, &options, &err), 0);
	source_close(s);
}

/* ---- faults that end the run ---- */

static void expect_failure(const struct setup *setup, int rc, const char *part, const char *log)
{
	struct outcome o = run(setup);

	if (o.rc != rc || !strstr(o.err.msg, part))
		fail_msg("got %d \"%s\", expected %d \"%s\"", o.rc, o.err.msg, rc, part);
	if (log)
		assert_string_equal(LOG(o), log);
	drop(&o);
}

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
	struct job job = {.csv = {.columns = columns, .ncolumns = 2, .delimiter = ',', .quote = '"',
	                          .max_row_bytes = 100}};
	const char *file = path;
	struct source_options options = {.job = &job, .files = &file, .nfiles = 1, .piece_bytes = 8};
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

/* ---- compressed input, several files, streams ---- */

static void gz_append(struct buf *out, const void *data, size_t len)
{
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.avail_out = (uInt)deflateBound(&z, len);
	z.next_out = buf_reserve(out, z.avail_out);
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)len;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->len += z.total_out;
	deflateEnd(&z);
}

static void zstd_append(struct buf *out, const void *data, size_t len)
{
	size_t room = ZSTD_compressBound(len);
	size_t n = ZSTD_compress(buf_reserve(out, room), room, data, len, 3);

	assert_false(ZSTD_isError(n));
	out->len += n;
}

/* Enough rows that buffers of all kinds are filled several times; one in 50 is quoted. */
static struct buf many_rows(unsigned n)
{
	struct buf b = {0};

	for (unsigned i = 0; i < n; i++)
		buf_printf(&b, i % 50 ? "%u,value %x\n" : "%u,\"line\n\"\"%x\"\r\n", i,
		           i * 2654435761u);
	return b;
}

static void check_same(struct setup setup, struct bytes content, const char *log, bool compressed)
{
	XXH128_canonical_t digest;

	setup.files[0] = put_file("packed", content.ptr, content.len);
	struct outcome o = run(&setup);
	assert_int_equal(o.rc, 0);
	assert_string_equal(LOG(o), log);
	assert_int_equal(o.file[0].compressed, compressed);
	assert_int_equal(o.file[0].size, content.len);
	assert_int_equal(o.file[0].rows, o.counts.events);
	assert_int_equal(o.done, content.len);
	XXH128_canonicalFromHash(&digest, XXH3_128bits(content.ptr, content.len));
	assert_memory_equal(o.file[0].digest, digest.digest, 16);
	drop(&o);
}

static void test_compressed(void **state)
{
	static const size_t pieces[] = {64, 4096, 0};
	struct buf plain = many_rows(40000), gz = {0}, zst = {0};
	size_t half = plain.len / 2;
	struct outcome o = run_text((struct setup){.ncolumns = 2}, plain.ptr, 0);

	(void)state;
	drop(&o);
	struct setup setup = {.ncolumns = 2, .nfiles = 1};
	setup.files[0] = put_file("plain", plain.ptr, plain.len);
	o = run(&setup);
	assert_int_equal(o.counts.events, 40000);
	gz_append(&gz, plain.ptr, half);
	gz_append(&gz, "", 0);
	gz_append(&gz, plain.ptr + half, plain.len - half);
	zstd_append(&zst, plain.ptr, half);
	zstd_append(&zst, "", 0);
	zstd_append(&zst, plain.ptr + half, plain.len - half);
	for (size_t i = 0; i < 3; i++) {
		setup.piece_bytes = pieces[i];
		setup.threads = (unsigned)i + 1;
		check_same(setup, buf_bytes(&plain), LOG(o), false);
		check_same(setup, buf_bytes(&gz), LOG(o), true);
		check_same(setup, buf_bytes(&zst), LOG(o), true);
	}
	for (int i = 0; i < 700; i++)
		buf_put(&gz, 0);
	check_same(setup, buf_bytes(&gz), LOG(o), true);
	drop(&o);
	buf_release(&plain);
	buf_release(&gz);
	buf_release(&zst);
}

/* Cut or changed anywhere, a compressed file is either refused or (never) read otherwise. */
static void test_damaged(void **state)
{
	struct buf plain = many_rows(300);
	struct setup setup = {.ncolumns = 2, .nfiles = 1};

	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		struct buf packed = {0};
		if (kind)
			zstd_append(&packed, plain.ptr, plain.len);
		else
			gz_append(&packed, plain.ptr, plain.len);
		for (size_t cut = 4; cut < packed.len; cut += cut < 40 ? 1 : 97) {
			setup.files[0] = put_file("packed", packed.ptr, cut);
			expect_failure(&setup, RC_DATA, "packed: truncated", NULL);
		}
		setup.files[0] = put_file("packed", packed.ptr, packed.len - 1);
		expect_failure(&setup, RC_DATA, "packed: truncated", NULL);
		buf_append_str(&packed, "garbage, not a frame");
		setup.files[0] = put_file("packed", packed.ptr, packed.len);
		expect_failure(&setup, RC_DATA, "packed: damaged", NULL);
		packed.len -= 20;
		if (!kind) {
			packed.ptr[packed.len - 6] ^= 1; /* CRC-32 */
			setup.files[0] = put_file("packed", packed.ptr, packed.len);
			expect_failure(&setup, RC_DATA, "damaged gzip data near byte", NULL);
		}
		buf_release(&packed);
	}
	buf_release(&plain);
}

static void test_several_files(void **state)
{
	struct setup setup = {.header = true, .nfiles = 4};
	struct buf gz = {0};

	(void)state;
	gz_append(&gz, "k,v\r\n5,6", 8);
	for (size_t k = 0; k < 24; k++) {
		setup.piece_bytes = piece_sizes[k / 4];
		setup.libcsv_only = k % 2;
		setup.threads = k % 4 < 2 ? 1 : 3;
		setup.files[0] = put_file("1", "k,v\n1,2\nbad,4", 13);
		setup.files[1] = put_file("2", "k,v\n", 4);
		setup.files[2] = put_file("3", gz.ptr, gz.len);
		setup.files[3] = put_file("4", "\"k\",\"v\"\n7,8\n\n9\n", 15);
		struct outcome o = run(&setup);
		assert_int_equal(o.rc, 0);
		assert_string_equal(LOG(o),
		                    "2:4 [1] [2]\n3:8 sink (no) <bad,4>\n2:5 [5] [6]\n2:8 [7] [8]\n"
		                    "4:13 field_count (found 1 field, expected 2) <9>\n");
		assert_int_equal(o.file[0].rows, 2);
		assert_int_equal(o.file[1].rows, 0);
		assert_int_equal(o.file[2].rows, 1);
		assert_int_equal(o.file[3].rows, 2);
		assert_true(o.file[2].compressed && !o.file[3].compressed);
		assert_int_equal(o.counts.events, 5);
		assert_int_equal(o.counts.rejects, 2);
		assert_int_equal(o.counts.blank_lines, 1);
		assert_int_equal(o.total, 13 + 4 + gz.len + 15);
		assert_int_equal(o.done, o.total);
		drop(&o);
	}
	buf_release(&gz);
}

struct feed {
	int fd;
	struct bytes data;
};

static void *feed_main(void *arg)
{
	struct feed *f = arg;

	/* One by one at first, so that the magic bytes come in parts. */
	for (size_t i = 0; i < f->data.len; i += i < 8 ? 1 : 1000) {
		size_t n = i < 8 ? 1 : f->data.len - i < 1000 ? f->data.len - i : 1000;
		assert_int_equal(write(f->fd, f->data.ptr + i, n), n);
	}
	close(f->fd);
	return NULL;
}

static void test_standard_input(void **state)
{
	struct buf plain = many_rows(3000), gz = {0};
	struct setup setup = {.ncolumns = 2, .nfiles = 1};
	int saved = dup(STDIN_FILENO);

	(void)state;
	gz_append(&gz, plain.ptr, plain.len);
	setup.files[0] = put_file("plain", plain.ptr, plain.len);
	struct outcome want = run(&setup);
	for (int k = 0; k < 2; k++) {
		int ends[2];
		pthread_t thread;
		assert_int_equal(pipe(ends), 0);
		struct feed feed = {ends[1], buf_bytes(k ? &gz : &plain)};
		assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
		close(ends[0]);
		pthread_create(&thread, NULL, feed_main, &feed);
		setup.files[0] = "-";
		struct outcome o = run(&setup);
		pthread_join(thread, NULL);
		assert_int_equal(o.rc, 0);
		assert_string_equal(LOG(o), LOG(want));
		assert_int_equal(o.total, 0);
		assert_int_equal(o.file[0].size, feed.data.len);
		drop(&o);
	}
	drop(&want);
	dup2(saved, STDIN_FILENO);
	close(saved);
	buf_release(&plain);
	buf_release(&gz);
}

/* ---- random input ---- */

static uint64_t random_state = 20240229;

/* xorshift64* (Vigna 2016) */
static unsigned pick(unsigned below)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (unsigned)((random_state * 0x2545f4914f6cdd1dULL) >> 33) % below;
}

static void expect_same(const struct setup *setup, struct bytes text, const struct outcome *want)
{
	struct outcome o = run_text(*setup, text.ptr, text.len);

	if (o.rc != want->rc || strcmp(LOG(o), LOG(*want)) != 0 ||
	    o.counts.blank_lines != want->counts.blank_lines) {
		struct buf b = {0};
		show(&b, text);
		buf_put(&b, 0);
		fail_msg("input <%s> pieces of %zu: %d\n%s\nexpected %d\n%s", (char *)b.ptr,
		         setup->piece_bytes, o.rc, LOG(o), want->rc, LOG(*want));
	}
	/* but for the name, which is another one each time */
	if (o.rc < 0)
		assert_string_equal(strchr(o.err.msg, ':'), strchr(want->err.msg, ':'));
	drop(&o);
}

/*
 * Any input, malformed or not: the same for the fast path and for libcsv alone, and for pieces of
 * all sizes.  Blocks of 64 bytes must be crossed, so some inputs are long runs of text.
 */
static void test_random(void **state)
{
	static const char alphabet[] = "a,\"\n\r bx,\"\n\"a,";
	struct buf text = {0};

	(void)state;
	for (unsigned round = 0; round < 30000; round++) {
		unsigned len = pick(round % 8 ? 24 : 300), calm = pick(4);
		text.len = 0;
		for (unsigned i = 0; i < len; i++)
			buf_put(&text, (uint8_t)alphabet[calm && pick(4) ? 0 : pick(15)]);
		struct setup setup = {.ncolumns = 1 + pick(3), .libcsv_only = true};
		setup.piece_bytes = 1000;
		setup.max_row_bytes = pick(20) ? 0 : 10;
		struct outcome want = run_text(setup, text.ptr, text.len);
		setup.libcsv_only = false;
		expect_same(&setup, buf_bytes(&text), &want);
		setup.piece_bytes = 1 + pick(9);
		expect_same(&setup, buf_bytes(&text), &want);
		setup.libcsv_only = true;
		expect_same(&setup, buf_bytes(&text), &want);
		drop(&want);
	}
	buf_release(&text);
}

/* Write one random field to text and what it means to log. */
static void random_field(struct buf *text, struct buf *log)
{
	static const char plain[] = "ab c\tz", quoted[] = "ab ,\"\n\r\"";
	bool in_quotes = pick(3) == 0;
	unsigned len = pick(10) ? pick(6) : pick(150);
	struct buf value = {0};

	for (unsigned i = 0; i < len; i++)
		buf_put(&value, (uint8_t)(in_quotes ? quoted[pick(8)] : plain[pick(6)]));
	buf_append_str(log, in_quotes ? " Q[" : " [");
	show(log, buf_bytes(&value));
	buf_put(log, ']');
	if (in_quotes)
		buf_put(text, '"');
	for (size_t i = 0; i < value.len; i++) {
		if (value.ptr[i] == '"')
			buf_put(text, '"');
		buf_put(text, value.ptr[i]);
	}
	if (in_quotes)
		buf_put(text, '"');
	buf_release(&value);
}

/* Well-formed input (RFC 4180, and lone \r): exactly the fields that were written come back. */
static void test_well_formed(void **state)
{
	static const char *const ends[] = {"\n", "\r\n", "\r"};
	struct buf text = {0}, log = {0};

	(void)state;
	for (unsigned round = 0; round < 10000; round++) {
		unsigned rows = pick(8);
		text.len = log.len = 0;
		for (unsigned i = 0; i < rows; i++) {
			buf_printf(&log, "%llu:%zu",
			           (unsigned long long)naive_line(buf_bytes(&text), text.len), text.len);
			for (int k = 0; k < 3; k++) {
				random_field(&text, &log);
				if (k < 2)
					buf_put(&text, ',');
			}
			buf_put(&log, '\n');
			if (i + 1 < rows || pick(2))
				buf_append_str(&text, ends[pick(3)]);
		}
		buf_put(&log, 0);
		struct outcome want = {.log = log};
		struct setup setup = {.ncolumns = 3};
		setup.piece_bytes = pick(2) ? 2000 : 1 + pick(100);
		setup.libcsv_only = pick(4) == 0;
		expect_same(&setup, buf_bytes(&text), &want);
	}
	buf_release(&text);
	buf_release(&log);
}

/* Write a row of n plain fields and what it means to log; odd: a field is missing. */
static void plain_row(struct buf *text, struct buf *log, size_t line, unsigned n, unsigned most,
                      bool odd)
{
	struct buf fields = {0};
	size_t start = text->len;

	for (unsigned k = odd; k < n; k++) {
		unsigned len = pick(most) + (n - odd == 1);
		buf_append_str(&fields, " [");
		for (unsigned i = 0; i < len; i++) {
			uint8_t c = (uint8_t)"ab c\tz"[pick(6)];
			buf_put(text, c);
			show(&fields, bytes_of(&c, 1));
		}
		buf_put(&fields, ']');
		if (k + 1 < n)
			buf_put(text, ',');
	}
	buf_printf(log, "%zu:%zu", line, start);
	if (odd) {
		buf_printf(log, " field_count (found %u field%s, expected %u) <", n - 1,
		           n == 2 ? "" : "s", n);
		show(log, bytes_of(text->ptr + start, text->len - start));
		buf_put(log, '>');
	} else {
		buf_append(log, fields.ptr, fields.len);
	}
	buf_put(log, '\n');
	buf_release(&fields);
}

/*
 * Rows that are split many at a time: windows of marks end anywhere, in the middle of a line end
 * too, rows are longer than a window, and now and then one is not for this way.
 */
static void test_windows(void **state)
{
	static const char *const ends[] = {"\n", "\r\n", "\r"};
	struct buf text = {0}, log = {0};

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		unsigned n = 1 + pick(6), most = round % 10 ? 2 + pick(12) : 5000, end = pick(3), mix = pick(2);
		size_t lines = 0;
		struct outcome want = {0};
		text.len = log.len = 0;
		while (text.len < 20000) {
			plain_row(&text, &log, lines + 1, n, most, n > 1 && mix && pick(40) == 0);
			for (unsigned blank = mix && pick(60) == 0 ? 0 : 1; blank < 2; blank++) {
				const char *e = ends[mix && pick(9) == 0 ? pick(3) : end];
				bool joins = *e == '\n' && text.ptr[text.len - 1] == '\r';
				buf_append_str(&text, joins ? "\r" : e);
				lines++;
				if (blank == 0)
					want.counts.blank_lines++;
			}
		}
		const uint8_t *last = text.ptr + text.len - 2;
		if (last[1] == '\n' && last[0] != '\n' && last[0] != '\r' && pick(2))
			text.len--;
		buf_put(&log, 0);
		want.log = log;
		struct setup setup = {.ncolumns = n};
		for (setup.piece_bytes = 100000; setup.piece_bytes > 50; setup.piece_bytes /= 7)
			expect_same(&setup, buf_bytes(&text), &want);
		setup.libcsv_only = true;
		expect_same(&setup, buf_bytes(&text), &want);
	}
	buf_release(&text);
	buf_release(&log);
}

static void test_threads(void **state)
{
	struct buf text = many_rows(20000);
	struct setup setup = {.ncolumns = 2, .nfiles = 1};

	(void)state;
	setup.files[0] = put_file("plain", text.ptr, text.len);
	struct outcome want = run(&setup);
	for (unsigned threads = 2; threads <= 4; threads++) {
		for (size_t piece = 200; piece < 100000; piece *= 9) {
			setup.threads = threads;
			setup.piece_bytes = piece;
			struct outcome o = run(&setup);
			assert_string_equal(LOG(o), LOG(want));
			assert_int_equal(o.counts.events, 20000);
			assert_int_equal(o.file[0].rows, 20000);
			drop(&o);
		}
	}
	drop(&want);
	buf_release(&text);
}

static int make_dir(void **state)
{
	const char *base = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/test_source.XXXXXX", base ? base : "/tmp");
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	struct error err;

	(void)state;
	return io_remove_tree(dir, &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_cases),
	        cmocka_unit_test(test_delimiters),
	        cmocka_unit_test(test_header),
	        cmocka_unit_test(test_columns),
	        cmocka_unit_test(test_fatal_rows),
	        cmocka_unit_test(test_endless_line),
	        cmocka_unit_test(test_bad_files),
	        cmocka_unit_test(test_file_changed),
	        cmocka_unit_test(test_sink_stops),
	        cmocka_unit_test(test_compressed),
	        cmocka_unit_test(test_damaged),
	        cmocka_unit_test(test_several_files),
	        cmocka_unit_test(test_standard_input),
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_well_formed),
	        cmocka_unit_test(test_windows),
	        cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
