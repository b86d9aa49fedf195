/*
 * readers.h - run the reading threads of a pass
 */
#ifndef SALTMILL_PASS_READERS_H
#define SALTMILL_PASS_READERS_H

#include "pass.h"

/* The consumer of records. Each worker number belongs to one thread. */
struct record_sink {
	void *ctx;
	int (*record)(void *ctx, unsigned worker, size_t table, const struct record *r,
		      struct error *err);
	/*
	 * Functions for batches. `room` returns free space of the table (see run_builder_room), and
	 * `take` consumes a batch from there. If both are NULL, `record` takes all records.
	 */
	int (*room)(void *ctx, unsigned worker, size_t table, size_t bytes, uint64_t first_seq,
		    uint64_t last_seq, uint8_t **to, struct error *err);
	void (*take)(void *ctx, unsigned worker, size_t table, const struct record_batch *r);
	/* Each thread calls this function after each piece of input. */
	int (*piece_end)(void *ctx, unsigned worker, uint64_t piece, struct error *err);
};

/* Pass all records to the sink, as pass_run does. The counts are in `*p`. */
int readers_run(struct pass *p, const struct record_sink *sink, struct error *err);

#endif
