/* static_xxhash_avx2.c - see wide_hash.h; the Makefile compiles it with -mavx2 */
#include "wide_hash.h"

#if defined(__x86_64__)
#pragma GCC diagnostic ignored "-Wall" /* the library's own code follows */
#pragma GCC diagnostic ignored "-Wextra"
#define XXH_INLINE_ALL
#define XXH_VECTOR 2 /* XXH_AVX2 */
#include <xxhash.h>

uint64_t wide_hash64(const void *input, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(input, len, seed);
}

void wide_hash128(const void *input, size_t len, uint64_t *low, uint64_t *high)
{
	XXH128_hash_t h = XXH3_128bits(input, len);

	*low = h.low64;
	*high = h.high64;
}

void wide_hash64_update(void *state, const void *input, size_t len)
{
	XXH3_64bits_update(state, input, len);
}

void wide_hash128_update(void *state, const void *input, size_t len)
{
	XXH3_128bits_update(state, input, len);
}
#endif
