/*
 * sorter.h - what is sorted: one compact record a row, not one a cell
 *
 * Order: key (bytes_cmp), then secondary (memcmp), then seq.  secondary has the same length in all
 * records of one table: 0, or 8 bytes of Long.MAX_VALUE - cell timestamp (big-endian), so that
 * records of one row key come newest first (load/cut/huge_row.c sorts cells and has a byte more).
 * payload is row/'s own; sort/ does not look inside.
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
	const uint8_t *secondary; /* secondary_bytes of the table */
	uint64_t seq;		  /* event.seq */
	struct bytes payload;
	bool new_key; /* from an iterator: the record before has surely another key; false: unknown
		       */
};

#define RECORD_BATCH   64
#define RECORD_SLACK   32	  /* bytes behind a batch that are written to as well */
#define RECORD_HEAD    6u	  /* bytes in front of the payload's length */
#define RECORD_PAYLOAD (1u << 14) /* all payloads of a batch are shorter */

/*
 * Some records as bytes, written where they are to stay.  Each is
 *
 *   seq low half u32 | key bytes u16 | payload bytes varint | key | secondary | payload
 *
 * little-endian, unaligned; the varint may have more bytes than it needs.  All keys have one
 * length; the seqs rise, and their high halves are the same.
 */
struct record_batch {
	uint8_t *to;
	size_t n;
	uint32_t at[RECORD_BATCH + 1]; /* of each, from `to`; and where the last one ends */
	size_t head;		       /* bytes in front of a key */
	size_t key_len;
	uint64_t first_seq, last_seq;
};

/* Record i. */
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
 * Records in order.  next returns 0, RC_END or an error; *out is valid until the next call.
 * close releases the iterator itself.
 */
struct record_iter {
	int (*next)(void *self, struct record *out, struct error *err);
	void (*close)(void *self);
	void *self;
	/*
	 * NULL, or the next records at once, 1 to `most` of them, which are valid together until
	 * the next call of either: 0, RC_END or an error.  RECORD_ROOM_BYTES behind key and payload
	 * may be read.
	 */
	int (*next_many)(void *self, struct record *out, size_t most, size_t *n, struct error *err);
};
#define RECORD_ROOM_BYTES 32

/*
 * One of records that come in order.  Its key and secondary lie together.  So many first bytes of
 * them, and no more, are those of the record before; the first one is said to share none.  The
 * others are also at tail, with as many bytes in front as are shared.  RECORD_ROOM_BYTES behind
 * key, tail and payload may be read.
 */
struct ordered_record {
	struct record rec;
	size_t shared;
	const uint8_t *tail;
};

/* Bytes that a record will take as uncompressed KeyValues; what regions are balanced by. */
typedef uint64_t record_weigh(const void *ctx, const struct record *r);

/*
 * What a weigher gives for most records, so that they need no call: those with fewer payload bytes
 * than payload_below (0: none) weigh base + per_key_byte * key bytes + payload bytes.
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
 * --- sort more row records than fit in memory, and cut them at exact ranks
 *
 *   sorter_new
 *   sorter_builder, run_builder_add* (one builder a thread, no locks)
 *   sorter_finish
 *   sorter_totals, sorter_select, sorter_range* (any thread, any number at once)
 *   sorter_free
 *
 * Sorted runs stay in memory while the budget lasts, then go raw to unlinked temporary files: a
 * crash leaves nothing.  Order: key, secondary, seq (record.h), whatever thread added what when.
 */

struct sorter_options {
	struct budget *budget;
	const char *temp_dir;	   /* used when the budget is too small; copied */
	unsigned threads;	   /* builders, and iterators that are open at once */
	size_t secondary_bytes;	   /* 0 or 8 */
	record_weigh *weigh;	   /* > 0; NULL: each weighs 1; called from any thread */
	const void *weigh_ctx;	   /* borrowed */
	struct usual_weight usual; /* {0}, or what weigh gives for these records */
	size_t run_bytes;	   /* of a builder's buffer, and as much for sorting it; 0: 8 MiB */
	size_t large_bytes;	   /* payloads from here on are put aside; 64 KiB at least */
	struct budget *quota;	   /* what temporary files may hold; NULL: no limit */
};

struct sorter_totals {
	uint64_t records;
	uint64_t weight;
	uint64_t run_bytes;	/* of all runs, in memory and on disk, large payloads included */
	uint64_t largest_bytes; /* payload */
	uint64_t spilled_bytes; /* ever written to temporary files, merge passes included */
	size_t runs;		/* left to merge */
	size_t spilled_runs;	/* of those, on disk */
};

struct sorter;
struct run_builder;

/* Create.  Nothing is allocated for a builder that is not used. */
struct sorter *sorter_new(const struct sorter_options *opt);
/* Release all.  Iterators must be closed.  NULL is fine. */
void sorter_free(struct sorter *s);

/* The builder of thread `worker` < threads; owned by the sorter, used by one thread at a time. */
struct run_builder *sorter_builder(struct sorter *s, unsigned worker);

/*
 * Copy a record in; flushes by itself when the buffer is full.  RC_LIMIT: key longer than
 * ROW_KEY_MAX, a record above 1 GiB, the quota.  RC_IO: the temporary folder is full or not there.
 */
int run_builder_add(struct run_builder *b, const struct record *r, struct error *err);
/*
 * About `bytes` bytes of records come that stand in the order of record.h, which the caller answers
 * for; goes_on: and behind those of the stretch before.  Each is then added by
 * run_builder_add_behind, which copies it and may do without sorting.  Errors are those of
 * run_builder_add.
 */
int run_builder_stretch(struct run_builder *b, uint64_t bytes, bool goes_on, struct error *err);
int run_builder_add_behind(struct run_builder *b, const struct ordered_record *r,
			   struct error *err);
/*
 * Without a copy: `bytes` bytes, and RECORD_SLACK, at *to for a batch whose seqs are all in
 * [first_seq, last_seq]; good until something else is done with the builder.  *to NULL: not for
 * these, run_builder_add has them.  run_builder_take then adds what was written there.
 */
int run_builder_room(struct run_builder *b, size_t bytes, uint64_t first_seq, uint64_t last_seq,
		     uint8_t **to, struct error *err);
void run_builder_take(struct run_builder *b, const struct record_batch *r);
/* The buffer holds a run's worth: the next add would sort it first. */
bool run_builder_full(const struct run_builder *b);
/* Sort what is there and emit it as a run.  Nothing there: nothing happens. */
int run_builder_flush(struct run_builder *b, struct error *err);

/* Flush all builders and release their buffers. */
int sorter_flush(struct sorter *s, struct error *err);
/*
 * The same; then, when there are more spilled runs than
 * block buffers of all threads fit in the budget, merge some into larger ones.  What the caller
 * will need while it reads is best forced on the budget before.
 */
int sorter_finish(struct sorter *s, struct error *err);

struct sorter_totals sorter_totals(const struct sorter *s);

/*
 * Exact boundaries, as key_weights.h asks for them; choice NULL: the nearest.  Depends only on the
 * multiset of records.  A target costs the
 * merge of what lies within choice->slack of it, and some blocks more.
 */
int sorter_select(struct sorter *s, unsigned threads, const uint64_t *targets, size_t n,
		  const struct split_choice *choice, struct split_point *out, struct error *err);

/* Both questions of key_weights.h, answered exactly on the sorter's threads; s is borrowed. */
struct key_weights sorter_weights(struct sorter *s);

/*
 * All records with lo <= key < hi in order; an empty lo starts at the first record, an empty hi
 * ends behind the last.  Buffers are the iterator's own.  On failure *out is not set.
 */
int sorter_range(struct sorter *s, struct bytes lo, struct bytes hi, struct record_iter *out,
		 struct error *err);

#endif
