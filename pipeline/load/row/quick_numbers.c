/*
 * quick_numbers.c - convert a column of digits to numbers, for many rows at once
 *
 * There is one function for each instruction set. All functions return the same numbers
 * (test_load_quick.c).
 */
#include "digits.h"
#include "field.h"
#include "compiled.h"

#define SHORT_BYTES EVENT_ROOM_BYTES

static bool numbers_portable(const struct quick_number *q, const struct event_rows *rows,
			     uint64_t *u)
{
	const uint16_t *end = rows->ends + q->column;

	for (size_t i = 0; i < rows->n; i++, end += rows->stride) {
		struct row_field f = row_field(end);

		if (!digits_portable(bytes_of(rows->text + f.at, f.len), &u[i]) || u[i] > q->max)
			return false;
		u[i] *= q->scale;
	}
	return true;
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

static SSE41 bool numbers_sse41(const struct quick_number *q, const struct event_rows *rows,
				uint64_t *u)
{
	const uint16_t *end = rows->ends + q->column;
	__m128i over = _mm_setzero_si128();
	bool bad = false;

	for (size_t i = 0; i < rows->n; i++, end += rows->stride) {
		struct row_field f = row_field(end);

		if (f.len - 1 >= SHORT_BYTES)
			return false;
		uint64_t v = sixteen_sse41(rows->text + f.at, f.len, &over);
		bad |= v > q->max;
		u[i] = v * q->scale;
	}
	return !bad && _mm_testz_si128(over, over);
}

/*
 * Load 1 to 8 digits in memory order, after zeros. A byte that is not a digit becomes a value above
 * 9.
 */
static inline uint64_t eight_of(const uint8_t *p, size_t len)
{
	return (load64(p) ^ ZEROS) << (64 - 8 * len);
}

static inline AVX2 __attribute__((always_inline)) __m256i load_two(const uint8_t *a,
								   const uint8_t *b)
{
	__m128i lo = _mm_loadu_si128((const __m128i *)(const void *)a);
	__m128i hi = _mm_loadu_si128((const __m128i *)(const void *)b);

	return _mm256_inserti128_si256(_mm256_castsi128_si256(lo), hi, 1);
}

/*
 * Convert numbers of up to eight digits, four rows at a time. Return false if a number may have
 * more digits, or if take_numbers would return false.
 */
static AVX2 bool eights_avx2(const struct quick_number *q, const struct event_rows *rows,
			     uint64_t *u)
{
	const uint8_t *text = rows->text;
	const uint16_t *end = rows->ends + q->column;
	const size_t stride = rows->stride;
	const __m256i max = _mm256_set1_epi64x(q->max < INT64_MAX ? (int64_t)q->max : INT64_MAX);
	const __m256i scale = _mm256_set1_epi64x((int64_t)q->scale);
	__m256i over = _mm256_setzero_si256();

	if (rows->n % 4 || q->scale > UINT32_MAX)
		return false;
	for (size_t i = 0; i < rows->n; i += 4, end += 4 * stride) {
		struct row_field a = row_field(end), b = row_field(end + stride),
				 c = row_field(end + 2 * stride), d = row_field(end + 3 * stride);

		if (((a.len - 1) | (b.len - 1) | (c.len - 1) | (d.len - 1)) >= 8)
			return false;
		__m256i x = _mm256_set_epi64x((int64_t)eight_of(text + d.at, d.len),
					      (int64_t)eight_of(text + c.at, c.len),
					      (int64_t)eight_of(text + b.at, b.len),
					      (int64_t)eight_of(text + a.at, a.len));
		over = _mm256_or_si256(over, _mm256_subs_epu8(x, _mm256_set1_epi8(9)));
		x = _mm256_maddubs_epi16(x, _mm256_set1_epi16(1 << 8 | 10));
		x = _mm256_madd_epi16(x, _mm256_set1_epi32(1 << 16 | 100));
		x = _mm256_add_epi64(_mm256_mul_epu32(x, _mm256_set1_epi64x(10000)),
				     _mm256_srli_epi64(x, 32));
		over = _mm256_or_si256(over, _mm256_cmpgt_epi64(x, max));
		_mm256_storeu_si256((__m256i *)(void *)(u + i), _mm256_mul_epu32(x, scale));
	}
	return _mm256_testz_si256(over, over);
}

/* Convert numbers as sixteen_sse41 does, two rows at a time. */
static AVX2 bool numbers_avx2(const struct quick_number *q, const struct event_rows *rows,
			      uint64_t *u)
{
	const uint8_t *text = rows->text;
	const uint16_t *end = rows->ends + q->column;
	const size_t n = rows->n, stride = rows->stride;
	const uint64_t scale = q->scale;
	const __m256i max = _mm256_set1_epi64x(q->max < INT64_MAX ? (int64_t)q->max : INT64_MAX);
	__m256i over = _mm256_setzero_si256();

	if (row_field(end).len <= 8 && eights_avx2(q, rows, u))
		return true;
	for (size_t i = 0; i < n; i += 2, end += 2 * stride) {
		size_t k = i + (i + 1 < n);
		struct row_field a = row_field(end), b = row_field(end + (k - i) * stride);

		if (((a.len - 1) | (b.len - 1)) >= SHORT_BYTES)
			return false;
		__m256i x = load_two(text + a.at, text + b.at);
		__m256i to = load_two(digit_slide + a.len, digit_slide + b.len);
		x = _mm256_shuffle_epi8(_mm256_sub_epi8(x, _mm256_set1_epi8('0')), to);
		over = _mm256_or_si256(over, _mm256_subs_epu8(x, _mm256_set1_epi8(9)));
		x = _mm256_maddubs_epi16(x, _mm256_set1_epi16(1 << 8 | 10));
		x = _mm256_madd_epi16(x, _mm256_set1_epi32(1 << 16 | 100));
		x = _mm256_madd_epi16(_mm256_packus_epi32(x, x),
				      _mm256_set1_epi32(1 << 16 | 10000));
		x = _mm256_add_epi64(_mm256_mul_epu32(x, _mm256_set1_epi64x(100000000)),
				     _mm256_srli_epi64(x, 32));
		over = _mm256_or_si256(over, _mm256_cmpgt_epi64(x, max));
		u[i] = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(x)) * scale;
		u[k] = (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(x, 1)) * scale;
	}
	return _mm256_testz_si256(over, over);
}

size_t quick_ways(take_numbers *ways[QUICK_WAYS])
{
	ways[0] = numbers_portable;
	ways[1] = numbers_sse41;
	ways[2] = numbers_avx2;
	if (!__builtin_cpu_supports("sse4.1"))
		return 1;
	return __builtin_cpu_supports("avx2") ? 3 : 2;
}
#else
size_t quick_ways(take_numbers *ways[QUICK_WAYS])
{
	ways[0] = numbers_portable;
	return 1;
}
#endif
