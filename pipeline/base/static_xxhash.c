/*
 * static_xxhash.c - XXH3 for the static worker, with AVX2 if the processor has it
 *
 * The static libxxhash does not dispatch by processor. So this file defines the functions that
 * saltmill uses. On processors with AVX2 they call wide_hash.h. On other processors they call the
 * portable functions.
 */
#if defined(__x86_64__)
#define XXH_DISPATCH_DISABLE_REPLACE
#include "wide_hash.h"
#include "hash.h"

static bool wide(void)
{
	return __builtin_cpu_supports("avx2");
}

XXH64_hash_t XXH3_64bits_dispatch(const void *input, size_t len)
{
	return XXH3_64bits_withSeed_dispatch(input, len, 0);
}

XXH64_hash_t XXH3_64bits_withSeed_dispatch(const void *input, size_t len, XXH64_hash_t seed)
{
	return wide() ? wide_hash64(input, len, seed) : XXH3_64bits_withSeed(input, len, seed);
}

XXH_errorcode XXH3_64bits_update_dispatch(XXH3_state_t *state, const void *input, size_t len)
{
	if (!wide())
		return XXH3_64bits_update(state, input, len);
	wide_hash64_update(state, input, len);
	return XXH_OK;
}

XXH128_hash_t XXH3_128bits_dispatch(const void *input, size_t len)
{
	XXH128_hash_t h;

	if (!wide())
		return XXH3_128bits(input, len);
	wide_hash128(input, len, &h.low64, &h.high64);
	return h;
}

XXH_errorcode XXH3_128bits_update_dispatch(XXH3_state_t *state, const void *input, size_t len)
{
	if (!wide())
		return XXH3_128bits_update(state, input, len);
	wide_hash128_update(state, input, len);
	return XXH_OK;
}
#else
typedef int none_needed;
#endif
