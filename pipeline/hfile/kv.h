/*
 * kv.h - flat keys, the layout of a cell in a block, Hadoop's vint (README.md 3)
 *
 *   cell      keyLength i32 | valueLength i32 | flat key | value [| tags | mvcc]
 *   flat key  rowLength i16 | row | familyLength i8 | family | qualifier | timestamp i64 | type i8
 *   tags      i16 bytes | tags
 *   mvcc      vint
 */
#ifndef SALTMILL_HFILE_KV_H
#define SALTMILL_HFILE_KV_H

#include "cell.h"

#define KV_LENGTHS   8	/* keyLength and valueLength */
#define KEY_FIXED    12 /* a flat key without row, family and qualifier */
#define KV_TAIL_MAX  11 /* empty tags and an mvcc */
#define KV_TAIL_ZERO 3	/* empty tags and a zero mvcc */
#define KV_VINT_MAX  9
#define KV_TAGS_MAX  INT16_MAX

/* The optional data after each cell's value in a file. */
struct cell_tail {
	bool tags, mvcc;
};

/* A cell in a block. */
struct kv {
	struct bytes key, value; /* `key` is a flat key */
	size_t size;		 /* bytes of the cell, without tags and mvcc */
};

/*
 * Parse row, family, qualifier, timestamp and type. Returns false if the lengths do not fit the
 * key.
 */
bool hfile_kv_key_parse(struct bytes flat, struct cell *out);
/*
 * hfile_kv_key_bytes returns the length of the flat form. hfile_kv_key_put writes the flat form at
 * `p`, which must have that room.
 */
size_t hfile_kv_key_bytes(const struct cell *k);
uint8_t *hfile_kv_key_put(uint8_t *p, const struct cell *k);
/* Append the flat form. Returns false if memory is short. */
bool hfile_kv_key_append(struct buf *b, const struct cell *k);
/* Parse the cell at `p`. Returns false if the cell exceeds `end` or its key is malformed. */
bool hfile_kv_parse(const uint8_t *p, const uint8_t *end, struct kv *out);
/*
 * Return the length of tags and mvcc at `p`, after a value. Returns SIZE_MAX if tags and mvcc
 * exceed `end`, or if the tags do not fill their length.
 */
size_t hfile_kv_tail(const uint8_t *p, const uint8_t *end, struct cell_tail tail,
		     struct bytes *tags, uint64_t *mvcc);
/* Return true if the lengths of the tags add up to their total length. */
bool hfile_kv_tags_fit(struct bytes tags);

/* Return the cell at `p` without checks, for blocks that this program wrote. */
static inline struct kv hfile_kv_at(const uint8_t *p)
{
	uint32_t key_bytes = get_be32(p), value_bytes = get_be32(p + 4);

	return (struct kv){{p + KV_LENGTHS, key_bytes},
			   {p + KV_LENGTHS + key_bytes, value_bytes},
			   KV_LENGTHS + (size_t)key_bytes + value_bytes};
}

static inline struct bytes hfile_kv_key_row(struct bytes flat)
{
	return bytes_of(flat.ptr + 2, get_be16(flat.ptr));
}

/*
 * Write bytes of a file for a message. Bytes that are not plain text become \xHH. The function cuts
 * long text.
 */
void hfile_kv_show(char *out, size_t room, struct bytes v);

/* Put a number as a vint (3.5). Returns the number of bytes, at most KV_VINT_MAX. */
size_t hfile_kv_vint_put(uint8_t *p, int64_t v);
/* Read a vint at `p`. Returns the number of bytes, or 0 if the vint exceeds `end`. */
size_t hfile_kv_vint_get(const uint8_t *p, const uint8_t *end, int64_t *out);

#endif
