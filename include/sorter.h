/*
 * sorter.h - sort row records on disk and in memory, and cut them at exact ranks
 *
 *   sorter_new
 *   sorter_builder, run_builder_add*     one builder a thread, no locks
 *   sorter_finish
 *   sorter_totals, sorter_select, sorter_range*     any thread, any number at once
 *   sorter_free
 *
 * A record is one row in a compact form, not one cell. The sorter orders records by key
 * (bytes_cmp), then by secondary (memcmp), then by seq. `secondary` has the same length in all
 * records of one table. It is empty, or has 8 bytes with Long.MAX_VALUE - cell timestamp
 * (big-endian). With 8 bytes, the newest record of a row key comes first. (load/cut/huge_row.c
 * sorts cells and adds a byte.) Only row/ reads the payload.
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
	const uint8_t *secondary; /* has the table's secondary_bytes bytes */
	uint64_t seq;		  /* event.seq */
	struct bytes payload;
	/*
	 * iterators set this if they know that the key differs from the previous record's key;
	 * false means unknown
	 */
	bool new_key;
};

#define RECORD_BATCH   64
#define RECORD_SLACK   32	  /* number of bytes that code may overwrite after a batch */
#define RECORD_HEAD    6u	  /* bytes before the payload's length */
#define RECORD_PAYLOAD (1u << 14) /* all payloads of a batch are shorter */

/*
 * Several records as bytes, written to their final place. Each record is
 *
 *   seq low half u32 | key bytes u16 | payload bytes varint | key | secondary | payload
 *
 * in little-endian, unaligned. The varint may have more bytes than it needs. All keys have the same
 * length. The seqs rise, and all have the same high half.
 */
struct record_batch {
	uint8_t *to;
	size_t n;
	/* offset of each record from `to`, and the end of the last record */
	uint32_t at[RECORD_BATCH + 1];
	size_t head; /* bytes before a key */
	size_t key_len;
	uint64_t first_seq, last_seq;
};

/* Return record `i` of the batch. */
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
 * An iterator over sorted records. `next` returns 0, RC_END or an error. *out is valid until the
 * next call. `close` releases the iterator itself.
 */
struct record_iter {
	int (*next)(void *self, struct record *out, struct error *err);
	void (*close)(void *self);
	void *self;
	/*
	 * Gets the next 1 to `most` records at once. All these records are valid until the next
	 * call of either function. Returns 0, RC_END or an error. The member may be NULL. Code may
	 * read RECORD_ROOM_BYTES after key and payload.
	 */
	int (*next_many)(void *self, struct record *out, size_t most, size_t *n, struct error *err);
};
#define RECORD_ROOM_BYTES 32

/*
 * The form of packed records: sorted records as bytes (sort/record_bytes.h). Runs have this form,
 * and a map sends its records to a reduce in this form, so the reduce can merge them as they are.
 */
struct run_codec {
	uint64_t seq_base, seq_last; /* all seqs are in this range */
	uint64_t seq_mask;
	size_t seq_bytes; /* stored bytes of a seq, 0 to 8 */
	size_t secondary_bytes;
	size_t string_max; /* most bytes of key and secondary */
	bool fixed;	   /* all strings have string_max bytes */
};
#define PACKED_ROOM_BYTES 64 /* code may read this number of bytes after packed records */

struct packed_records {
	struct run_codec codec;
	struct bytes bytes;
	uint64_t records;
	bool large;	  /* a payload may have LARGE_PAYLOAD_BYTES or more */
	const char *name; /* the records' place, for messages; borrowed */
};
#define LARGE_PAYLOAD_BYTES (64u << 10)

/* Packs records. Start with {0} and set the codec. Then call packed_begin. */
struct packed_writer {
	struct run_codec codec;
	struct buf bytes; /* the caller may put other bytes first */
	struct buf last;  /* key and secondary of the last record */
	size_t block_end; /* a record that ends after this offset begins a block */
};
/* Return a codec for seqs from `seq_base` on, each in `seq_bytes` bytes. */
struct run_codec packed_codec(uint64_t seq_base, size_t seq_bytes, size_t string_max,
			      size_t secondary_bytes, bool fixed);
/* Begin records that a reader can read without the earlier ones. */
void packed_begin(struct packed_writer *w);
/*
 * Append a record, whose key and secondary are adjacent. It needs at most PACKED_ROOM_BYTES besides
 * them and the payload. RECORD_ROOM_BYTES after key and payload must be readable.
 */
void packed_put(struct packed_writer *w, const struct record *r);
void packed_writer_release(struct packed_writer *w);

/* Return a record's size as uncompressed KeyValues in bytes. This size balances regions. */
typedef uint64_t record_weigh(const void *ctx, const struct record *r);

/*
 * The weight of most records, without a call. Records with fewer payload bytes than `payload_below`
 * weigh base + per_key_byte * key bytes + payload bytes. If `payload_below` is 0, there are no such
 * records.
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
 * Sorted runs stay in memory as far as the budget allows. Further runs go uncompressed to unlinked
 * temporary files, so a crash leaves no files. The order does not depend on the threads.
 */

struct sorter_options {
	struct budget *budget;
	const char *temp_dir;	/* folder for spilled runs; the sorter copies the text */
	unsigned threads;	/* number of builders, and of iterators open at once */
	size_t secondary_bytes; /* length of struct record.secondary, 0 or 8 */
	/*
	 * returns a positive weight; any thread may call it; NULL means that each record weighs 1
	 */
	record_weigh *weigh;
	const void *weigh_ctx;	   /* borrowed */
	struct usual_weight usual; /* formula of the weight of most records, or {0} */
	/* size of a builder's buffer; 0 means 8 MiB; sorting needs twice this size */
	size_t run_bytes;
	/* the sorter stores payloads of at least this size separately; at least 64 KiB */
	size_t large_bytes;
	struct budget *quota; /* limit of temporary files; NULL means no limit */
};

struct sorter_totals {
	uint64_t records;
	uint64_t weight;
	/* bytes of all runs, in memory and on disk, including large payloads */
	uint64_t run_bytes;
	uint64_t largest_bytes; /* largest payload */
	uint64_t spilled_bytes; /* total written to temporary files, including merge passes */
	size_t runs;		/* runs that wait for the merge */
	size_t spilled_runs;	/* the part of these runs that is on disk */
};

struct sorter;
struct run_builder;

/* Create a sorter. An unused builder needs no memory. */
struct sorter *sorter_new(const struct sorter_options *opt);
/* Free a sorter. The caller must close its iterators. NULL is fine. */
void sorter_free(struct sorter *s);

/*
 * Return the builder of thread `worker` < threads. The sorter owns the builder. Only one thread at
 * a time may use it.
 */
struct run_builder *sorter_builder(struct sorter *s, unsigned worker);

/*
 * Add a copy of a record. The builder flushes a full buffer. Returns RC_LIMIT if the key exceeds
 * ROW_KEY_MAX, if the record exceeds 1 GiB, or if the files exceed the quota. Returns RC_IO if the
 * temporary folder is full or missing.
 */
int run_builder_add(struct run_builder *b, const struct record *r, struct error *err);
/*
 * Begin a stretch of about `bytes` bytes of packed records in sorted order. If `goes_on` is true,
 * the stretch continues the order of the previous stretch. run_builder_add_packed adds a copy of
 * the records. It may merge them as they are, instead of sorting them. It returns RC_IO if they are
 * damaged. The other errors are those of run_builder_add.
 */
int run_builder_stretch(struct run_builder *b, uint64_t bytes, bool goes_on, struct error *err);
int run_builder_add_packed(struct run_builder *b, const struct packed_records *p,
			   struct error *err);
/*
 * Get room to write a batch without a copy. *to has `bytes` bytes plus RECORD_SLACK, for seqs in
 * [first_seq, last_seq]. The room is valid until the next call with this builder. If *to is NULL,
 * use run_builder_add instead. run_builder_take adds the batch in the room.
 */
int run_builder_room(struct run_builder *b, size_t bytes, uint64_t first_seq, uint64_t last_seq,
		     uint8_t **to, struct error *err);
void run_builder_take(struct run_builder *b, const struct record_batch *r);
/* Return true if the buffer is full, so that the next add sorts it first. */
bool run_builder_full(const struct run_builder *b);
/* Sort the buffer and store it as a run, unless it is empty. */
int run_builder_flush(struct run_builder *b, struct error *err);

/* Flush all builders and release their buffers. */
int sorter_flush(struct sorter *s, struct error *err);
/*
 * Flush all builders. If the block buffers for all spilled runs and threads do not fit in the
 * budget, merge some runs. Before this call, take the memory that reading needs from the budget
 * (budget_force).
 */
int sorter_finish(struct sorter *s, struct error *err);

struct sorter_totals sorter_totals(const struct sorter *s);
/*
 * Return a codec for all records of a finished sorter. None of them has a seq below `seq_base`.
 */
struct run_codec sorter_codec(const struct sorter *s, uint64_t seq_base);

/*
 * Find exact boundaries as key_weights.select (splits.h) does. If `choice` is NULL, the function
 * chooses the nearest places. The result depends only on the records, not on their order. For each
 * target, the call merges the records within choice->slack of the target and reads some more
 * blocks.
 */
int sorter_select(struct sorter *s, unsigned threads, const uint64_t *targets, size_t n,
		  const struct split_choice *choice, struct split_point *out, struct error *err);

/*
 * Return a struct key_weights that gives exact weights and uses the sorter's threads. `s` is
 * borrowed.
 */
struct key_weights sorter_weights(struct sorter *s);

/*
 * Iterate over all records with lo <= key < hi, in order. An empty `lo` means the first record. An
 * empty `hi` means the end. The iterator owns its buffers. On failure, the function does not set
 * *out.
 */
int sorter_range(struct sorter *s, struct bytes lo, struct bytes hi, struct record_iter *out,
		 struct error *err);

#endif
