/*
 * sorted_run.h - sorted runs of records in memory or in a temporary file
 *
 * A run is cut into blocks of up to BLOCK_BYTES or one larger record. A block is the unit of
 * seeking and of reading back. record_bytes.h describes a record in a run.
 */
#ifndef SALTMILL_SORTED_RUN_H
#define SALTMILL_SORTED_RUN_H

#include "record_bytes.h"
#include "mem.h"

enum { BLOCK_BYTES = 8192 };

/* A temporary file; one thread at a time appends to it. {.fd = -1} is closed. */
struct spill {
	int fd;
	const char *dir;
	uint64_t end;
	struct budget *quota;	     /* of disk space; NULL: none */
	_Atomic uint64_t held_bytes; /* accounted there */
};
int spill_open(struct spill *s, struct error *err);
/* Append. RC_LIMIT: the quota does not allow it. */
int spill_write(struct spill *s, const uint8_t *p, size_t len, struct error *err);
void spill_close(struct spill *s);

/* An entry of the seek index. After the last block one more entry contains the totals. */
struct block {
	uint64_t offset; /* in the run */
	uint64_t weight; /* of the run's records before this block */
	size_t key_at;	 /* of its first key, in run.keys */
};

struct run {
	struct run_codec codec;
	struct key_span span;
	uint8_t *data; /* SLACK_BYTES longer; NULL: spilled */
	struct spill *spill;
	uint64_t spill_at; /* offset of the run in its file */
	uint64_t bytes, records;
	size_t widest; /* block */
	struct block *blocks;
	size_t nblocks, blocks_cap;
	struct buf keys;
	uint64_t held_bytes; /* accounted for data and index */
};
void run_free(struct run *r, struct budget *budget);
/* Release a spilled run's disk space, if the file system can. */
void run_punch(const struct run *r);
/* Move a run from memory to disk. Nothing may read it meanwhile. */
int run_evict(struct run *r, struct spill *spill, struct budget *budget, struct error *err);

static inline struct bytes run_block_key(const struct run *r, size_t block)
{
	const struct block *b = &r->blocks[block];

	return bytes_of(r->keys.ptr + b->key_at, b[1].key_at - b->key_at);
}

/* Count blocks whose first key is < key (or <= key). */
size_t run_blocks_below(const struct run *r, struct bytes key, bool or_equal);

/* Set the error: a record differs from what was written. */
int run_damaged(const struct run *r, struct error *err);

/*
 * Reads a run in order from a block on. Keeps the items of the last two records, key and secondary
 * of the last `nstrings` records, and their payloads until the next load.
 */
struct run_reader {
	const struct run *run;
	const uint8_t *next, *end;   /* records in memory that are not read yet */
	unsigned turn;		     /* number of the record read last */
	unsigned nstrings;	     /* a power of 2 */
	struct record_item items[2]; /* of even and odd turns */
	uint8_t *strings;	     /* by turn, string_cap each, SLACK_BYTES included */
	size_t string_cap;
	size_t strings_bytes; /* of all */
	size_t last_bytes;    /* of the last string; 0: nothing was read after the load */
	struct buf blocks;    /* blocks of a spilled run, read back */
};
/* Memory of a reader for its strings, each at most string_max bytes. */
size_t reader_strings_bytes(size_t string_max);
/* Switch to a run; {0} before the first. Then call reader_load. */
void reader_start(struct run_reader *rd, const struct run *r);
void reader_release(struct run_reader *rd);
/* Read blocks [first, end) back, or point into memory. */
int reader_load(struct run_reader *rd, size_t first, size_t end, struct error *err);

static inline struct record_item *reader_item(struct run_reader *rd, unsigned turn)
{
	return &rd->items[turn & 1];
}
static inline uint8_t *reader_string(const struct run_reader *rd, unsigned turn)
{
	return rd->strings + (turn & (rd->nstrings - 1)) * rd->string_cap;
}

/* Read the record at next, which is before end. Whole words of its string may be loaded at once. */
static inline int reader_read(struct run_reader *rd, struct error *err)
{
	const struct run_codec *c = &rd->run->codec;
	struct record_item *it = reader_item(rd, rd->turn + 1);
	const uint8_t *next = packed_read(c, rd->next, rd->end, reader_string(rd, rd->turn),
					  rd->last_bytes, reader_string(rd, rd->turn + 1), it);

	if (__builtin_expect(!next, 0))
		return run_damaged(rd->run, err);
	rd->next = next;
	rd->last_bytes = it->rec.key.len + c->secondary_bytes;
	rd->turn++;
	return RC_OK;
}

struct run_position {
	/* offset in the run of the first record with key >= the wanted key */
	uint64_t offset;
	size_t block;	       /* its block; nblocks: no such record */
	uint64_t weight_below; /* weight of the run's records before it, if a weigher is given */
};
struct weigher {
	record_weigh *weigh; /* NULL: 1 */
	const void *ctx;
	struct usual_weight usual;
};
static inline uint64_t weigh_item(const struct weigher *w, const struct record_item *it)
{
	uint64_t weight;

	if (!it->large && weight_is_usual(&w->usual, &it->rec))
		return weigh_usual(&w->usual, &it->rec);
	if (!it->large)
		return w->weigh ? w->weigh(w->ctx, &it->rec) : 1;
	memcpy(&weight, it->rec.payload.ptr + 16, 8);
	return weight;
}
/*
 * Find key in rd's run and stop before the found record, with the rest of its block in memory. w
 * NULL: weights are not needed. below (or NULL) becomes the largest key of the run that is < key,
 * if it is larger than the value of below.
 */
int run_seek(struct run_reader *rd, struct bytes key, const struct weigher *w,
	     struct run_position *out, struct buf *below, struct error *err);

/* Writes one run from records in order. */
struct run_writer {
	struct run *run;
	struct spill *spill; /* NULL: in memory */
	struct weigher weigher;
	struct budget *budget;
	uint8_t *buf; /* SLACK_BYTES longer than cap */
	size_t used, cap;
	uint64_t flushed;
	uint64_t weight;
	uint64_t block_end; /* offset that ends the block if it is filled */
	uint8_t *last;	    /* the string before, of last_bytes */
	size_t last_bytes;
};
/*
 * Begin a run in memory of at most `bytes` bytes, which the caller has taken from the budget.
 * run->codec is set.
 */
void run_writer_memory(struct run_writer *w, struct run *run, size_t bytes);
/*
 * Begin a spilled run. buf has cap + SLACK_BYTES bytes and belongs to the caller; cap is at least
 * ROW_KEY_MAX + 64.
 */
int run_writer_spill(struct run_writer *w, struct run *run, struct spill *spill, uint8_t *buf,
		     size_t cap, struct error *err);
/*
 * Append.  The record's key and secondary lie together; SLACK_BYTES behind them and behind the
 * payload are readable.
 */
int run_writer_put(struct run_writer *w, const struct record_item *it, struct error *err);
/*
 * The same, where it is known how many first bytes of the string, and no more, are those of the one
 * before, or block_end is 0; tail: the others, which may be still elsewhere.  All records of a run
 * come by this one, or none.
 */
int run_writer_put_behind(struct run_writer *w, const struct record_item *it, size_t shared,
			  const uint8_t *tail, struct error *err);
/* Flush, give back what the run does not take, and close the index. */
int run_writer_end(struct run_writer *w, struct error *err);
/* Whether it has come to an end or not. */
void run_writer_release(struct run_writer *w);

#endif
