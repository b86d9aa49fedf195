/*
 * record.h - what is sorted: one compact record a row, not one a cell
 *
 * Order: key (bytes_cmp), then secondary (memcmp), then seq.  secondary has the same length in all
 * records of one table: 0, or 8 bytes of Long.MAX_VALUE - cell timestamp (big-endian), so that
 * records of one row key come newest first (cut/huge_row.c sorts cells and has a byte more).
 * payload is row/'s own; sort/ does not look inside.
 */
#ifndef SALTMILL_RECORD_H
#define SALTMILL_RECORD_H

#include "bytes.h"
#include "cell.h"
#include "error.h"

#define ROW_KEY_MAX CELL_ROW_MAX
/* Ours: the cells of a row beyond memory are sorted by 2 bytes of family and the qualifier. */
#define QUALIFIER_MAX (ROW_KEY_MAX - 2)

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

#endif
