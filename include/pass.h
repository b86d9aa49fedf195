/*
 * pass.h - the first half of every command that reads events: source -> row, on all threads
 *
 *   reading_open, reading_run, reading_close
 *
 * Every thread takes pieces of the input, encodes their events and hands the records to a sink.
 */
#ifndef SALTMILL_PASS_H
#define SALTMILL_PASS_H

#include "job.h"
#include "publish.h"
#include "row.h"
#include "run.h"
#include "source.h"

/* Where records go.  Each worker number belongs to one thread. */
struct record_sink {
	void *ctx;
	int (*record)(void *ctx, unsigned worker, size_t table, const struct record *r,
		      struct error *err);
	/*
	 * Many at once: where the table has room for a batch, as run_builder_room, and one that was
	 * written there.  May be NULL: record has them all.
	 */
	int (*room)(void *ctx, unsigned worker, size_t table, size_t bytes, uint64_t first_seq,
		    uint64_t last_seq, uint8_t **to, struct error *err);
	void (*take)(void *ctx, unsigned worker, size_t table, const struct record_batch *r);
	/* After each piece of input (source_worker_piece); may be NULL. */
	int (*piece_end)(void *ctx, unsigned worker, uint64_t piece, struct error *err);
	/* A thread ends without its piece_end: nobody may wait for it.  May be NULL. */
	void (*abandon)(void *ctx);
};

struct reading {
	const struct job *job;
	unsigned threads;
	struct source *source;
	struct row_plan *plan;
	struct rejects *rejects; /* of the caller */
	struct reject_limit limit;
	struct progress *progress;
	size_t piece_bytes; /* of input that a thread takes at once */
	struct record_sink sink;
	double fraction; /* for reading_open: of the input to read; 0: all */
	/* for reading_open: of a kafka source what to read, with a client of the caller */
	struct kafka *kafka;
	const struct offset_range *ranges;
	size_t nranges;
	struct budget
		*budget;     /* before reading_open; what reading holds is forced on it; or NULL */
	_Atomic bool failed; /* one thread has: the others may stop */
	/* after reading_run */
	uint64_t events, rejected, blank_lines;
	uint64_t *filtered; /* [ntables]: events without a cell for that table, tombstones */
	int64_t newest_ms;  /* the newest cell timestamp; 0 when there is none */
};

/* Open the source and bind the job to its columns; everything that can be refused is.  *r is {0}
 * before, but for kafka and its ranges; reading_close is due whatever the result. */
int reading_open(struct reading *r, const struct job *job, unsigned threads,
		 const char *const *files, size_t nfiles, struct error *err);
/*
 * Read to the end.  With more rejects than the limit: RC_DATA with the sentence for the first
 * event too many in input order, whatever the threads.
 */
int reading_run(struct reading *r, struct error *err);
void reading_close(struct reading *r);

#endif
