/*
 * hash.h - hashes: for keys and salts, checksums, digests, and counts of distinct values
 *
 * murmur3_32: MurmurHash3_x86_32 (A. Appleby). java31: java.util.Arrays.hashCode(byte[]), with
 * signed bytes and 32-bit wraparound (model/key/README.md 1).
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

/* --- CRC-32C (Castagnoli; RFC 3720, B.4) --- */

#define CRC32C_START 0xffffffff

/* Return the register after n more bytes. Start with CRC32C_START and invert the final value. */
uint32_t crc32c_add(uint32_t crc, const uint8_t *p, size_t n);

/*
 * --- XXH3 with the widest instructions of the processor, which libxxhash chooses at run time ---
 *
 * xxhash.h alone uses only instructions that every processor has, at half the speed. The digests
 * are equal.
 */

#define XXH_STATIC_LINKING_ONLY /* allows states on the stack, which cannot fail */
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

/* --- distinct: count different values, exactly up to a million --- */

#define DISTINCT_MOST ((size_t)1 << 20)

/* A set of 64-bit hashes; the caller hashes the values well. {0} is empty. */
struct distinct {
	uint64_t *hash;
	size_t n, room;
	bool many; /* DISTINCT_MOST was exceeded: n stays there, more values are ignored */
};
/* Add a hash; true: it is new to the set, as far as is known. */
bool distinct_add(struct distinct *d, uint64_t hash);
void distinct_release(struct distinct *d);

#endif
