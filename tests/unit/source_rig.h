/*
 * source_rig.h - delimited text read by one or several threads, logged as one line an event
 *
 * Include it after cmocka.h.
 */
#ifndef SALTMILL_TEST_SOURCE_RIG_H
#define SALTMILL_TEST_SOURCE_RIG_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "source.h"

static char dir[96];

struct setup {
	const char *files[4]; /* paths; by default one file "in" in `dir` */
	size_t nfiles;
	bool header;
	size_t ncolumns;	/* at most 8 names, for input without a header */
	uint8_t delimiter;	/* 0: default, a comma */
	uint64_t max_row_bytes; /* 0: default, 1 MiB */
	size_t piece_bytes;
	bool libcsv_only;
	unsigned threads; /* 0: default, one */
	struct pattern *skip;
};

struct record {
	uint64_t seq;
	char *text;
};

/* The events that one thread read. */
struct seen {
	struct source *source;
	struct record *records;
	size_t n, cap;
	struct bytes naive; /* the decoded file, to check positions; NULL for no check */
	const char *stop_reject;
	struct source_counts counts;
	struct error err;
	int rc;
};

struct outcome {
	struct buf log; /* one line an event or reject, in order of seq */
	int rc;		/* result of source_open or source_work; RC_END becomes 0 */
	struct error err;
	struct source_counts counts;
	struct source_file file[4];
	uint64_t done, total;
};

static inline const char *path_of(const char *name)
{
	static char paths[8][128];
	static unsigned turn;
	char *p = paths[turn++ % 8];

	snprintf(p, sizeof paths[0], "%s/%s", dir, name);
	return p;
}

static inline const char *put_file(const char *name, const void *data, size_t len)
{
	const char *path = path_of(name);

	unlink(path);
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	return path;
}

static inline void show(struct buf *b, struct bytes v)
{
	for (size_t i = 0; i < v.len; i++) {
		if (v.ptr[i] < 0x20 || v.ptr[i] >= 0x7f)
			buf_printf(b, "\\x%02x", v.ptr[i]);
		else
			buf_put(b, v.ptr[i]);
	}
}

static inline void keep(struct seen *t, uint64_t seq, struct buf *line)
{
	buf_put(line, 0);
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 64;
		t->records = mem_realloc(t->records, t->cap * sizeof *t->records);
	}
	t->records[t->n++] = (struct record){seq, (char *)line->ptr};
}

static inline uint64_t naive_line(struct bytes all, uint64_t offset)
{
	uint64_t line = 1;

	for (uint64_t i = 0; i < offset; i++)
		line += all.ptr[i] == '\n' ? !(i > 0 && all.ptr[i - 1] == '\r')
					   : all.ptr[i] == '\r';
	return line;
}

static inline void check_place(const struct seen *t, uint64_t line, uint64_t offset,
			       struct bytes raw)
{
	if (!t->naive.ptr)
		return;
	assert_int_equal(line, naive_line(t->naive, offset));
	assert_true(offset + raw.len <= t->naive.len);
	assert_memory_equal(raw.ptr, t->naive.ptr + offset, raw.len);
}

/* Rejects events whose first column is "bad". */
static inline int on_event(void *ctx, const struct event *e, struct reject *why)
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

static inline int on_reject(void *ctx, const struct rejected *r, struct error *err)
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

static inline void *thread_main(void *arg)
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

static inline int by_seq(const void *a, const void *b)
{
	uint64_t x = ((const struct record *)a)->seq, y = ((const struct record *)b)->seq;

	return (x > y) - (x < y);
}

static inline void gather(struct outcome *o, struct seen *t, unsigned n)
{
	struct seen all = {0};

	for (unsigned i = 0; i < n; i++) {
		for (size_t k = 0; k < t[i].n; k++) {
			assert_true(k == 0 || t[i].records[k].seq > t[i].records[k - 1].seq);
			if (all.n == all.cap) {
				all.cap = all.cap ? 2 * all.cap : 64;
				all.records =
					mem_realloc(all.records, all.cap * sizeof *all.records);
			}
			all.records[all.n++] = t[i].records[k];
		}
		o->counts.events += t[i].counts.events;
		o->counts.rejects += t[i].counts.rejects;
		o->counts.filtered += t[i].counts.filtered;
		o->counts.filtered_lines += t[i].counts.filtered_lines;
		o->counts.rejected_lines += t[i].counts.rejected_lines;
		o->counts.blank_lines += t[i].counts.blank_lines;
		o->rc = t[i].rc == RC_END ? o->rc : t[i].rc;
		o->err = t[i].rc == RC_END ? o->err : t[i].err;
		mem_free(t[i].records);
	}
	if (all.n)
		qsort(all.records, all.n, sizeof *all.records, by_seq);
	for (size_t k = 0; k < all.n; k++) {
		assert_true(k == 0 || all.records[k].seq > all.records[k - 1].seq);
		buf_printf(&o->log, "%s\n", all.records[k].text);
		mem_free(all.records[k].text);
	}
	mem_free(all.records);
}

static inline struct outcome run_with(const struct setup *setup, struct bytes naive,
				      const char *stop)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	const char *columns[8];
	unsigned n = setup->threads ? setup->threads : 1;
	struct outcome o = {0};
	struct seen t[4] = {0};
	pthread_t threads[4];
	struct job job = {0};

	memcpy(columns, names, sizeof columns);
	job.csv.header = setup->header;
	job.csv.columns = columns;
	job.csv.ncolumns = setup->ncolumns;
	job.csv.delimiter = setup->delimiter ? setup->delimiter : ',';
	job.csv.quote = '"';
	job.csv.skip_matching = setup->skip;
	job.csv.max_row_bytes = setup->max_row_bytes ? setup->max_row_bytes : 1 << 20;
	const struct input input = {.files = setup->files, .nfiles = setup->nfiles};
	struct source_options options = {.job = &job,
					 .input = &input,
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
	memcpy(o.file, files, nfiles * sizeof *files);
	for (size_t i = 0; i < nfiles; i++)
		assert_string_equal(files[i].path, setup->files[i]);
	source_progress(s, &o.done, &o.total);
	source_close(s);
	buf_put(&o.log, 0);
	return o;
}

static inline struct outcome run(const struct setup *setup)
{
	return run_with(setup, bytes_of(NULL, 0), NULL);
}

/* Reads the same text from memory and checks positions. */
static inline struct outcome run_text(struct setup setup, const void *data, size_t len)
{
	char path[64];
	int fd = memfd_create("in", 0); /* avoids tens of thousands of small files on disk */

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	setup.files[0] = path;
	setup.nfiles = 1;
	struct outcome o = run_with(&setup, bytes_of(data, len), NULL);
	close(fd);
	return o;
}

static inline void drop(struct outcome *o)
{
	buf_release(&o->log);
}

#define LOG(o) ((o).log.ptr ? (const char *)(o).log.ptr : "")

static inline void expect_failure(const struct setup *setup, int rc, const char *part,
				  const char *log)
{
	struct outcome o = run(setup);

	if (o.rc != rc || !strstr(o.err.msg, part))
		fail_msg("got %d \"%s\", expected %d \"%s\"", o.rc, o.err.msg, rc, part);
	if (log)
		assert_string_equal(LOG(o), log);
	drop(&o);
}

/* Makes enough rows to fill each buffer several times. One row in 50 has quotes. */
static inline struct buf many_rows(unsigned n)
{
	struct buf b = {0};

	for (unsigned i = 0; i < n; i++)
		buf_printf(&b, i % 50 ? "%u,value %x\n" : "%u,\"line\n\"\"%x\"\r\n", i,
			   i * 2654435761u);
	return b;
}

static const size_t piece_sizes[] = {1, 2, 3, 7, 64, 0};

static inline int make_dir(void **state)
{
	const char *base = getenv("TMPDIR");

	snprintf(dir, sizeof dir, "%s/test_source.XXXXXX", base ? base : "/tmp");
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
	struct error err;

	(void)state;
	return io_remove_tree(dir, &err);
}

#endif
