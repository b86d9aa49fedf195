/*
 * hash.h - hashes for keys and salts, checksums, digests, and counts of distinct values
 *
 * murmur3_32 is MurmurHash3_x86_32 (A. Appleby). java31 is java.util.Arrays.hashCode(byte[]), with
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

/* Return the register after `n` more bytes. Start with CRC32C_START and invert the final value. */
uint32_t crc32c_add(uint32_t crc, const uint8_t *p, size_t n);

/*
 * --- XXH3 with the widest instructions of the processor, chosen at run time ---
 *
 * xxhash.h alone uses only instructions that every processor has, and runs at half the speed. Both
 * libraries give the same digests.
 */

#define XXH_STATIC_LINKING_ONLY /* allows states on the stack, which need no allocation */
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

/* --- distinct: count different values, exactly up to a million --- */

#define DISTINCT_MOST ((size_t)1 << 20)

/* A set of 64-bit hashes. {0} is empty. The caller must use a good hash function. */
struct distinct {
	uint64_t *hash;
	size_t n, room;
	/* the counter got more than DISTINCT_MOST values; `n` no longer grows */
	bool many;
};
/*
 * Add a hash. Returns true if the hash is new to the set. After DISTINCT_MOST values, the result is
 * only an estimate.
 */
bool distinct_add(struct distinct *d, uint64_t hash);
void distinct_release(struct distinct *d);

/* --- names: find a name among many --- */

/*
 * A name with a number that the caller sets. The number is 0 at first. The struct borrows the name.
 */
struct name_entry {
	const char *name;
	size_t number;
};
/* {0} is empty. */
struct name_index {
	struct name_entry *entry;
	size_t n, room;
};
/*
 * Return the entry of the name. If the name is new, the function adds an entry. The result is valid
 * until the next names_add.
 */
struct name_entry *names_add(struct name_index *s, const char *name);
/* Return the entry of the name, or NULL if the name is unknown. */
const struct name_entry *names_find(const struct name_index *s, const char *name);
void names_release(struct name_index *s);

#endif
