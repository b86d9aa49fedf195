/*
 * bloom_bits.h - compute two hashes of a bloom key, and the bits for two hashes
 *
 * If the processor has AVX2, the function hashes eight keys of one length at a time, with the same
 * result.
 */
#ifndef SALTMILL_HFILE_BLOOM_BITS_H
#define SALTMILL_HFILE_BLOOM_BITS_H

#include "bytes.h"

/* Compute MurmurHash2 with signed tail bytes, HBase's hash type 1 (6.2). */
uint32_t hfile_bloom_murmur2(struct bytes key, uint32_t seed);
/* Compute Jenkins' lookup3 (hashlittle), HBase's hash type 0. */
uint32_t hfile_bloom_jenkins(struct bytes key, uint32_t seed);
/* Return the bit of probe `i` in a chunk of `bits` bits. */
uint64_t hfile_bloom_bit(uint32_t h1, uint32_t h2, uint32_t i, uint64_t bits);

struct hbloom_hash {
	uint32_t h1, h2;
};

#define HBLOOM_LANES	  8
#define HBLOOM_LANE_BYTES 64

/* Keys of one length, interleaved. Bytes after the keys have no effect. */
struct hbloom_lanes {
	uint8_t key[HBLOOM_LANES][HBLOOM_LANE_BYTES];
};

struct hbloom_kernel {
	/* Compute the hashes of HBLOOM_LANES keys of `key_bytes` bytes each. */
	void (*hash)(const struct hbloom_lanes *keys, size_t key_bytes, struct hbloom_hash *out);
	/* Set the bits of `count` keys. */
	void (*set)(uint8_t *bitmap, uint64_t bits, uint32_t hashes, const struct hbloom_hash *h,
		    size_t count);
};
const struct hbloom_kernel *hfile_bloom_kernel_portable(void);
/* Choose the fastest kernel of this processor. */
const struct hbloom_kernel *hfile_bloom_kernel_choose(void);

#endif
