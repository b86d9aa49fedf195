/*
 * blocks.h - files of blocks with many events each, Avro's and Arrow's, as pieces for workers
 *
 * A piece is whole blocks, as they stand in the file; what a block holds is a worker's business.
 * An event's seq spreads the ranks of its block evenly: as many as it has bytes, or events if
 * those are more, so that seq goes on like the bytes of a text would.
 */
#ifndef SALTMILL_SOURCE_BLOCKS_H
#define SALTMILL_SOURCE_BLOCKS_H

#include "schema_values.h"
#include "worker.h"

/* What of the bytes at the cursor is whole. */
struct block_cut {
	size_t aside;			/* bytes in front that the format has taken itself; alone */
	size_t len;			/* bytes of whole blocks behind it, for a worker */
	uint64_t blocks, events, ranks; /* in them */
	uint64_t missing;		/* bytes behind `have` that end a block; 0: unknown */
};

struct event_block_format {
	const char *what, *key; /* "an Avro file", "source.avro" */
	bool (*known)(struct bytes head);
	/* Go behind the file's header, in c->rest. */
	int (*begin)(struct source *s, struct cursor *c, size_t file, struct error *err);
	/*
	 * Whole blocks at the start of have, until they are about s->piece_bytes; len and aside 0:
	 * there is none yet.  RC_DATA: these bytes are no block.
	 */
	int (*whole)(struct source *s, struct cursor *c, struct bytes have, struct block_cut *cut,
		     struct error *err);
	/* Nothing is left: may the file end here? */
	int (*ended)(struct source *s, const struct cursor *c, struct error *err);
	/* w->piece was filled; under the source's lock.  NULL: it is all that a worker needs. */
	void (*taken)(struct source *s, struct source_worker *w);
	/* The events of w->piece; *rows: how many. */
	int (*work)(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
		    struct error *err);
	/* What the schema of the first file has. */
	void (*values)(struct source *s, struct schema_values *values);
	void *(*worker_new)(struct source *s);
	void (*worker_free)(void *own);
	void (*close)(struct source *s);
};

/* Where the blocks of a piece stand; blocks_next goes from one to the next. */
struct block_place {
	uint64_t offset;       /* of the block in the file */
	uint64_t block, event; /* number in the file, from 0, of the block and its first event */
	uint64_t seq, ranks;   /* of its events together */
	uint64_t events;
};
struct block_place blocks_first(const struct source_worker *w, size_t bytes, uint64_t events);
void blocks_next(struct block_place *p, size_t passed, size_t bytes, uint64_t events);

static inline uint64_t blocks_seq(const struct block_place *p, uint64_t number)
{
	return p->seq + number * (p->ranks / p->events);
}

/* Hand on the event of that number in the block. */
int blocks_take(struct source_worker *w, const struct block_place *p, uint64_t number,
		const struct column *columns, const struct source_sink *sink, struct error *err);

/* Fill w->piece with whole blocks; it stays empty at the file's end. */
int blocks_cut(struct source *s, struct source_worker *w, struct error *err);
/* At the start of file i. */
int blocks_start(struct source *s, struct cursor *c, size_t i, struct error *err);
/* RC_DATA or another code: "FILE: block N (byte B): " in front of the sentence. */
int blocks_fault(const struct source *s, size_t file, uint64_t block, uint64_t offset,
		 struct error *err);
/* The paths that the job's fields name are the columns. */
int blocks_columns(struct source *s, const struct job *job, struct error *err);

/* Events of a block of so many bytes take so many ranks. */
static inline uint64_t block_ranks(uint64_t bytes, uint64_t events)
{
	return bytes > events ? bytes : events;
}

/* avro_file.c, arrow_file.c */
int avro_open(struct source *s, const struct job *job, struct error *err);
int arrow_open(struct source *s, const struct job *job, struct error *err);

#endif
