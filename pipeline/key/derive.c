/*
 * derive.c - salts and hashes over the other parts of a key
 */
#include "derive.h"
#include "hash.h"

static uint64_t salt_number(const struct key_part *part, struct bytes in)
{
	if (part->hash == HASH_MURMUR3)
		return murmur3_32(in, 0) % part->buckets;
	int32_t h = java31(in), n = (int32_t)part->buckets;
	if (part->hash == HASH_HBASEWD) {
		/* Math.abs(Integer.MIN_VALUE) stays negative, and so does the salt */
		h = h < 0 && h != INT32_MIN ? -h : h;
		return (uint64_t)(int64_t)(h % n);
	}
	h %= n; /* truncating, as Java's */
	return (uint64_t)(h < 0 ? -h : h);
}

void derive(const struct key_derived *d, struct bytes in, uint8_t *to)
{
	uint8_t digest[16] = {0};
	if (d->part->kind == PART_SALT) {
		uint64_t salt = salt_number(d->part, in);
		if (d->width == 1) {
			*to = (uint8_t)salt;
			return;
		}
		for (uint32_t i = d->width; i-- > 0; salt >>= 8)
			to[i] = (uint8_t)salt;
		return;
	}
	if (d->part->hash == HASH_MD5)
		md5(in, digest);
	else
		put_be32(digest, murmur3_32(in, 0));
	memcpy(to, digest, d->width);
}
