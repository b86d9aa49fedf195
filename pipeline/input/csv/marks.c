/*
 * marks.c - find special bytes, 64 at a time
 *
 * A block of 64 bytes becomes a word with one bit per special byte. The bits become a list of
 * positions, so readers walk an array and never wait for a block (simdjson's first stage, Langdale
 * & Lemire 2019). The function always writes the list in groups of eight, because the CPU would
 * mispredict the end of a shorter loop once per block.
 */
#include "input/marks.h"

#include "mem.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static size_t scan_portable(uint16_t *at, const uint8_t *text, size_t len, uint8_t delimiter,
			    uint8_t quote)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		uint8_t c = text[i];

		at[n] = (uint16_t)i;
		n += c == delimiter || c == quote || c == '\n' || c == '\r';
	}
	return n;
}

#if defined(__x86_64__)
static inline uint64_t bits_sse2(const uint8_t *p, __m128i d, __m128i q)
{
	const __m128i lf = _mm_set1_epi8('\n'), cr = _mm_set1_epi8('\r');
	uint64_t bits = 0;

	for (unsigned i = 0; i < MARKS_BLOCK; i += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i m =
			_mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, d), _mm_cmpeq_epi8(v, q)),
				     _mm_or_si128(_mm_cmpeq_epi8(v, lf), _mm_cmpeq_epi8(v, cr)));

		bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(m) << i;
	}
	return bits;
}

static size_t scan_sse2(uint16_t *at, const uint8_t *text, size_t len, uint8_t delimiter,
			uint8_t quote)
{
	const __m128i d = _mm_set1_epi8((char)delimiter), q = _mm_set1_epi8((char)quote);
	size_t n = 0;

	for (size_t i = 0; i < len; i += MARKS_BLOCK)
		for (uint64_t bits = bits_sse2(text + i, d, q); bits; bits &= bits - 1)
			at[n++] = (uint16_t)(i + (size_t)__builtin_ctzll(bits));
	return n;
}

#define AVX2 __attribute__((target("avx2,bmi,popcnt")))

static inline AVX2 uint32_t bits_avx2(const uint8_t *p, __m256i d, __m256i q)
{
	const __m256i lf = _mm256_set1_epi8('\n'), cr = _mm256_set1_epi8('\r');
	__m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
	__m256i m =
		_mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(v, d), _mm256_cmpeq_epi8(v, q)),
				_mm256_or_si256(_mm256_cmpeq_epi8(v, lf),
						_mm256_cmpeq_epi8(v, cr)));

	return (uint32_t)_mm256_movemask_epi8(m);
}

/*
 * Write eight entries. If no bit remains, tzcnt returns 64. The count excludes such an entry, and a
 * later entry overwrites the entry.
 */
static inline AVX2 uint64_t put_eight(uint16_t *at, uint64_t bits, size_t i)
{
#define PUT(k) at[k] = (uint16_t)(i + _tzcnt_u64(bits)), bits = _blsr_u64(bits)
	PUT(0), PUT(1), PUT(2), PUT(3), PUT(4), PUT(5), PUT(6), PUT(7);
#undef PUT
	return bits;
}

static AVX2 size_t scan_avx2(uint16_t *at, const uint8_t *text, size_t len, uint8_t delimiter,
			     uint8_t quote)
{
	const __m256i d = _mm256_set1_epi8((char)delimiter), q = _mm256_set1_epi8((char)quote);
	uint16_t *to = at;

	for (size_t i = 0; i < len; i += MARKS_BLOCK) {
		uint64_t bits =
			(uint64_t)bits_avx2(text + i + 32, d, q) << 32 | bits_avx2(text + i, d, q);
		uint16_t *next = to + _mm_popcnt_u64(bits);

		do {
			bits = put_eight(to, bits, i);
			to += MARKS_SLACK;
		} while (to < next);
		to = next;
	}
	return (size_t)(to - at);
}

size_t marks_ways(scan_marks *ways[MARKS_WAYS])
{
	ways[0] = scan_portable;
	ways[1] = scan_sse2;
	ways[2] = scan_avx2;
	return 2 + (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		    __builtin_cpu_supports("popcnt"));
}
#else
size_t marks_ways(scan_marks *ways[MARKS_WAYS])
{
	ways[0] = scan_portable;
	return 1;
}
#endif

void marks_open(struct marks *m, uint8_t delimiter, uint8_t quote)
{
	scan_marks *ways[MARKS_WAYS];
	size_t n = marks_ways(ways);

	*m = (struct marks){.delimiter = delimiter, .quote = quote, .scan = ways[n - 1]};
}

void marks_close(struct marks *m)
{
	mem_free(m->at ? m->at - 1 : NULL);
	*m = (struct marks){0};
}

void marks_scan(struct marks *m, const uint8_t *from, const uint8_t *last)
{
	size_t blocks = (size_t)(last - from) / MARKS_BLOCK + 1;

	if (blocks > MARKS_WINDOW / MARKS_BLOCK)
		blocks = MARKS_WINDOW / MARKS_BLOCK;
	if (!m->at)
		m->at = (uint16_t *)mem_alloc((1 + MARKS_WINDOW + MARKS_SLACK) * sizeof *m->at) + 1;
	m->base = from;
	m->scanned = from + blocks * MARKS_BLOCK;
	m->next = 0;
	m->n = m->scan(m->at, from, blocks * MARKS_BLOCK, m->delimiter, m->quote);
}

void marks_pass(struct marks *m, const uint8_t *p)
{
	if (p >= m->scanned) {
		m->next = m->n = 0;
		m->scanned = p;
		return;
	}
	while (m->next < m->n && m->base + m->at[m->next] < p)
		m->next++;
}
