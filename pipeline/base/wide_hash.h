/* wide_hash.h - XXH3 for processors with AVX2, with the state struct of libxxhash */
#ifndef SALTMILL_BASE_WIDE_HASH_H
#define SALTMILL_BASE_WIDE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t wide_hash64(const void *input, size_t len, uint64_t seed);
void wide_hash128(const void *input, size_t len, uint64_t *low, uint64_t *high);
void wide_hash64_update(void *state, const void *input, size_t len);
void wide_hash128_update(void *state, const void *input, size_t len);

#endif
