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

/*
 * --- file_digest: the digest of a file, which several processes can compute together ---
 *
 * The digest is the sum of the XXH3-128 of all chunks of the file, modulo 2^128. The seed of a
 * chunk is its number, from 0. So the digest of a file of at most FILE_CHUNK bytes is its XXH3-128.
 */

#define FILE_CHUNK ((uint64_t)1 << 20)

struct file_digest {
	void *state;	   /* of the current chunk */
	uint64_t at;	   /* offset of the next byte */
	uint64_t from, to; /* the sum includes the chunks that begin in [from, to) */
	bool inside;	   /* the sum includes the current chunk, of which some bytes were added */
	uint64_t low, high;
};

/* Begin with the byte at `at`. The caller closes `d`. */
void file_digest_open(struct file_digest *d, uint64_t at);
/* Include only the chunks that begin in [from, to). Call it in the first chunk of the file. */
void file_digest_limit(struct file_digest *d, uint64_t from, uint64_t to);
/* Continue at another byte. The sum omits the current chunk, unless it begins there. */
void file_digest_move(struct file_digest *d, uint64_t at);
void file_digest_add(struct file_digest *d, const uint8_t *p, size_t n);
/* Compute the sum in canonical form, as if the file ended at the current byte. */
void file_digest_sum(const struct file_digest *d, uint8_t digest[16]);
void file_digest_close(struct file_digest *d);
/* Return the end of the chunk that contains the byte before `at`. */
uint64_t file_chunk_end(uint64_t at);
/* Add a sum of other chunks of the file. */
void digest_add(uint8_t sum[16], const uint8_t more[16]);

/* --- distinct: count different values, exactly up to a million --- */

#define DISTINCT_MOST ((size_t)1 << 20)

/* A set of 64-bit hashes. {0} is empty. The caller must use a good hash function. */
struct distinct {
	uint64_t *hash;
	size_t n, room;
	/* the counter got more than DISTINCT_MOST values; `n` no longer grows */
	bool many;
	uint64_t later; /* the hash to add next, or 0 */
};
/*
 * Add a hash. Returns true if the hash is new to the set. After DISTINCT_MOST values, the result is
 * only an estimate.
 */
bool distinct_add(struct distinct *d, uint64_t hash);
/*
 * Add the hash of the call before, and remember this one. Its place is then in the cache, which a
 * large set needs. distinct_settle adds the last one; call it before you use the numbers.
 */
void distinct_add_later(struct distinct *d, uint64_t hash);
void distinct_settle(struct distinct *d);
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
