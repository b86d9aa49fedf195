/* file_digest.c - the digest of a file as a sum over its chunks */
#include <string.h>

#include "hash.h"
#include "mem.h"

static void take(struct file_digest *d, XXH128_hash_t hash)
{
	d->low += hash.low64;
	d->high += hash.high64 + (d->low < hash.low64);
}

void file_digest_open(struct file_digest *d, uint64_t at)
{
	*d = (struct file_digest){.at = at, .to = UINT64_MAX};
	d->state = mem_alloc_aligned(64, sizeof(XXH3_state_t));
	XXH3_128bits_reset(d->state);
}

void file_digest_limit(struct file_digest *d, uint64_t from, uint64_t to)
{
	d->from = from;
	d->to = to;
	d->inside = d->inside && from == 0 && to > 0;
}

void file_digest_move(struct file_digest *d, uint64_t at)
{
	d->at = at;
	d->inside = false;
}

void file_digest_add(struct file_digest *d, const uint8_t *p, size_t n)
{
	while (n > 0) {
		uint64_t rest = FILE_CHUNK - d->at % FILE_CHUNK;
		size_t len = n < rest ? n : (size_t)rest;

		if (rest == FILE_CHUNK && d->at >= d->from && d->at < d->to) {
			XXH3_128bits_reset_withSeed(d->state, d->at / FILE_CHUNK);
			d->inside = true;
		}
		if (d->inside)
			XXH3_128bits_update(d->state, p, len);
		if (d->inside && len == rest) {
			take(d, XXH3_128bits_digest(d->state));
			d->inside = false;
		}
		d->at += len;
		p += len;
		n -= len;
	}
}

void file_digest_sum(const struct file_digest *d, uint8_t digest[16])
{
	struct file_digest all = *d;
	XXH128_canonical_t canonical;

	if (d->inside || d->at == 0) /* an empty file has one empty chunk */
		take(&all, XXH3_128bits_digest(d->state));
	XXH128_canonicalFromHash(&canonical, (XXH128_hash_t){all.low, all.high});
	memcpy(digest, canonical.digest, sizeof canonical.digest);
}

void file_digest_close(struct file_digest *d)
{
	mem_free(d->state);
	d->state = NULL;
}

uint64_t file_chunk_end(uint64_t at)
{
	return at + (FILE_CHUNK - at % FILE_CHUNK) % FILE_CHUNK;
}

void digest_add(uint8_t sum[16], const uint8_t more[16])
{
	unsigned carry = 0;

	for (size_t i = 16; i-- > 0;) {
		carry += (unsigned)sum[i] + more[i];
		sum[i] = (uint8_t)carry;
		carry >>= 8;
	}
}
