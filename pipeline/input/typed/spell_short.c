/*
 * spell_short.c - write numbers as short texts; with AVX2, the digits of four numbers at once
 *
 * The function splits a number below 10^8 into halves, then pairs, then single digits. The result
 * has eight bytes, with the first digit in the lowest byte. Then it shifts out leading zeros, one
 * number at a time.
 */
#include "input/spell_short.h"

#include "input/spell.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ZEROS	       0x3030303030303030u
#define EIGHT_DIGITS   100000000
#define SHORT_DIGITS   UINT64_C(1000000000000000) /* the smallest number that is too long */
#define FEW_MOST       99999.0			  /* largest number with two decimals */
#define POINT_AT_LEAST 40			  /* bits before the last digit before the point */

static bool u64_portable(struct short_text *to, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (v[i] >= SHORT_DIGITS)
			return false;
		to[i].bytes[0] = (uint8_t)(1 + spell_u64(to[i].bytes + 1, v[i]));
	}
	return true;
}

static bool f64_portable(struct short_text *to, const double *v, size_t n)
{
	uint8_t text[SPELL_BYTES];

	for (size_t i = 0; i < n; i++) {
		size_t len = spell_f64(text, v[i]);

		if (len > SHORT_TEXT_MOST)
			return false;
		to[i].bytes[0] = (uint8_t)(1 + len);
		memcpy(to[i].bytes + 1, text, SHORT_TEXT_MOST);
	}
	return true;
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))

/* Compute the eight digits, 0..9 each, of four numbers below 10^8. */
static inline AVX2 __attribute__((always_inline)) __m256i eight_digits_of(__m256i x)
{
	const __m256i hundred = _mm256_set1_epi32(100), ten = _mm256_set1_epi16(10);
	/* x / 10^4 = x * 109951163 >> 40, exact below 10^8 */
	__m256i high = _mm256_srli_epi64(_mm256_mul_epu32(x, _mm256_set1_epi64x(109951163)), 40);
	__m256i low = _mm256_sub_epi64(x, _mm256_mul_epu32(high, _mm256_set1_epi64x(10000)));

	x = _mm256_or_si256(high, _mm256_slli_epi64(low, 32));
	high = _mm256_srli_epi32(_mm256_mullo_epi32(x, _mm256_set1_epi32(10486)), 20);
	low = _mm256_sub_epi32(x, _mm256_mullo_epi32(high, hundred));
	x = _mm256_or_si256(high, _mm256_slli_epi32(low, 16));
	high = _mm256_srli_epi16(_mm256_mullo_epi16(x, _mm256_set1_epi16(103)), 10);
	low = _mm256_sub_epi16(x, _mm256_mullo_epi16(high, ten));
	return _mm256_or_si256(high, _mm256_slli_epi16(low, 8));
}

static inline void put_short(struct short_text *to, size_t len, uint64_t text)
{
	to->bytes[0] = (uint8_t)(1 + len);
	memcpy(to->bytes + 1, &text, sizeof text);
}

static AVX2 bool u64_avx2(struct short_text *to, const uint64_t *v, size_t n)
{
	uint64_t digits[EVENT_BATCH], most = 0;

	for (size_t i = 0; i < n; i++)
		most |= v[i];
	if (n % 4 || most >> 27) /* 10^8 has 27 bits */
		return u64_portable(to, v, n);
	__m256i over = _mm256_setzero_si256(), last = _mm256_set1_epi64x(EIGHT_DIGITS - 1);
	for (size_t i = 0; i < n; i += 4) {
		__m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(v + i));

		over = _mm256_or_si256(over, _mm256_cmpgt_epi64(x, last));
		_mm256_storeu_si256((__m256i *)(void *)(digits + i), eight_digits_of(x));
	}
	if (!_mm256_testz_si256(over, over))
		return u64_portable(to, v, n);
	for (size_t i = 0; i < n; i++) {
		unsigned zeros = (unsigned)__builtin_ctzll(digits[i] | UINT64_C(1) << 56) & ~7u;

		put_short(&to[i], 8 - zeros / 8, (digits[i] | ZEROS) >> zeros);
	}
	return true;
}

/* Write 00012340 as 123.4 and 00012300 as 123. */
static inline void put_few(struct short_text *to, uint64_t digits)
{
	unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << POINT_AT_LEAST) & ~7u;
	unsigned whole = 48 - zeros, behind = (unsigned)(digits >> 48);
	uint64_t text = (digits | ZEROS) >> zeros;

	text = (text & ((UINT64_C(1) << whole) - 1)) | (text >> whole << 8 | (uint64_t)'.')
							       << whole;
	put_short(to, whole / 8 + (behind == 0 ? 0 : behind > 9 ? 3 : 2), text);
}

/*
 * Write numbers as spell_few in spell.c does, because whole / 100.0 is the shortest text of such a
 * number.
 */
static AVX2 bool f64_avx2(struct short_text *to, const double *v, size_t n)
{
	const __m256d most = _mm256_set1_pd(FEW_MOST), hundred = _mm256_set1_pd(100.0);
	__m256d good = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
	uint64_t digits[EVENT_BATCH];

	if (n % 4)
		return f64_portable(to, v, n);
	for (size_t i = 0; i < n; i += 4) {
		__m256d x = _mm256_loadu_pd(v + i);
		__m128i whole = _mm256_cvttpd_epi32(
			_mm256_add_pd(_mm256_mul_pd(x, hundred), _mm256_set1_pd(0.5)));
		__m256d back = _mm256_div_pd(_mm256_cvtepi32_pd(whole), hundred);
		/* the comparison of bits rejects -0 and NaN */
		__m256i same =
			_mm256_cmpeq_epi64(_mm256_castpd_si256(back), _mm256_castpd_si256(x));
		good = _mm256_and_pd(good, _mm256_cmp_pd(x, most, _CMP_LE_OQ));
		good = _mm256_and_pd(good, _mm256_castsi256_pd(same));
		_mm256_storeu_si256((__m256i *)(void *)(digits + i),
				    eight_digits_of(_mm256_cvtepu32_epi64(whole)));
	}
	if (_mm256_movemask_pd(good) != 15)
		return f64_portable(to, v, n);
	for (size_t i = 0; i < n; i++)
		put_few(&to[i], digits[i]);
	return true;
}

size_t spell_ways(struct spell_way ways[SPELL_WAYS])
{
	ways[0] = (struct spell_way){u64_portable, f64_portable};
	ways[1] = (struct spell_way){u64_avx2, f64_avx2};
	return __builtin_cpu_supports("avx2") ? 2 : 1;
}
#else
size_t spell_ways(struct spell_way ways[SPELL_WAYS])
{
	ways[0] = (struct spell_way){u64_portable, f64_portable};
	return 1;
}
#endif

bool spell_short_u64(struct short_text *to, const uint64_t *v, size_t n)
{
	struct spell_way ways[SPELL_WAYS];

	return ways[spell_ways(ways) - 1].u64(to, v, n);
}

bool spell_short_f64(struct short_text *to, const double *v, size_t n)
{
	struct spell_way ways[SPELL_WAYS];

	return ways[spell_ways(ways) - 1].f64(to, v, n);
}
