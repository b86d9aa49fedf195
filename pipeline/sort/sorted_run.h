/*
 * sorted_run.h - sorted runs of records in memory or in a temporary file
 *
 * A run consists of blocks. A block has up to BLOCK_BYTES, or one larger record. A reader seeks and
 * reads whole blocks. record_bytes.h describes a record in a run.
 */
#ifndef SALTMILL_SORTED_RUN_H
#define SALTMILL_SORTED_RUN_H

#include "record_bytes.h"
#include "mem.h"

enum { BLOCK_BYTES = 8192 };

/* A temporary file, to which one thread at a time appends. {.fd = -1} is closed. */
struct spill {
	int fd;
	const char *dir;
	uint64_t end;
	struct budget *quota;	     /* limit of disk space; NULL means no limit */
	_Atomic uint64_t held_bytes; /* bytes that the quota counts */
};
int spill_open(struct spill *s, struct error *err);
/* Append `len` bytes. Returns RC_LIMIT if they exceed the quota. */
int spill_write(struct spill *s, const uint8_t *p, size_t len, struct error *err);
void spill_close(struct spill *s);

/* An entry of the seek index. After the last block one more entry contains the totals. */
struct block {
	uint64_t offset; /* bytes of the run before this block */
	uint64_t weight; /* weight of the run's records before this block */
	size_t key_at;	 /* offset of the block's first key in run.keys */
};

struct run {
	struct run_codec codec;
	struct key_span span;
	uint8_t *data; /* `bytes` and SLACK_BYTES; NULL means that the run is on disk */
	struct spill *spill;
	uint64_t spill_at; /* offset of the run in its file */
	uint64_t bytes, records;
	size_t widest; /* bytes of the largest block */
	struct block *blocks;
	size_t nblocks, blocks_cap;
	struct buf keys;
	uint64_t held_bytes; /* bytes of data and index that the budget counts */
};
void run_free(struct run *r, struct budget *budget);
/* Release a spilled run's disk space, if the file system supports it. */
void run_punch(const struct run *r);
/* Move a run from memory to disk. No thread may read the run during the call. */
int run_evict(struct run *r, struct spill *spill, struct budget *budget, struct error *err);

static inline struct bytes run_block_key(const struct run *r, size_t block)
{
	const struct block *b = &r->blocks[block];

	return bytes_of(r->keys.ptr + b->key_at, b[1].key_at - b->key_at);
}

/* Count the blocks whose first key is < `key`, or <= `key` if `or_equal` is true. */
size_t run_blocks_below(const struct run *r, struct bytes key, bool or_equal);

/* Set the error for a record that differs from the written record. */
int run_damaged(const struct run *r, struct error *err);

/*
 * Reads a run in order from a block on. The reader keeps the items of the last two records, and key
 * and secondary of the last `nstrings` records. Payloads stay in memory until the next load.
 */
struct run_reader {
	const struct run *run;
	const uint8_t *next, *end;   /* records in memory that the reader has not returned */
	unsigned turn;		     /* number of the last record */
	unsigned nstrings;	     /* a power of 2 */
	struct record_item items[2]; /* the records of even and of odd turns */
	uint8_t *strings;	     /* by turn: string_cap bytes each, including SLACK_BYTES */
	size_t string_cap;
	size_t strings_bytes; /* bytes of all strings */
	size_t last_bytes; /* bytes of the last string; 0 before the first record since the load */
	struct buf blocks; /* blocks of a spilled run, read from disk */
};
/* Return the memory in bytes for the strings of a reader, each of at most `string_max` bytes. */
size_t reader_strings_bytes(size_t string_max);
/* Switch the reader to a run. Before the first call, *rd is {0}. Then call reader_load. */
void reader_start(struct run_reader *rd, const struct run *r);
void reader_release(struct run_reader *rd);
/* Read the blocks [first, end) from disk, or point to the blocks in memory. */
int reader_load(struct run_reader *rd, size_t first, size_t end, struct error *err);

static inline struct record_item *reader_item(struct run_reader *rd, unsigned turn)
{
	return &rd->items[turn & 1];
}
static inline uint8_t *reader_string(const struct run_reader *rd, unsigned turn)
{
	return rd->strings + (turn & (rd->nstrings - 1)) * rd->string_cap;
}

/* Read the record at rd->next, which is before rd->end. Returns false if it is damaged. */
static inline bool reader_take(struct run_reader *rd)
{
	const struct run_codec *c = &rd->run->codec;
	struct record_item *it = reader_item(rd, rd->turn + 1);
	const uint8_t *next = packed_read(c, rd->next, rd->end, reader_string(rd, rd->turn),
					  rd->last_bytes, reader_string(rd, rd->turn + 1), it);

	if (__builtin_expect(!next, 0))
		return false;
	rd->next = next;
	rd->last_bytes = it->rec.key.len + c->secondary_bytes;
	rd->turn++;
	return true;
}

static inline int reader_read(struct run_reader *rd, struct error *err)
{
	return __builtin_expect(reader_take(rd), 1) ? RC_OK : run_damaged(rd->run, err);
}

struct run_position {
	/* offset in the run of the first record with key >= the wanted key */
	uint64_t offset;
	size_t block; /* the block of this record; nblocks means that there is no such record */
	uint64_t weight_below; /* weight of the records before this record, if the caller passed a
				  weigher */
};
struct weigher {
	record_weigh *weigh; /* NULL means that each record weighs 1 */
	const void *ctx;
	struct usual_weight usual;
};
static inline uint64_t weigh_record(const struct weigher *w, const struct record *r)
{
	if (weight_is_usual(&w->usual, r))
		return weigh_usual(&w->usual, r);
	return w->weigh ? w->weigh(w->ctx, r) : 1;
}
static inline uint64_t weigh_item(const struct weigher *w, const struct record_item *it)
{
	uint64_t weight;

	if (!it->large)
		return weigh_record(w, &it->rec);
	memcpy(&weight, it->rec.payload.ptr + 16, 8);
	return weight;
}
/*
 * Find the first record with a key >= `key` in the reader's run, and stop before this record. The
 * rest of the record's block is in memory. If `w` is NULL, the function computes no weights. If
 * `below` is not NULL and the run's largest key < `key` is larger than *below, *below becomes this
 * key.
 */
int run_seek(struct run_reader *rd, struct bytes key, const struct weigher *w,
	     struct run_position *out, struct buf *below, struct error *err);

/* Writes one run from records in order. */
struct run_writer {
	struct run *run;
	struct spill *spill; /* NULL means that the run is in memory */
	struct weigher weigher;
	struct budget *budget;
	uint8_t *buf; /* `cap` bytes and SLACK_BYTES */
	size_t used, cap;
	uint64_t flushed;
	uint64_t weight;
	uint64_t block_end; /* offset at which the current block ends; 0 means that the next record
			       begins a block */
	uint8_t *last;	    /* the previous string, with last_bytes bytes */
	size_t last_bytes;
};
/*
 * Begin a run in memory of at most `bytes` bytes, which the caller has taken from the budget. The
 * caller has set run->codec.
 */
void run_writer_memory(struct run_writer *w, struct run *run, size_t bytes);
/*
 * Begin a run on disk. The caller owns `buf`, which has `cap` + SLACK_BYTES bytes. `cap` is at
 * least ROW_KEY_MAX + 64.
 */
int run_writer_spill(struct run_writer *w, struct run *run, struct spill *spill, uint8_t *buf,
		     size_t cap, struct error *err);
/*
 * Append a record. The record's secondary directly follows the key. SLACK_BYTES after the secondary
 * and after the payload must be readable.
 */
int run_writer_put(struct run_writer *w, const struct record_item *it, struct error *err);
/*
 * Append packed records as they are. They fit in the memory of a run in memory. The caller adds
 * their blocks with run_writer_index first, and counts them in `weight` and run->records.
 */
int run_writer_append(struct run_writer *w, struct bytes packed, struct error *err);
/* Begin a block at `offset` of the run. `key` is the key of its first record. */
void run_writer_index(struct run_writer *w, uint64_t offset, struct bytes key);
/* Flush the buffer, return unused memory to the budget, and close the index. */
int run_writer_end(struct run_writer *w, struct error *err);
/* Release the writer, also before run_writer_end. */
void run_writer_release(struct run_writer *w);

#endif
