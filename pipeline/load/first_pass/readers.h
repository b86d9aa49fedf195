/*
 * readers.h - the threads of a pass
 */
#ifndef SALTMILL_PASS_READERS_H
#define SALTMILL_PASS_READERS_H

#include "pass.h"

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
	/* After each piece of input. */
	int (*piece_end)(void *ctx, unsigned worker, uint64_t piece, struct error *err);
};

/* Hand all records to the sink, as pass_run; the pass counts. */
int readers_run(struct pass *p, const struct record_sink *sink, struct error *err);

#endif
