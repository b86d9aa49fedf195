/* digits.h - parse decimal digits, with portable code and with SSE4.1 */
#ifndef SALTMILL_DIGITS_H
#define SALTMILL_DIGITS_H

#include "bytes.h"

/*
 * --- fast parsing: test and convert common texts eight bytes at a time ---
 *
 * A whole number usually takes two or three loads. Up to eight digits go into one word, with '0' on
 * the left. One test and one conversion handle all eight digits. A test for UTF-8 and NUL reads
 * eight bytes of text at a time. With SSE4.1, one load takes up to sixteen digits, without a branch
 * on their number. The load reads bytes after the text, so these bytes must be readable (event.h).
 */

#if defined(__x86_64__)
#include <smmintrin.h> /* immintrin.h takes 0.3 s to compile */
#endif

#define ZEROS 0x3030303030303030u
#define HIGHS 0x8080808080808080u
#define ONES  0x0101010101010101u

enum number_fault { NUMBER_FINE, NUMBER_BAD, NUMBER_LARGE };

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t x;

	memcpy(&x, p, 8);
	return x;
}

/*
 * Load a text of 4 to 8 bytes into a word, without reading other bytes. The text is at the end of
 * the word, after '0' bytes.
 */
static inline uint64_t load_short(const uint8_t *p, size_t n)
{
	uint64_t gap = 64 - 8 * n;
	uint32_t head, tail;

	memcpy(&head, p, 4);
	memcpy(&tail, p + n - 4, 4);
	return (uint64_t)head << gap | (uint64_t)tail << 32 | (ZEROS & (((uint64_t)1 << gap) - 1));
}

/*
 * Return true if all bytes are digits. A byte is a digit if its high half is 3, and is still 3
 * after an addition of 6.
 */
static inline bool all_digits(uint64_t x)
{
	uint64_t high = 0xf0f0f0f0f0f0f0f0u;

	return ((x & high) | ((x + 0x0606060606060606u) & high) >> 4) == 0x3333333333333333u;
}

/*
 * Convert eight digits to a number. The code joins the digits into pairs, the pairs into fours, and
 * the fours into eight.
 */
static inline uint64_t eight_digits(uint64_t x)
{
	x -= ZEROS;
	x = x * 10 + (x >> 8);
	return ((x & 0x000000ff000000ffu) * 0x000f424000000064u +
		(x >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u) >>
	       32;
}

static inline enum number_fault long_number(const uint8_t *p, size_t n, uint64_t *out)
{
	uint64_t v = 0;
	bool large = false;

	for (size_t i = 0; i < n; i++) {
		uint64_t digit = (uint64_t)p[i] - '0';

		if (digit > 9)
			return NUMBER_BAD;
		large = large || __builtin_mul_overflow(v, 10u, &v) ||
			__builtin_add_overflow(v, digit, &v);
	}
	*out = v;
	return large ? NUMBER_LARGE : NUMBER_FINE;
}

/*
 * Convert a few digits one by one. Returns NUMBER_BAD if a byte is not a digit, or if there are no
 * bytes.
 */
static inline enum number_fault few_digits(const uint8_t *p, size_t n, uint64_t *out)
{
	uint64_t v = 0;
	uint32_t bad = n == 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t digit = (uint32_t)p[i] - '0';

		bad |= digit > 9;
		v = v * 10 + digit;
	}
	*out = v;
	return bad ? NUMBER_BAD : NUMBER_FINE;
}

static inline __attribute__((always_inline)) enum number_fault unsigned_number(struct bytes t,
									       uint64_t *out)
{
	if (t.len < 4)
		return few_digits(t.ptr, t.len, out);
	if (t.len <= 8) {
		uint64_t x = load_short(t.ptr, t.len);

		*out = eight_digits(x);
		return all_digits(x) ? NUMBER_FINE : NUMBER_BAD;
	}
	if (t.len <= 16) {
		uint64_t hi, lo = load64(t.ptr + t.len - 8);
		enum number_fault fault = few_digits(t.ptr, t.len - 8, &hi);

		*out = hi * 100000000 + eight_digits(lo);
		return all_digits(lo) ? fault : NUMBER_BAD;
	}
	return long_number(t.ptr, t.len, out);
}

/*
 * Return true if all bytes are 01..7F. Bytes 80..FF have their high bit set, and the subtraction
 * sets the high bit for 00.
 */
static inline bool plain_word(uint64_t x)
{
	return !(((x - ONES) | x) & HIGHS);
}

/* Return true if all bytes are 01..7F. Such text is valid UTF-8 without NUL. */
static inline bool is_plain_ascii(struct bytes t)
{
	size_t at = 0;

	for (; t.len - at >= 8; at += 8)
		if (!plain_word(load64(t.ptr + at)))
			return false;
	if (t.len >= 8)
		return plain_word(load64(t.ptr + t.len - 8));
	if (t.len >= 4)
		return plain_word(load_short(t.ptr, t.len));
	for (; at < t.len; at++)
		if ((uint8_t)(t.ptr[at] - 1) >= 0x7f)
			return false;
	return true;
}

/* Parse digits on any CPU, without reading after the text. */
static inline bool digits_portable(struct bytes t, uint64_t *out)
{
	return unsigned_number(t, out) == NUMBER_FINE;
}

#if defined(__x86_64__)
#define SSE41 __attribute__((target("sse4.1")))

static const uint8_t digit_slide[32] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					0,    1,    2,	  3,	4,    5,    6,	  7,
					8,    9,    10,	  11,	12,   13,   14,	  15};

/*
 * Convert the 1 to 16 digits of a text. The function may read EVENT_ROOM_BYTES after the text. The
 * digits move to the right end of the register and become pairs, fours and eights. The shuffle mask
 * at digit_slide + n moves n bytes and fills the rest with 0. *over gets a nonzero bit if a byte is
 * not a digit.
 */
static inline SSE41 __attribute__((always_inline)) uint64_t sixteen_sse41(const uint8_t *p,
									  size_t n, __m128i *over)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i to = _mm_loadu_si128((const __m128i *)(const void *)(digit_slide + n));

	x = _mm_shuffle_epi8(_mm_sub_epi8(x, _mm_set1_epi8('0')), to);
	*over = _mm_or_si128(*over, _mm_subs_epu8(x, _mm_set1_epi8(9)));
	x = _mm_maddubs_epi16(x, _mm_set1_epi16(1 << 8 | 10));
	x = _mm_madd_epi16(x, _mm_set1_epi32(1 << 16 | 100));
	x = _mm_madd_epi16(_mm_packus_epi32(x, x), _mm_set1_epi32(1 << 16 | 10000));
	uint64_t halves = (uint64_t)_mm_cvtsi128_si64(x);
	return (halves & UINT32_MAX) * 100000000 + (halves >> 32);
}

static inline SSE41 bool digits_sse41(struct bytes t, uint64_t *out)
{
	if (__builtin_expect(t.len - 1 >= 16, 0))
		return digits_portable(t, out);
	__m128i over = _mm_setzero_si128();
	*out = sixteen_sse41(t.ptr, t.len, &over);
	return _mm_testz_si128(over, over);
}

/*
 * Return true if all bytes are 01..7F. The code tests the last 16 bytes together, so it tests some
 * bytes twice.
 */
static inline bool plain_run(const uint8_t *p, size_t n)
{
	__m128i plain = _mm_set1_epi8(-1), zero = _mm_setzero_si128();

	if (n < 16)
		return is_plain_ascii(bytes_of(p, n));
	const uint8_t *last = p + n - 16;
	for (; last - p >= 64; p += 64)
		for (size_t k = 0; k < 64; k += 16) {
			__m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + k));

			plain = _mm_and_si128(plain, _mm_cmpgt_epi8(x, zero));
		}
	for (;; p += 16) {
		p = p < last ? p : last;
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
		plain = _mm_and_si128(plain, _mm_cmpgt_epi8(x, zero));
		if (p == last)
			return _mm_movemask_epi8(plain) == 0xffff;
	}
}
#else
static inline bool plain_run(const uint8_t *p, size_t n)
{
	return is_plain_ascii(bytes_of(p, n));
}
#endif

#endif
