/*
 * hash.h - the hashes that a key or a salt may name
 *
 * murmur3_32: MurmurHash3_x86_32 (A. Appleby).  java31: java.util.Arrays.hashCode(byte[]), bytes
 * signed, 32-bit wraparound (model/key/README.md 1).
 */
#ifndef SALTMILL_HASH_H
#define SALTMILL_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

uint32_t murmur3_32(struct bytes key, uint32_t seed);
int32_t java31(struct bytes key);
void md5(struct bytes key, uint8_t digest[16]);

/* crc32c.h - CRC-32C (Castagnoli; RFC 3720, B.4) */

#define CRC32C_START 0xffffffff

/* The register behind n bytes more; what begins with CRC32C_START is inverted at the end. */
uint32_t crc32c_add(uint32_t crc, const uint8_t *p, size_t n);

/*
 * --- XXH3 by the widest instructions of the processor at hand, chosen by libxxhash
 * itself
 *
 * Plain xxhash.h has what every processor of the kind has: half the speed.  The digests are equal.
 */

#define XXH_STATIC_LINKING_ONLY /* states on the stack: nothing that can fail */
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

/*
 * --- how many different values were seen, exactly up to a million ---
 */

#define DISTINCT_MOST ((size_t)1 << 20)

/* Hashes of 64 bits, of values that their owner hashes well.  {0} is empty. */
struct distinct {
	uint64_t *hash;
	size_t n, room;
	bool many; /* more than DISTINCT_MOST: n is that, and what else comes is not looked at */
};
/* true: it is new to the set, as far as that can be told. */
bool distinct_add(struct distinct *d, uint64_t hash);
void distinct_release(struct distinct *d);

#endif
