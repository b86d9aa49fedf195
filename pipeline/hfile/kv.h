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

#define KV_LENGTHS  8  /* keyLength and valueLength */
#define KEY_FIXED   12 /* a flat key without row, family and qualifier */
#define KV_TAIL_MAX 3  /* empty tags and a zero mvcc */
#define KV_VINT_MAX 9
#define KV_TAGS_MAX INT16_MAX

/* What follows each cell's value in a file. */
struct cell_tail {
	bool tags, mvcc;
};

/* A cell as it lies in a block. */
struct kv {
	struct bytes key, value; /* key is flat */
	size_t size;		 /* of the cell, without tags and mvcc */
};

/* Parse row, family, qualifier, timestamp and type. False: the lengths do not fit the key. */
bool hfile_kv_key_parse(struct bytes flat, struct cell *out);
/* Bytes of the flat form; hfile_kv_key_put writes it where there is room. */
size_t hfile_kv_key_bytes(const struct cell *k);
uint8_t *hfile_kv_key_put(uint8_t *p, const struct cell *k);
/* Append the flat form; false: no memory. */
bool hfile_kv_key_append(struct buf *b, const struct cell *k);
/* Parse the cell at p. False: it does not end before end, or its key is malformed. */
bool hfile_kv_parse(const uint8_t *p, const uint8_t *end, struct kv *out);
/*
 * Bytes of tags and mvcc after a value, at p. SIZE_MAX: they do not end before end, or the tags do
 * not fill their length.
 */
size_t hfile_kv_tail(const uint8_t *p, const uint8_t *end, struct cell_tail tail,
		     struct bytes *tags, uint64_t *mvcc);
/* Do the lengths of the tags fill them exactly? */
bool hfile_kv_tags_fit(struct bytes tags);

/* The cell at p of a block that this program wrote; nothing is checked. */
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
 * Write bytes of a file for a message: \xHH for bytes that are not plain text; long ones are cut.
 */
void hfile_kv_show(char *out, size_t room, struct bytes v);

/* Put Hadoop's WritableUtils.writeVLong (3.5). Returns the bytes, at most KV_VINT_MAX. */
size_t hfile_kv_vint_put(uint8_t *p, int64_t v);
/* Returns the bytes read; 0: the number does not end before end. */
size_t hfile_kv_vint_get(const uint8_t *p, const uint8_t *end, int64_t *out);

#endif
