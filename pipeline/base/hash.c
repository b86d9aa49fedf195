/*
 * hash.c - MurmurHash3_x86_32, Arrays.hashCode, MD5
 *
 * The function reads the tail of Murmur's input byte by byte, so a key of any length and alignment
 * is safe. MD5 comes from libmd.
 */
#include "hash.h"

#include <md5.h>

static inline uint32_t rotl32(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static inline uint32_t murmur_mix(uint32_t k)
{
	return rotl32(k * 0xcc9e2d51u, 15) * 0x1b873593u;
}

static uint32_t murmur_tail(const uint8_t *p, size_t n)
{
	uint32_t k = 0;

	for (size_t i = n; i-- > 0;)
		k = k << 8 | p[i];
	return k;
}

uint32_t murmur3_32(struct bytes key, uint32_t seed)
{
	uint32_t h = seed, k;
	size_t at = 0;

	for (; key.len - at >= 4; at += 4) {
		memcpy(&k, key.ptr + at, 4);
		h = rotl32(h ^ murmur_mix(k), 13) * 5 + 0xe6546b64u;
	}
	if (at < key.len)
		h ^= murmur_mix(murmur_tail(key.ptr + at, key.len - at));
	h ^= (uint32_t)key.len;
	h = (h ^ h >> 16) * 0x85ebca6bu;
	h = (h ^ h >> 13) * 0xc2b2ae35u;
	return h ^ h >> 16;
}

int32_t java31(struct bytes key)
{
	uint32_t h = 1;

	for (size_t i = 0; i < key.len; i++) {
		int32_t b = (int8_t)key.ptr[i];

		h = 31 * h + (uint32_t)b;
	}
	return (int32_t)h;
}

void md5(struct bytes key, uint8_t digest[16])
{
	MD5_CTX ctx;
	MD5Init(&ctx);
	if (key.len)
		MD5Update(&ctx, key.ptr, key.len);
	MD5Final(digest, &ctx);
}
