/*
 * bloom_bits.h - two hashes for a bloom key, and the bits for two hashes
 *
 * Keys of one length are hashed eight at a time if the processor can; the bits are the same.
 */
#ifndef SALTMILL_HFILE_BLOOM_BITS_H
#define SALTMILL_HFILE_BLOOM_BITS_H

#include "bytes.h"

/* MurmurHash2 with signed tail bytes, HBase's hash type 1 (6.2). */
uint32_t hfile_bloom_murmur2(struct bytes key, uint32_t seed);
/* Jenkins' lookup3 (hashlittle), hash type 0. */
uint32_t hfile_bloom_jenkins(struct bytes key, uint32_t seed);
/* The bit of probe i in a chunk of `bits` bits. */
uint64_t hfile_bloom_bit(uint32_t h1, uint32_t h2, uint32_t i, uint64_t bits);

struct hbloom_hash {
	uint32_t h1, h2;
};

#define HBLOOM_LANES	  8
#define HBLOOM_LANE_BYTES 64

/* Keys of one length side by side; bytes after them do not count. */
struct hbloom_lanes {
	uint8_t key[HBLOOM_LANES][HBLOOM_LANE_BYTES];
};

struct hbloom_kernel {
	/* The hashes of HBLOOM_LANES keys of key_bytes each. */
	void (*hash)(const struct hbloom_lanes *keys, size_t key_bytes, struct hbloom_hash *out);
	/* Set the bits of count keys. */
	void (*set)(uint8_t *bitmap, uint64_t bits, uint32_t hashes, const struct hbloom_hash *h,
		    size_t count);
};
const struct hbloom_kernel *hfile_bloom_kernel_portable(void);
/* Choose the fastest kernel of this processor. */
const struct hbloom_kernel *hfile_bloom_kernel_choose(void);

#endif
