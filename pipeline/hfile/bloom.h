/*
 * bloom.h - compound bloom filters (README.md 6)
 *
 * A key is kept as its two hashes until its chunk is written. The size of the chunk is then known,
 * so a chunk that HBase would fold is written small at once.
 */
#ifndef SALTMILL_HFILE_BLOOM_H
#define SALTMILL_HFILE_BLOOM_H

#include "block.h"
#include "bloom_bits.h"
#include "index.h"
#include "table.h"

/* Compute the number of hashes, and the keys that a chunk of chunk_bytes holds (6.3). */
void hfile_bloom_sizes(enum bloom_type type, uint32_t chunk_bytes, uint32_t *hashes,
		       uint32_t *max_keys);
/*
 * The key to hash for a row and qualifier. A ROWCOL key is made in store; false: no memory for it.
 */
bool hfile_bloom_key(enum bloom_type type, uint32_t prefix, struct bytes row,
		     struct bytes qualifier, struct buf *store, struct bytes *key)
	__attribute__((warn_unused_result));

/* Chunks to write, for both filters of a file. */
struct hbloom_due {
	size_t general, deletes;
};

struct hbloom {
	enum bloom_type type;
	uint32_t prefix, chunk_bytes, hashes, max_keys;
	struct hbloom_hash *pending; /* of chunks not yet written; the scratch keeps it */
	size_t npending, cap;	     /* the last nlanes of pending are not hashed yet */
	size_t nlanes, lane_bytes;
	const struct hbloom_kernel *kernel;
	uint32_t in_chunk;	   /* keys of the open chunk */
	struct buf made;	   /* a ROWCOL key */
	struct hindex_list chunks; /* place and first key; the last may not be written yet */
	size_t written;
	uint64_t keys, max_total, bytes;
	struct hbloom_lanes lanes; /* keys of lane_bytes, hashed when there are enough */
};

/* Takes over pending, which has room for cap keys (NULL and 0: none yet). */
void hfile_bloom_init(struct hbloom *b, enum bloom_type type, uint32_t prefix, uint32_t block_bytes,
		      struct hbloom_hash *pending, size_t cap);
/* Add the key of a cell that differs from the key before it; false: no memory. */
bool __attribute__((warn_unused_result))
hfile_bloom_add(struct hbloom *b, struct bytes row, struct bytes qualifier);
/* Count the full chunks to write now, without those that were due before and are not written. */
size_t hfile_bloom_due(const struct hbloom *b, size_t before, bool closing);
int hfile_bloom_write_chunk(struct hbloom *b, struct hblock_out *out, struct buf *scratch,
			    struct hblock_place *place, struct error *err);
/* Write the meta block of 6.5, of either type. */
int hfile_bloom_write_meta(struct hbloom *b, enum hblock_type type, struct hblock_out *out,
			   struct buf *scratch, struct hblock_place *place, struct error *err);
/* Free everything except pending. */
void hfile_bloom_release(struct hbloom *b);

/* A bloom filter read from its meta block; chunks has each chunk's place and first key. */
struct hbloom_meta {
	uint32_t hashes, hash; /* number of hashes for a key, and their kind */
	uint64_t keys, max_keys, bytes;
	struct hindex_list chunks;
};
/* HBase's Jenkins, Murmur2 and Murmur3. A filter with another hash cannot be used. */
bool hfile_bloom_hash_known(uint32_t hash);
int hfile_bloom_meta_parse(struct hbloom_meta *m, struct bytes payload, struct error *err);
bool hfile_bloom_chunk_has(const struct hbloom_meta *m, struct bytes chunk, struct bytes key);

#endif
