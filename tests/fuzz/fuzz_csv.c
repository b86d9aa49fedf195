/*
 * fuzz_csv.c - any input gives the same rows on the fast path, with libcsv alone, in any pieces,
 * and in batches
 *
 * The first byte chooses columns, header, the size of small pieces and of the longest row. The
 * second byte chooses the dialect. The rest is the input.
 */
#include "memory_file.h"

#include "mem.h"
#include "source.h"

/* The log of events, in order. If `brief` is true, the log has only the data of a row that batches
 * also have. */
struct log {
	struct buf text;
	bool brief;
	unsigned batches;
};

static void put_field(struct log *log, bool quoted, struct bytes field)
{
	buf_printf(&log->text, " %zu%d:", field.len, quoted);
	buf_append(&log->text, field.ptr, field.len);
}

static int on_event(void *ctx, const struct event *e, struct reject *why)
{
	struct log *log = ctx;

	(void)why;
	buf_printf(&log->text, "%llu", (unsigned long long)e->seq);
	for (size_t i = 0; i < e->ncolumns; i++)
		put_field(log, e->columns[i].quoted && !log->brief,
			  bytes_of(e->columns[i].ptr, e->columns[i].len));
	if (log->brief)
		return RC_OK;
	buf_printf(&log->text, " %llu %llu", (unsigned long long)e->line,
		   (unsigned long long)e->offset);
	buf_append(&log->text, e->raw.ptr, e->raw.len);
	return RC_OK;
}

/* Refuses some batches. The rows of these batches then come one by one. */
static int on_rows(void *ctx, const struct event_rows *r, bool *taken)
{
	struct log *log = ctx;

	*taken = ++log->batches % 4 != 0;
	for (size_t i = 0; *taken && i < r->n; i++) {
		buf_printf(&log->text, "%llu", (unsigned long long)(r->seq + rows_start(r, i)));
		for (size_t k = 0; k < r->ncolumns; k++) {
			struct row_field f = row_field(r->ends + i * r->stride + k);

			put_field(log, false, bytes_of(r->text + f.at, f.len));
		}
	}
	return RC_OK;
}

static int on_reject(void *ctx, const struct rejected *r, struct error *err)
{
	struct log *log = ctx;

	(void)err;
	buf_printf(&log->text, "%llu %llu %llu %s", (unsigned long long)r->seq,
		   (unsigned long long)r->line, (unsigned long long)r->offset, r->why.detail);
	buf_append(&log->text, r->raw.ptr, r->raw.len);
	return RC_OK;
}

enum { WHOLE = 1 << 16 }; /* `piece` is the whole input of libFuzzer */
enum way { FAST, LIBCSV, TOGETHER };

static void run(const char *path, uint8_t choice, uint8_t dialect, size_t piece_bytes, enum way way,
		struct log *log)
{
	static const char *columns[] = {"a", "b", "c", "d"}, *find[] = {"a"};
	struct job job = {.csv = {.header = choice & 4,
				  .columns = columns,
				  .ncolumns = 1 + (choice & 3),
				  .delimiter = ',',
				  .quote = '"',
				  .trim = (dialect & 3) % 3,
				  .has_comment = dialect & 4,
				  .comment = '#',
				  .missing = dialect & 8 ? MISSING_NULL : MISSING_REJECT,
				  .extra = dialect & 16 ? EXTRA_EMPTY : EXTRA_REJECT,
				  .skip = dialect >> 5 & 1,
				  .skip_footer = dialect >> 6 & 1,
				  .find = find,
				  .nfind = dialect >> 7,
				  .max_row_bytes = choice & 8 ? 200 : 1 << 20}};
	const struct input input = {.files = &path, .nfiles = 1};
	struct source_options options = {.job = &job,
					 .input = &input,
					 .piece_bytes = piece_bytes,
					 .libcsv_only = way == LIBCSV};
	struct source_sink sink = {.ctx = log,
				   .event = on_event,
				   .reject = on_reject,
				   .rows = way == TOGETHER ? on_rows : NULL};
	struct source *s;
	struct error err;

	int rc = source_open(&s, &options, &err);
	if (rc == RC_OK) {
		struct source_worker *w = source_worker_new(s);

		while ((rc = source_work(w, &sink, &err)) == 0)
			;
		source_worker_free(w);
		source_close(s);
	}
	if (rc < 0)
		buf_append_str(&log->text, err.msg);
}

static void expect_equal(const struct log *a, const struct log *b)
{
	expect_same(buf_bytes(&a->text), buf_bytes(&b->text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct log want = {0}, small = {0}, alone = {0};
	struct log brief = {.brief = true}, together = {.brief = true};
	char path[64];
	/*
	 * The number of rows before damaged compressed data depends on the piece, so the test does
	 * not compare it.
	 */
	bool compressed = size > 2 && (data[2] == 0x1f || data[2] == 0x28 || data[2] >> 4 == 5);

	if (size < 2 || compressed)
		return 0;
	int fd = memory_file(bytes_of(data + 2, size - 2), path);
	run(path, data[0], data[1], WHOLE, FAST, &want);
	run(path, data[0], data[1], 1 + (data[0] >> 3), FAST, &small);
	run(path, data[0], data[1], 1 + (data[0] >> 2), LIBCSV, &alone);
	run(path, data[0], data[1], WHOLE, LIBCSV, &brief);
	run(path, data[0], data[1], data[0] >> 4 ? 1u << (data[0] >> 4) : WHOLE, TOGETHER,
	    &together);
	expect_equal(&want, &small);
	expect_equal(&want, &alone);
	expect_equal(&brief, &together);
	struct log *all[] = {&want, &small, &alone, &brief, &together};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		buf_release(&all[i]->text);
	close(fd);
	return 0;
}
