/*
 * blocks.h - cut Avro and Arrow files, whose blocks contain many events, into pieces for workers
 *
 * A piece consists of whole, unchanged blocks, which the worker decodes. A block has as many ranks
 * as bytes, or as many as events if it has more events. The seqs of its events have even distances
 * in its ranks, so that seq grows as the byte offset of a text does.
 */
#ifndef SALTMILL_SOURCE_BLOCKS_H
#define SALTMILL_SOURCE_BLOCKS_H

#include "schema_values.h"
#include "worker.h"

/* The complete blocks at the cursor. */
struct block_cut {
	/* bytes at the start that the format's own functions have read; len is then 0 */
	size_t aside;
	size_t len;			/* bytes of the whole blocks for a worker */
	uint64_t blocks, events, ranks; /* counts for these blocks */
	/* bytes between the end of `have` and the end of the block, 0 if unknown */
	uint64_t missing;
};

struct event_block_format {
	const char *what, *key; /* such as "an Avro file" and "source.avro" */
	bool (*known)(struct bytes head);
	/* Read the file's header from `c->rest`, and advance `c->rest` past the header. */
	int (*begin)(struct source *s, struct cursor *c, size_t file, struct error *err);
	/*
	 * Find whole blocks at the start of `have`, about `s->piece_bytes` in all. `len` and
	 * `aside` stay 0 if no block is complete. Return RC_DATA if the bytes are not a block.
	 */
	int (*whole)(struct source *s, struct cursor *c, struct bytes have, struct block_cut *cut,
		     struct error *err);
	/* Check, at the end of the input, that the file may end here. */
	int (*ended)(struct source *s, const struct cursor *c, struct error *err);
	/*
	 * The source calls this function under its lock after it has filled `w->piece`. NULL if a
	 * worker needs only the piece.
	 */
	void (*taken)(struct source *s, struct source_worker *w);
	/* Pass the events of `w->piece` to the sink. Set `*rows` to the number of events. */
	int (*work)(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
		    struct error *err);
	/* Add the values of the first file's schema. */
	void (*values)(struct source *s, struct schema_values *values);
	void *(*worker_new)(struct source *s);
	void (*worker_free)(void *own);
	void (*close)(struct source *s);
};

/* Position of a block of a piece; blocks_next moves to the next block. */
struct block_place {
	uint64_t offset;       /* offset of the block in the file */
	uint64_t block, event; /* numbers of the block and of its first event in the file, from 0 */
	uint64_t seq, ranks;   /* first seq and number of ranks of the block */
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

/* Fill `w->piece` with whole blocks. The piece stays empty at the end of the file. */
int blocks_cut(struct source *s, struct source_worker *w, struct error *err);
/* Check the format of file `i` at the start of the file, and read the file's header. */
int blocks_start(struct source *s, struct cursor *c, size_t i, struct error *err);
/* Prefix the error with "FILE: block N (byte B): ". Return the error's code. */
int blocks_fault(const struct source *s, size_t file, uint64_t block, uint64_t offset,
		 struct error *err);
/* Make columns of the paths that the job's fields use. */
int blocks_columns(struct source *s, const struct job *job, struct error *err);

/* Return the number of ranks that the events of a block take. */
static inline uint64_t block_ranks(uint64_t bytes, uint64_t events)
{
	return bytes > events ? bytes : events;
}

/* the formats of avro_file.c and arrow_file.c */
int avro_open(struct source *s, const struct job *job, struct error *err);
int arrow_open(struct source *s, const struct job *job, struct error *err);

#endif
