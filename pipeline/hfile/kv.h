/*
 * kv.h - flat keys, the layout of a cell in a block, Hadoop's vint (README.md 3)
 *
 *   cell      keyLength i32 | valueLength i32 | flat key | value [| tags | mvcc]
 *   flat key  rowLength i16 | row | familyLength i8 | family | qualifier | timestamp i64 | type i8
 */
#ifndef SALTMILL_HFILE_KV_H
#define SALTMILL_HFILE_KV_H

#include "bytes.h"

#define KV_LENGTHS   8	/* keyLength and valueLength */
#define KEY_FIXED    12 /* a flat key without row, family and qualifier */
#define KV_TAIL_MAX  3	/* empty tags and a zero mvcc */
#define TS_MAX	     INT64_MAX
#define TYPE_MAXIMUM 255 /* of search keys and shortened index keys: before every real cell */
#define ROW_MAX	     32767
#define FAMILY_MAX   127

struct kv_key {
	struct bytes row, family, qualifier;
	int64_t ts;
	uint8_t type;
};

struct kv {
	struct bytes key, value; /* key is flat */
	size_t size;		 /* of the cell without tags and mvcc */
};

/* False when the lengths inside do not fit the key's length. */
bool kv_key_parse(struct bytes flat, struct kv_key *out);
/* HBase's order (3.4): row, family, qualifier ascending; timestamp, type descending. */
int kv_key_cmp(const struct kv_key *a, const struct kv_key *b);
/* Append the flat form. */
void kv_key_put(struct buf *b, const struct kv_key *k);
/* The first possible key of a row and qualifier: no family, the latest time, type 255. */
struct kv_key kv_key_first(struct bytes row, struct bytes qualifier);
/* The cell at p; false when it does not end before end or its key is not well formed. */
bool kv_parse(const uint8_t *p, const uint8_t *end, struct kv *out);

/* The cell at p of a block this program wrote: nothing is checked. */
static inline struct kv kv_at(const uint8_t *p)
{
	uint32_t key_bytes = get_be32(p), value_bytes = get_be32(p + 4);
	return (struct kv){{p + KV_LENGTHS, key_bytes},
			   {p + KV_LENGTHS + key_bytes, value_bytes},
			   KV_LENGTHS + (size_t)key_bytes + value_bytes};
}

static inline struct bytes kv_key_row(struct bytes flat)
{
	return bytes_of(flat.ptr + 2, get_be16(flat.ptr));
}

/* Hadoop's WritableUtils.writeVLong (3.5): at most 9 bytes; returns how many. */
size_t kv_vint_put(uint8_t *p, int64_t v);
/* How many bytes it read; 0 when the number does not end before end. */
size_t kv_vint_get(const uint8_t *p, const uint8_t *end, int64_t *out);

#endif
