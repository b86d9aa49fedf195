/*
 * fuzz_csv.c - any input gives the same rows through the fast path, libcsv alone, and any pieces
 *
 * The first byte chooses columns, header, the size of small pieces and of the longest row; the rest
 * is the input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mem.h"
#include "pipeline/source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_event(void *ctx, const struct event *e, struct reject *why)
{
	struct buf *log = ctx;

	(void)why;
	buf_printf(log, "%llu %llu %llu", (unsigned long long)e->seq, (unsigned long long)e->line,
	           (unsigned long long)e->offset);
	for (size_t i = 0; i < e->ncolumns; i++) {
		buf_printf(log, " %u%d:", e->columns[i].len, e->columns[i].quoted);
		buf_append(log, e->columns[i].ptr, e->columns[i].len);
	}
	buf_append(log, e->raw.ptr, e->raw.len);
	return RC_OK;
}

static int on_reject(void *ctx, const struct rejected *r, struct error *err)
{
	struct buf *log = ctx;

	(void)err;
	buf_printf(log, "%llu %llu %llu %s", (unsigned long long)r->seq, (unsigned long long)r->line,
	           (unsigned long long)r->offset, r->why.detail);
	buf_append(log, r->raw.ptr, r->raw.len);
	return RC_OK;
}

static void run(const char *path, uint8_t choice, size_t piece_bytes, bool libcsv_only,
                struct buf *log)
{
	static const char *columns[] = {"a", "b", "c", "d"};
	struct job job = {.csv = {.header = choice & 4, .columns = columns,
	                          .ncolumns = 1 + (choice & 3), .delimiter = ',', .quote = '"',
	                          .max_row_bytes = choice & 8 ? 200 : 1 << 20}};
	struct source_options options = {.job = &job, .files = &path, .nfiles = 1,
	                                 .piece_bytes = piece_bytes,
	                                 .libcsv_only = libcsv_only};
	struct source_sink sink = {.ctx = log, .event = on_event, .reject = on_reject};
	struct source *s;
	struct error err;

	int rc = source_open(&s, &options, &err);
	if (rc == 0) {
		struct source_worker *w = source_worker_new(s);
		while ((rc = source_work(w, &sink, &err)) == 0)
			;
		source_worker_free(w);
		source_close(s);
	}
	if (rc < 0)
		buf_append_str(log, err.msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf want = {0}, small = {0}, alone = {0};
	char path[64];
	int fd = memfd_create("csv", 0);

	/* How many rows come before damaged compressed data depends on the piece: not that. */
	bool compressed = size > 1 && (data[1] == 0x1f || data[1] == 0x28 || data[1] >> 4 == 5);

	if (size == 0 || compressed || fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)(size - 1)) {
		close(fd);
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	run(path, data[0], 0, false, &want);
	run(path, data[0], 1 + (data[0] >> 3), false, &small);
	run(path, data[0], 1 + (data[0] >> 2), true, &alone);
	if (!bytes_eq(buf_bytes(&want), buf_bytes(&small)) ||
	    !bytes_eq(buf_bytes(&want), buf_bytes(&alone)))
		abort();
	buf_release(&want);
	buf_release(&small);
	buf_release(&alone);
	close(fd);
	return 0;
}
