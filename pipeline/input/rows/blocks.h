/*
 * blocks.h - cut Avro and Arrow files, whose blocks contain many events, into pieces for workers
 *
 * A piece consists of whole blocks, unchanged; the worker decodes them. A block has as many ranks
 * as it has bytes, or events if those are more. The seqs of its events spread evenly over its
 * ranks, so that seq grows like the byte offset of a text.
 */
#ifndef SALTMILL_SOURCE_BLOCKS_H
#define SALTMILL_SOURCE_BLOCKS_H

#include "schema_values.h"
#include "worker.h"

/* The blocks that the bytes at the cursor contain completely. */
struct block_cut {
	/* bytes at the start that the format has read itself; len is 0 then */
	size_t aside;
	size_t len;			/* bytes of whole blocks for a worker */
	uint64_t blocks, events, ranks; /* in these blocks */
	/* bytes after `have` up to the end of the block; 0: unknown */
	uint64_t missing;
};

struct event_block_format {
	const char *what, *key; /* "an Avro file", "source.avro" */
	bool (*known)(struct bytes head);
	/* Read the file's header from c->rest and advance past it. */
	int (*begin)(struct source *s, struct cursor *c, size_t file, struct error *err);
	/*
	 * Find whole blocks at the start of have, about s->piece_bytes in all. len and aside 0: no
	 * block is complete. RC_DATA: these bytes are not a block.
	 */
	int (*whole)(struct source *s, struct cursor *c, struct bytes have, struct block_cut *cut,
		     struct error *err);
	/* Check at the end of the input that the file may end here. */
	int (*ended)(struct source *s, const struct cursor *c, struct error *err);
	/*
	 * Called under the source's lock when w->piece is filled. NULL: a worker needs nothing
	 * else.
	 */
	void (*taken)(struct source *s, struct source_worker *w);
	/* Pass the events of w->piece to the sink; *rows: their number. */
	int (*work)(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
		    struct error *err);
	/* Add the values that the schema of the first file has. */
	void (*values)(struct source *s, struct schema_values *values);
	void *(*worker_new)(struct source *s);
	void (*worker_free)(void *own);
	void (*close)(struct source *s);
};

/* Position of a block of a piece; blocks_next moves to the next block. */
struct block_place {
	uint64_t offset;       /* of the block in the file */
	uint64_t block, event; /* numbers in the file, from 0: the block, its first event */
	uint64_t seq, ranks;   /* of all its events together */
	uint64_t events;
};
struct block_place blocks_first(const struct source_worker *w, size_t bytes, uint64_t events);
void blocks_next(struct block_place *p, size_t passed, size_t bytes, uint64_t events);

static inline uint64_t blocks_seq(const struct block_place *p, uint64_t number)
{
	return p->seq + number * (p->ranks / p->events);
}

/* Pass event `number` of the block to the sink. */
int blocks_take(struct source_worker *w, const struct block_place *p, uint64_t number,
		const struct column *columns, const struct source_sink *sink, struct error *err);

/* Fill w->piece with whole blocks; it stays empty at the end of the file. */
int blocks_cut(struct source *s, struct source_worker *w, struct error *err);
/* Check the format of file i at its start and read its header. */
int blocks_start(struct source *s, struct cursor *c, size_t i, struct error *err);
/* Prefix the error with "FILE: block N (byte B): "; returns its code. */
int blocks_fault(const struct source *s, size_t file, uint64_t block, uint64_t offset,
		 struct error *err);
/* Take the paths that the job's fields name as columns. */
int blocks_columns(struct source *s, const struct job *job, struct error *err);

/* Return how many ranks the events of a block take. */
static inline uint64_t block_ranks(uint64_t bytes, uint64_t events)
{
	return bytes > events ? bytes : events;
}

/* avro_file.c, arrow_file.c */
int avro_open(struct source *s, const struct job *job, struct error *err);
int arrow_open(struct source *s, const struct job *job, struct error *err);

#endif
