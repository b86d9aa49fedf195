/* derive.c - compute salts and hashes from other parts of a key */
#include "derive.h"
#include "hash.h"
#include "key.h"

#define FANOUT_SEED 1

uint64_t fanout_first(const struct key_part *part, struct bytes in)
{
	return murmur3_32(in, 0) % part->buckets;
}

uint64_t salt_drawn(const struct key_part *part, struct bytes event, uint64_t place)
{
	if (part->draw == DRAW_RANDOM)
		return murmur3_32(event, part->seed) % part->buckets;
	return (place % part->buckets + part->seed) % part->buckets;
}

static uint64_t salt_number(const struct key_part *part, struct bytes in, struct bytes rest)
{
	if (part->fanout)
		return (fanout_first(part, in) + murmur3_32(rest, FANOUT_SEED) % part->fanout) %
		       part->buckets;
	if (part->hash == HASH_MURMUR3)
		return murmur3_32(in, 0) % part->buckets;
	int32_t h = java31(in), n = (int32_t)part->buckets;
	if (part->hash == HASH_HBASEWD) {
		/* Java's Math.abs(Integer.MIN_VALUE) is negative, so the salt is negative too */
		h = h < 0 && h != INT32_MIN ? -h : h;
		return (uint64_t)(int64_t)(h % n);
	}
	h %= n; /* the remainder has the sign of `h`, as in Java */
	return (uint64_t)(h < 0 ? -h : h);
}

void salt_write(uint64_t salt, uint32_t width, uint8_t *to)
{
	for (uint32_t i = width; i-- > 0; salt >>= 8)
		to[i] = (uint8_t)salt;
}

void derive(const struct key_derived *d, struct bytes in, struct bytes rest, uint8_t *to)
{
	uint8_t digest[16] = {0};

	if (d->part->kind == PART_SALT) {
		salt_write(salt_number(d->part, in, rest), d->width, to);
		return;
	}
	if (d->part->hash == HASH_MD5)
		md5(in, digest);
	else
		put_be32(digest, murmur3_32(in, 0));
	memcpy(to, digest, d->width);
}
