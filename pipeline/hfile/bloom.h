/*
 * bloom.h - compound bloom filters (README.md 6)
 *
 * The writer keeps two hashes of each key until it writes the chunk. The number of keys is then
 * known. So the writer makes a chunk of the final size, while HBase folds a large chunk.
 */
#ifndef SALTMILL_HFILE_BLOOM_H
#define SALTMILL_HFILE_BLOOM_H

#include "block.h"
#include "bloom_bits.h"
#include "index.h"
#include "table.h"

/* Compute the number of hashes, and the number of keys in a chunk of `chunk_bytes` bytes (6.3). */
void hfile_bloom_sizes(enum bloom_type type, uint32_t chunk_bytes, uint32_t *hashes,
		       uint32_t *max_keys);
/*
 * Get the key to hash for a row and qualifier. The function makes a ROWCOL key in `store`. Returns
 * false if memory is short.
 */
bool hfile_bloom_key(enum bloom_type type, uint32_t prefix, struct bytes row,
		     struct bytes qualifier, struct buf *store, struct bytes *key)
	__attribute__((warn_unused_result));

/* The number of chunks to write for each of the two filters of a file. */
struct hbloom_due {
	size_t general, deletes;
};

#define BLOOM_ROOM 32

struct hbloom {
	enum bloom_type type;
	uint32_t prefix, chunk_bytes, hashes, max_keys;
	/* hashes of keys in unwritten chunks; the scratch owns the array */
	struct hbloom_hash *pending;
	size_t npending, cap; /* the last `nlanes` items of `pending` have no hash yet */
	size_t nlanes, lane_bytes;
	const struct hbloom_kernel *kernel;
	uint32_t in_chunk; /* number of keys in the open chunk */
	struct buf made;   /* buffer for a ROWCOL key */
	/* place and first key of each chunk; the last may be unwritten */
	struct hindex_list chunks;
	size_t written;
	uint64_t keys, max_total, bytes;
	struct hbloom_lanes lanes; /* keys of equal length, to hash several at a time */
};

/* Start a filter, which borrows `pending` with room for `cap` keys. NULL and 0 mean no room yet. */
void hfile_bloom_init(struct hbloom *b, enum bloom_type type, uint32_t prefix, uint32_t block_bytes,
		      struct hbloom_hash *pending, size_t cap);
/*
 * Add the key of a cell. The key must differ from the previous key. Returns false if memory is
 * short.
 */
bool __attribute__((warn_unused_result))
hfile_bloom_add(struct hbloom *b, struct bytes row, struct bytes qualifier);
/*
 * Return true if hfile_bloom_add_quick may add a row. This is false for the first and the last key
 * of a chunk, and if the lanes are full.
 */
static inline bool hfile_bloom_is_quick(const struct hbloom *b, struct bytes row)
{
	return row.len == b->lane_bytes && row.len <= BLOOM_ROOM && b->nlanes < HBLOOM_LANES &&
	       b->npending < b->cap && b->in_chunk - 1 < b->max_keys - 2;
}
/* Add a row as hfile_bloom_add does. BLOOM_ROOM bytes from row.ptr on must be readable. */
static inline void hfile_bloom_add_quick(struct hbloom *b, struct bytes row)
{
	memcpy(b->lanes.key[b->nlanes++], row.ptr, BLOOM_ROOM);
	b->npending++;
	b->keys++;
	b->in_chunk++;
}
/* Count the chunks that became full since the last call. The caller must write them now. */
size_t hfile_bloom_due(const struct hbloom *b, size_t before, bool closing);
int hfile_bloom_write_chunk(struct hbloom *b, struct hblock_out *out, struct buf *scratch,
			    struct hblock_place *place, struct error *err);
/* Write the meta block (6.5) of either filter. */
int hfile_bloom_write_meta(struct hbloom *b, enum hblock_type type, struct hblock_out *out,
			   struct buf *scratch, struct hblock_place *place, struct error *err);
/* Free all memory except `pending`. */
void hfile_bloom_release(struct hbloom *b);

/* A bloom filter read from its meta block. `chunks` has each chunk's offset and first key. */
struct hbloom_meta {
	uint32_t hashes, hash; /* number of hashes for a key, and their kind */
	uint64_t keys, max_keys, bytes;
	struct hindex_list chunks;
};
/* HBase's Jenkins, Murmur2 and Murmur3. saltmill cannot use a filter with another hash. */
bool hfile_bloom_hash_known(uint32_t hash);
int hfile_bloom_meta_parse(struct hbloom_meta *m, struct bytes payload, struct error *err);
bool hfile_bloom_chunk_has(const struct hbloom_meta *m, struct bytes chunk, struct bytes key);

#endif
