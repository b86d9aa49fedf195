/*
 * block_events.h - checks that a file gives the same events in pieces of any size, or an error
 */
#ifndef SALTMILL_FUZZ_BLOCK_EVENTS_H
#define SALTMILL_FUZZ_BLOCK_EVENTS_H

#include "memory_file.h"

#include "mem.h"
#include "source.h"

enum { BLOCK_MOST = 1 << 20, LOG_MOST = 1 << 20 };

static inline int note_event(void *ctx, const struct event *e, struct reject *why)
{
	struct buf *log = ctx;

	for (size_t i = 0; i < e->ncolumns; i++) {
		const struct column *c = &e->columns[i];
		uint8_t behind[EVENT_ROOM_BYTES];

		if (c->absent)
			continue;
		if (e->roomy && c->len > 0) /* a reader may read the padding */
			memcpy(behind, c->ptr + c->len - 1, sizeof behind);
		if (log->len < LOG_MOST)
			buf_append(log, c->ptr, c->len < 99 ? c->len : 99);
	}
	if (log->len < LOG_MOST)
		buf_printf(log, " %llu %llu %llu\n", (unsigned long long)e->seq,
			   (unsigned long long)e->line, (unsigned long long)e->offset);
	if (e->line % 5 != 0)
		return RC_OK;
	return reject_set(why, "fifth", NULL, "each fifth event is refused");
}

static inline int note_reject(void *ctx, const struct rejected *r, struct error *err)
{
	struct buf *log = ctx;

	(void)err;
	if (log->len < LOG_MOST) {
		buf_printf(log, "%llu:", (unsigned long long)r->block);
		buf_append(log, r->raw.ptr, r->raw.len < 999 ? r->raw.len : 999);
	}
	return RC_OK;
}

static inline int read_events(const char *path, const struct job *job, size_t piece_bytes,
			      struct buf *log, struct error *err)
{
	const struct input input = {.files = &path, .nfiles = 1};
	struct source_options options = {.job = job, .input = &input, .piece_bytes = piece_bytes};
	struct source_sink sink = {.ctx = log, .event = note_event, .reject = note_reject};
	struct source *source;
	int rc = source_open(&source, &options, err);
	if (rc)
		return rc;
	struct source_worker *w = source_worker_new(source);
	while (rc == RC_OK)
		rc = source_work(w, &sink, err);
	source_worker_free(w);
	source_close(source);
	return rc;
}

/* Returns RC_END, or the error of both readings. */
static inline int same_in_pieces(const struct job *job, size_t piece_bytes, struct bytes file)
{
	struct buf small = {0}, large = {0};
	struct error err, other;
	char path[64];
	int fd = memory_file(file, path);
	int rc = read_events(path, job, piece_bytes, &small, &err);
	int again = read_events(path, job, 1 << 16, &large, &other);
	expect_sentence(rc, &err);
	expect_sentence(again, &other);
	if ((rc == RC_END) != (again == RC_END))
		abort();
	if (rc == RC_END)
		expect_same(buf_bytes(&small), buf_bytes(&large));
	buf_release(&small);
	buf_release(&large);
	close(fd);
	return rc;
}

/* The first byte chooses the size of the small pieces. The rest is the file. */
static inline void fuzz_blocks(enum source_kind kind, const uint8_t *data, size_t size)
{
	static const char *names[] = {"id", "v", "w.x", "l[0]", "m.k", "t"};

	enum { N = sizeof names / sizeof *names };
	struct field fields[N];
	struct job job = {.path = "job",
			  .source = kind,
			  .kafka = {.format = KAFKA_JSON},
			  .csv = {.delimiter = ',', .quote = '"', .max_row_bytes = BLOCK_MOST},
			  .fields = fields,
			  .nfields = kind == SOURCE_ARROW ? 3 : N};

	for (size_t i = 0; i < N; i++)
		fields[i] = (struct field){.name = names[i], .columns = &names[i], .ncolumns = 1};
	if (kind == SOURCE_ARROW)
		fields[2].columns = &names[5];
	fields[job.nfields - 1].type = FIELD_TIME;
	fields[job.nfields - 1].unit = TIME_OF_SOURCE;
	if (size)
		same_in_pieces(&job, 1 + data[0], bytes_of(data + 1, size - 1));
}

#endif
