/*
 * sorter.h - sort row records, more than fit in memory, and cut them at exact ranks
 *
 *   sorter_new
 *   sorter_builder, run_builder_add*     one builder a thread, no locks
 *   sorter_finish
 *   sorter_totals, sorter_select, sorter_range*     any thread, any number at once
 *   sorter_free
 *
 * A record is one row in a compact form, not one cell. Order: key (bytes_cmp), then secondary
 * (memcmp), then seq. secondary has the same length in all records of one table: 0, or 8 bytes of
 * Long.MAX_VALUE - cell timestamp (big-endian), so that the records of a row key come newest first.
 * (load/cut/huge_row.c sorts cells and has one more byte.) Only row/ knows the format of payload.
 */
#ifndef SALTMILL_SORTER_H
#define SALTMILL_SORTER_H

#include "bytes.h"
#include "cell.h"
#include "error.h"
#include "splits.h"
#include "mem.h"

struct record {
	struct bytes key;	  /* the row key */
	const uint8_t *secondary; /* as many bytes as the table's secondary_bytes */
	uint64_t seq;		  /* event.seq */
	struct bytes payload;
	/* from an iterator: the key surely differs from the previous record's; false: unknown */
	bool new_key;
};

#define RECORD_BATCH   64
#define RECORD_SLACK   32	  /* bytes after a batch that may be overwritten */
#define RECORD_HEAD    6u	  /* bytes before the payload's length */
#define RECORD_PAYLOAD (1u << 14) /* every payload of a batch is shorter */

/*
 * Several records as bytes, written to their final place. Each is
 *
 *   seq low half u32 | key bytes u16 | payload bytes varint | key | secondary | payload
 *
 * little-endian, unaligned; the varint may have more bytes than it needs. All keys have the same
 * length. The seqs rise, and their high halves are the same.
 */
struct record_batch {
	uint8_t *to;
	size_t n;
	uint32_t at[RECORD_BATCH + 1]; /* offset of each from `to`, and the end of the last one */
	size_t head;		       /* bytes before a key */
	size_t key_len;
	uint64_t first_seq, last_seq;
};

/* Return record i. */
static inline struct record record_of_batch(const struct record_batch *b, size_t i,
					    size_t secondary_bytes)
{
	const uint8_t *p = b->to + b->at[i], *end = b->to + b->at[i + 1];
	uint32_t seq;

	memcpy(&seq, p, 4);
	struct record r = {.key = bytes_of(p + b->head, b->key_len),
			   .seq = (b->first_seq & ~(uint64_t)UINT32_MAX) + seq};
	r.secondary = r.key.ptr + b->key_len;
	r.payload = bytes_of(r.secondary + secondary_bytes,
			     (size_t)(end - r.secondary) - secondary_bytes);
	return r;
}

/*
 * An iterator over sorted records. next returns 0, RC_END or an error; *out is valid until the next
 * call. close releases the iterator itself.
 */
struct record_iter {
	int (*next)(void *self, struct record *out, struct error *err);
	void (*close)(void *self);
	void *self;
	/*
	 * NULL, or returns the next 1 to `most` records at once; they are valid together until the
	 * next call of either function. Returns 0, RC_END or an error. RECORD_ROOM_BYTES after key
	 * and payload may be read.
	 */
	int (*next_many)(void *self, struct record *out, size_t most, size_t *n, struct error *err);
};
#define RECORD_ROOM_BYTES 32

/*
 * A record of a sorted sequence. Its key and secondary are adjacent. Their first `shared` bytes,
 * and no more, equal those of the previous record; the first record shares none. The other bytes
 * are also at tail, with `shared` bytes before them. RECORD_ROOM_BYTES after key, tail and payload
 * may be read.
 */
struct ordered_record {
	struct record rec;
	size_t shared;
	const uint8_t *tail;
};

/* Return a record's size as uncompressed KeyValues in bytes; regions are balanced by it. */
typedef uint64_t record_weigh(const void *ctx, const struct record *r);

/*
 * The weight of most records, without a call. Records with fewer payload bytes than payload_below
 * (0: none) weigh base + per_key_byte * key bytes + payload bytes.
 */
struct usual_weight {
	uint64_t base, per_key_byte;
	size_t payload_below;
};
static inline bool weight_is_usual(const struct usual_weight *u, const struct record *r)
{
	return r->payload.len < u->payload_below;
}
static inline uint64_t weigh_usual(const struct usual_weight *u, const struct record *r)
{
	return u->base + u->per_key_byte * r->key.len + r->payload.len;
}

/*
 * --- the sorter ---
 *
 * Sorted runs stay in memory within the budget; further runs go uncompressed to unlinked temporary
 * files, so a crash leaves nothing. The order does not depend on the threads.
 */

struct sorter_options {
	struct budget *budget;
	const char *temp_dir;	   /* for spilled runs; copied */
	unsigned threads;	   /* number of builders, and of iterators open at once */
	size_t secondary_bytes;	   /* 0 or 8 */
	record_weigh *weigh;	   /* returns > 0; NULL: each weighs 1; called from any thread */
	const void *weigh_ctx;	   /* borrowed */
	struct usual_weight usual; /* {0}, or the weigh result of most records */
	/* size of a builder's buffer; sorting needs the same again; 0: 8 MiB */
	size_t run_bytes;
	/* payloads of this size or more are put aside; at least 64 KiB */
	size_t large_bytes;
	struct budget *quota; /* limit of temporary files; NULL: none */
};

struct sorter_totals {
	uint64_t records;
	uint64_t weight;
	uint64_t run_bytes;	/* all runs, in memory and on disk, including large payloads */
	uint64_t largest_bytes; /* largest payload */
	uint64_t spilled_bytes; /* total written to temporary files, including merge passes */
	size_t runs;		/* remaining runs to merge */
	size_t spilled_runs;	/* of those, on disk */
};

struct sorter;
struct run_builder;

/* Create a sorter. An unused builder needs no memory. */
struct sorter *sorter_new(const struct sorter_options *opt);
/* Free everything. Iterators must be closed. NULL is fine. */
void sorter_free(struct sorter *s);

/*
 * Return the builder of thread `worker` < threads. The sorter owns it; one thread at a time uses
 * it.
 */
struct run_builder *sorter_builder(struct sorter *s, unsigned worker);

/*
 * Add a copy of a record; a full buffer is flushed. RC_LIMIT: the key exceeds ROW_KEY_MAX, the
 * record 1 GiB, or the files the quota. RC_IO: the temporary folder is full or missing.
 */
int run_builder_add(struct run_builder *b, const struct record *r, struct error *err);
/*
 * Begin a stretch: about `bytes` bytes of records that the caller adds in sorted order. goes_on:
 * they continue the order of the previous stretch. Add each record with run_builder_add_behind,
 * which copies it and may skip sorting. Errors as in run_builder_add.
 */
int run_builder_stretch(struct run_builder *b, uint64_t bytes, bool goes_on, struct error *err);
int run_builder_add_behind(struct run_builder *b, const struct ordered_record *r,
			   struct error *err);
/*
 * Get room for a batch without a copy: `bytes` bytes plus RECORD_SLACK at *to, for seqs in
 * [first_seq, last_seq]. It is valid until the next call with this builder. *to NULL: use
 * run_builder_add instead. run_builder_take then adds the batch that was written there.
 */
int run_builder_room(struct run_builder *b, size_t bytes, uint64_t first_seq, uint64_t last_seq,
		     uint8_t **to, struct error *err);
void run_builder_take(struct run_builder *b, const struct record_batch *r);
/* True if the buffer is full: the next add would sort it first. */
bool run_builder_full(const struct run_builder *b);
/* Sort the buffer and emit it as a run, unless it is empty. */
int run_builder_flush(struct run_builder *b, struct error *err);

/* Flush all builders and release their buffers. */
int sorter_flush(struct sorter *s, struct error *err);
/*
 * Flush all builders. If there are more spilled runs than block buffers of all threads fit in the
 * budget, merge some into larger ones. First force the memory that you need while reading on the
 * budget (budget_force).
 */
int sorter_finish(struct sorter *s, struct error *err);

struct sorter_totals sorter_totals(const struct sorter *s);

/*
 * Find exact boundaries, as struct key_weights (splits.h) defines them; choice NULL: the nearest.
 * The result depends only on the records, not on their order. Each target costs a merge of the
 * records within choice->slack of it, and some more blocks.
 */
int sorter_select(struct sorter *s, unsigned threads, const uint64_t *targets, size_t n,
		  const struct split_choice *choice, struct split_point *out, struct error *err);

/* Return a struct key_weights that answers exactly, on the sorter's threads; s is borrowed. */
struct key_weights sorter_weights(struct sorter *s);

/*
 * Iterate over all records with lo <= key < hi, in order. An empty lo means from the first record,
 * an empty hi to the last. The iterator owns its buffers. On failure *out is not set.
 */
int sorter_range(struct sorter *s, struct bytes lo, struct bytes hi, struct record_iter *out,
		 struct error *err);

#endif
