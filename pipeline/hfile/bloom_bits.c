/*
 * bloom_bits.c - hash bloom keys and set their bits (README.md 6.2)
 *
 * A vector has word `i` of each of eight keys. The mix of a word does not depend on the seed, so
 * one mix serves both hashes. The second hash uses the first as its seed.
 */
#include "bloom_bits.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define MURMUR_FACTOR 0x5bd1e995u
#define PROBES_MAX    16 /* more probes than a filter with 1 % errors uses */

static uint32_t sign_extended(uint8_t b)
{
	return b & 0x80 ? b | 0xffffff00u : b;
}

uint32_t hfile_bloom_murmur2(struct bytes key, uint32_t seed)
{
	const uint8_t *p = key.ptr;
	size_t n = key.len;
	uint32_t h = seed ^ (uint32_t)n;

	for (; n >= 4; n -= 4, p += 4) {
		uint32_t k;

		memcpy(&k, p, 4);
		k *= MURMUR_FACTOR;
		k ^= k >> 24;
		k *= MURMUR_FACTOR;
		h = h * MURMUR_FACTOR ^ k;
	}
	/* Java's bytes are signed, so a tail byte of 0x80 or more also flips the bits above it. */
	if (n == 3)
		h ^= sign_extended(p[2]) << 16;
	if (n >= 2)
		h ^= sign_extended(p[1]) << 8;
	if (n >= 1) {
		h ^= sign_extended(p[0]);
		h *= MURMUR_FACTOR;
	}
	h ^= h >> 13;
	h *= MURMUR_FACTOR;
	return h ^ h >> 15;
}

static uint32_t rotate(uint32_t v, unsigned n)
{
	return v << n | v >> (32 - n);
}

struct jenkins {
	uint32_t a, b, c;
};

static void jenkins_mix(struct jenkins *j)
{
	static const unsigned turns[] = {4, 6, 8, 16, 19, 4};

	for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
		uint32_t a = (j->a - j->c) ^ rotate(j->c, turns[i]);

		*j = (struct jenkins){j->b, j->c + j->b, a};
	}
}

static uint32_t jenkins_end(struct jenkins j)
{
	static const unsigned turns[] = {14, 11, 25, 16, 4, 14, 24};

	for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
		uint32_t c = (j.c ^ j.b) - rotate(j.b, turns[i]);

		j = (struct jenkins){j.b, c, j.a};
	}
	return j.b;
}

/* Read up to four bytes as a little-endian number. */
static uint32_t word_of(const uint8_t *p, size_t n)
{
	uint32_t w = 0;

	for (size_t i = 0; i < n && i < 4; i++)
		w |= (uint32_t)p[i] << 8 * i;
	return w;
}

uint32_t hfile_bloom_jenkins(struct bytes key, uint32_t seed)
{
	const uint8_t *p = key.ptr;
	size_t n = key.len;
	uint32_t start = 0xdeadbeef + (uint32_t)n + seed;
	struct jenkins j = {start, start, start};

	for (; n > 12; n -= 12, p += 12) {
		j = (struct jenkins){j.a + word_of(p, 4), j.b + word_of(p + 4, 4),
				     j.c + word_of(p + 8, 4)};
		jenkins_mix(&j);
	}
	if (n == 0)
		return j.c;
	j.a += word_of(p, n);
	j.b += n > 4 ? word_of(p + 4, n - 4) : 0;
	j.c += n > 8 ? word_of(p + 8, n - 8) : 0;
	return jenkins_end(j);
}

/* |s mod bits| by Java's sign rule is |s| mod bits, for 2^31 as well, unsigned. */
uint64_t hfile_bloom_bit(uint32_t h1, uint32_t h2, uint32_t i, uint64_t bits)
{
	uint32_t s = h1 + i * h2;
	uint32_t magnitude = s >> 31 ? 0 - s : s;

	return magnitude % bits;
}

static void hash_portable(const struct hbloom_lanes *keys, size_t key_bytes,
			  struct hbloom_hash *out)
{
	for (size_t i = 0; i < HBLOOM_LANES; i++) {
		struct bytes key = {keys->key[i], key_bytes};
		uint32_t h1 = hfile_bloom_murmur2(key, 0);

		out[i] = (struct hbloom_hash){h1, hfile_bloom_murmur2(key, h1)};
	}
}

static void set_portable(uint8_t *bitmap, uint64_t bits, uint32_t hashes,
			 const struct hbloom_hash *h, size_t count)
{
	/* Almost all sizes are powers of two, so a mask saves the division. */
	uint64_t mask = bits & (bits - 1) ? 0 : bits - 1;

	for (size_t n = 0; n < count; n++) {
		uint32_t s = h[n].h1;

		for (uint32_t i = 0; i < hashes; i++, s += h[n].h2) {
			uint32_t magnitude = s >> 31 ? 0 - s : s;
			uint64_t bit = mask ? magnitude & mask : magnitude % bits;

			bitmap[bit >> 3] |= (uint8_t)(1u << (bit & 7));
		}
	}
}

static const struct hbloom_kernel portable = {hash_portable, set_portable};

const struct hbloom_kernel *hfile_bloom_kernel_portable(void)
{
	return &portable;
}

#if defined(__x86_64__)
#define AVX2   __attribute__((target("avx2")))
#define UNROLL _Pragma("GCC unroll 8") /* unroll loops, so that arrays become registers */

static inline AVX2 __m256i load_lane(const struct hbloom_lanes *keys, size_t lane, size_t at)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)(keys->key[lane] + at));
}

/* Set words[i] to the word at `at + 4 * i` of each key. */
static inline AVX2 void words_at(const struct hbloom_lanes *keys, size_t at, __m256i words[8])
{
	__m256i pair[8], four[8];

	UNROLL for (size_t i = 0; i < 8; i += 2)
	{
		__m256i a = load_lane(keys, i, at), b = load_lane(keys, i + 1, at);

		pair[i] = _mm256_unpacklo_epi32(a, b);
		pair[i + 1] = _mm256_unpackhi_epi32(a, b);
	}
	UNROLL for (size_t i = 0; i < 8; i += 4) UNROLL for (size_t k = 0; k < 2; k++)
	{
		four[i + 2 * k] = _mm256_unpacklo_epi64(pair[i + k], pair[i + 2 + k]);
		four[i + 2 * k + 1] = _mm256_unpackhi_epi64(pair[i + k], pair[i + 2 + k]);
	}
	UNROLL for (size_t i = 0; i < 4; i++)
	{
		words[i] = _mm256_permute2x128_si256(four[i], four[4 + i], 0x20);
		words[4 + i] = _mm256_permute2x128_si256(four[i], four[4 + i], 0x31);
	}
}

/* Return the value of a tail, which is up to three bytes at the low end of each word. */
static inline AVX2 __m256i tail_of(__m256i word, size_t bytes)
{
	__m256i tail = _mm256_srai_epi32(_mm256_slli_epi32(word, 24), 24), b;

	b = _mm256_srai_epi32(_mm256_slli_epi32(word, 16), 24);
	if (bytes >= 2)
		tail = _mm256_xor_si256(tail, _mm256_slli_epi32(b, 8));
	b = _mm256_srai_epi32(_mm256_slli_epi32(word, 8), 24);
	return bytes == 3 ? _mm256_xor_si256(tail, _mm256_slli_epi32(b, 16)) : tail;
}

static inline AVX2 __m256i hash_words(const __m256i *words, size_t count, size_t tail_bytes,
				      __m256i h)
{
	const __m256i factor = _mm256_set1_epi32(MURMUR_FACTOR);

	for (size_t i = 0; i < count; i++)
		h = _mm256_xor_si256(_mm256_mullo_epi32(h, factor), words[i]);
	if (tail_bytes)
		h = _mm256_mullo_epi32(_mm256_xor_si256(h, words[count]), factor);
	h = _mm256_mullo_epi32(_mm256_xor_si256(h, _mm256_srli_epi32(h, 13)), factor);
	return _mm256_xor_si256(h, _mm256_srli_epi32(h, 15));
}

static AVX2 void hash_avx2(const struct hbloom_lanes *keys, size_t key_bytes,
			   struct hbloom_hash *out)
{
	const __m256i factor = _mm256_set1_epi32(MURMUR_FACTOR);
	__m256i words[HBLOOM_LANE_BYTES / 4], length = _mm256_set1_epi32((int)key_bytes);
	size_t count = key_bytes / 4, tail_bytes = key_bytes % 4;

	for (size_t at = 0; at < key_bytes; at += 32)
		words_at(keys, at, words + at / 4);
	for (size_t i = 0; i < count; i++) {
		__m256i k = _mm256_mullo_epi32(words[i], factor);

		words[i] =
			_mm256_mullo_epi32(_mm256_xor_si256(k, _mm256_srli_epi32(k, 24)), factor);
	}
	if (tail_bytes)
		words[count] = tail_of(words[count], tail_bytes);
	__m256i h1 = hash_words(words, count, tail_bytes, length);
	__m256i h2 = hash_words(words, count, tail_bytes, _mm256_xor_si256(h1, length));
	__m256i low = _mm256_unpacklo_epi32(h1, h2), high = _mm256_unpackhi_epi32(h1, h2);
	__m256i *to = (__m256i *)(void *)out;
	_mm256_storeu_si256(to, _mm256_permute2x128_si256(low, high, 0x20));
	_mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(low, high, 0x31));
}

/* Compute the places of all bits first, so that the stores wait only for the bitmap. */
static inline AVX2 void set_eight(uint8_t *bitmap, __m256i mask, uint32_t hashes,
				  const struct hbloom_hash *h)
{
	uint32_t at[8 * PROBES_MAX], bit[8 * PROBES_MAX];
	const float *from = (const float *)(const void *)h; /* copied as bits only */
	__m256 a = _mm256_loadu_ps(from), b = _mm256_loadu_ps(from + 8);
	__m256i s = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
	__m256i step = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd));

	for (uint32_t i = 0; i < hashes; i++, s = _mm256_add_epi32(s, step)) {
		__m256i place = _mm256_and_si256(_mm256_abs_epi32(s), mask);
		__m256i low = _mm256_and_si256(place, _mm256_set1_epi32(7));

		_mm256_storeu_si256((__m256i *)(void *)(at + 8 * i), _mm256_srli_epi32(place, 3));
		_mm256_storeu_si256((__m256i *)(void *)(bit + 8 * i),
				    _mm256_sllv_epi32(_mm256_set1_epi32(1), low));
	}
	for (uint32_t i = 0; i < 8 * hashes; i += 4)
		for (uint32_t k = i; k < i + 4; k++)
			bitmap[at[k]] |= (uint8_t)bit[k];
}

static AVX2 void set_avx2(uint8_t *bitmap, uint64_t bits, uint32_t hashes,
			  const struct hbloom_hash *h, size_t count)
{
	size_t done = 0;

	if ((bits & (bits - 1)) == 0 && bits <= UINT64_C(1) << 31 && hashes <= PROBES_MAX)
		for (; done + 8 <= count; done += 8)
			set_eight(bitmap, _mm256_set1_epi32((int)(bits - 1)), hashes, h + done);
	set_portable(bitmap, bits, hashes, h + done, count - done);
}

static const struct hbloom_kernel avx2 = {hash_avx2, set_avx2};

const struct hbloom_kernel *hfile_bloom_kernel_choose(void)
{
	return __builtin_cpu_supports("avx2") ? &avx2 : &portable;
}
#else
const struct hbloom_kernel *hfile_bloom_kernel_choose(void)
{
	return &portable;
}
#endif
