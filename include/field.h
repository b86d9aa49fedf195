/*
 * field.h - a field's text to its value
 *
 * Implemented in pipeline/model/field.  Where the text is found, and which texts mean no value, is its
 * owner's business: an event's column (row/), the command line or a question (key/).
 */
#ifndef SALTMILL_FIELD_H
#define SALTMILL_FIELD_H

#include <locale.h>

#include "encoding.h"
#include "job.h"
#include "pattern.h"
#include "question.h"
#include "bytes.h"

struct time_format;

/* The end of the year 9999.  A number of units behind it that would be a usual time in a finer unit
 * is refused: 1476640644000 is no number of seconds. */
#define TIME_LAST_MS INT64_C(253402300799999)

/* How a field's texts are written. */
struct field_form {
	const struct field *field;
	struct time_format *format;	 /* of a time with a format */
	int64_t near_day;		 /* of YEAR_NEAR, since 1970 */
	locale_t c_locale;		 /* for strtod_l */
	struct bytes thousands, decimal; /* signs in numbers; len 0: none, a point */
};
/* In the arena; the locale is the caller's.  RC_CONFIG: a time format that is none. */
int field_form_init(struct field_form *form, struct arena *a, const struct job *job,
		    const struct field *f, locale_t c_locale, struct error *err);

/* What reading a value takes and what it then borrows besides its text.  {0} is empty. */
struct field_scratch {
	struct buf decoded; /* hex's bytes, or a number's plain text */
	struct buf number;
	bool has_file_day; /* YEAR_OF_FILE: set by the owner, by field_day_of */
	int64_t file_day;
};
void field_scratch_release(struct field_scratch *s);
/* Of one thread.  {0} is empty. */
struct transform_scratch {
	struct buf text;
	struct pattern_scratch match;
	bool mapped; /* the text is one of the job's, not the event's */
};
void transform_scratch_release(struct transform_scratch *s);
/* The locale whose letters have cases: all of Unicode.  (locale_t)0: the system lacks C.UTF-8. */
locale_t transform_locale(void);
/*
 * Put *text through the steps of the field's transform; what it becomes is in it, in s or in the
 * job, and in the latter two EVENT_ROOM_BYTES behind it may be read.  RC_DATA: a step refuses it.
 */
int transform_text(const struct field *f, locale_t letters, struct bytes *text,
		   struct transform_scratch *s, struct reject *why);

/*
 * The last date that stands in a path, as 20260103, 2026-01-03, 2026_01_03 or 2026.01.03 of a year
 * 1900..2199, in days since 1970.  false: none does.
 */
bool field_day_of(const char *path, int64_t *days);
/*
 * The typed value of v->text, which is not null.  A number's text becomes the plain one, with a
 * point alone.  RC_DATA: the text is no value of the field.
 */
int field_read(const struct field_form *form, struct value *v, struct field_scratch *s,
	       struct reject *why);
/*
 * The same, or of a time also as ISO 8601; without an offset it is of the field's zone.
 */
int field_read_loosely(const struct field_form *form, struct value *v, struct field_scratch *s,
		       struct reject *why);
/* The same of v->text, in the arena: it borrows nothing. */
int field_read_kept(const struct field_form *form, struct value *v, struct arena *a,
		    struct reject *why);

/*
 * Append the value as the source might spell it, ISO 8601 for a time (UTC): the typed member, of
 * FIELD_TEXT and FIELD_BYTES the text, where bytes that are no UTF-8 are \xHH.
 */
void field_text(const struct field *f, const struct value *v, struct buf *out);

/* All fields of a job, by index. */
struct field_forms {
	const struct job *job;
	struct field_form *form;
	locale_t c_locale;
	struct arena arena;
};
/* Release whatever the result. */
int field_forms_open(struct field_forms *f, const struct job *job, struct error *err);
void field_forms_close(struct field_forms *f);
/* The index of a field by name.  RC_CONFIG: the job has none like that. */
int field_find(const struct job *job, struct bytes name, size_t *index, struct error *err);

/*
 * --- a question over the fields of an event, compiled: its values typed, its names
 * resolved
 *
 *   predicate_new, predicate_ask*
 *
 * Implemented in pipeline/model/field.  Values compare as their types do: numbers, decimals and times by
 * size, false before true, texts and bytes by their bytes.  What compares with a null is unknown,
 * and so is its `not` (question.h): an event is taken when the answer is ANSWER_YES.
 */

struct predicate;

/*
 * In the arena; c and forms must outlive this call, c's question also the predicate.  RC_CONFIG at
 * its place: a value that is none of its field, `starts with` for what is no text, an order of
 * texts where a number is meant.
 */
int predicate_new(const struct predicate **out, const struct job_condition *c,
		  const struct field_forms *forms, struct arena *a, struct error *err);
/* That a condition can be asked of a field, as predicate_new has it; its values are not read. */
int predicate_check(const struct question *q, const struct condition *c, const struct field *f,
		    struct error *err);
/* Test one condition, by its index in the question, on a value: text NULL is a null. */
enum answer predicate_test(const struct predicate *p, size_t condition, const struct value *v);
/*
 * value gives a field's value, text NULL for a null, by its index in the job.  NULL ends the
 * asking: the answer is ANSWER_UNKNOWN, and why is the caller's to know.  Any thread.
 */
enum answer predicate_ask(const struct predicate *p,
			  const struct value *(*value)(void *ctx, size_t field), void *ctx);

/*
 * --- text that most columns hold, tested and converted words at a time
 *
 * The good path of a whole number is two or three loads: up to eight digits are gathered into one
 * word, filled with '0' on the left, tested and converted together.  Text is tested for UTF-8
 * and NUL eight bytes at a time.  Where a source lets us read behind the text (event.h) and the
 * CPU has SSE4.1, up to sixteen digits are one load, with no branch on their number.
 */

#if defined(__x86_64__)
#include <immintrin.h>
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

/* 4..8 bytes as a word whose last byte is the text's last, '0' in front.  Reads only the text. */
static inline uint64_t load_short(const uint8_t *p, size_t n)
{
	uint64_t gap = 64 - 8 * n;
	uint32_t head, tail;

	memcpy(&head, p, 4);
	memcpy(&tail, p + n - 4, 4);
	return (uint64_t)head << gap | (uint64_t)tail << 32 | (ZEROS & (((uint64_t)1 << gap) - 1));
}

/* High half of each byte is 3, and still is with 6 added. */
static inline bool all_digits(uint64_t x)
{
	uint64_t high = 0xf0f0f0f0f0f0f0f0u;

	return ((x & high) | ((x + 0x0606060606060606u) & high) >> 4) == 0x3333333333333333u;
}

/* Pairs of digits, then of pairs, then of fours. */
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

/* A few digits, one by one; NUMBER_BAD as well for none. */
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

/* A high bit is left by 80..FF and, borrowing, by 00; by 01..7F never. */
static inline bool plain_word(uint64_t x)
{
	return !(((x - ONES) | x) & HIGHS);
}

/* All bytes are 01..7F, so that nothing else is to be tested. */
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

/* No text is roomy. */
static inline bool digits_portable(struct bytes t, uint64_t *out)
{
	return unsigned_number(t, out) == NUMBER_FINE;
}

#if defined(__x86_64__)
#define SSE41 __attribute__((target("sse4.1")))
#define AVX2  __attribute__((target("avx2")))

static const uint8_t digit_slide[32] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					0,    1,    2,	  3,	4,    5,    6,	  7,
					8,    9,    10,	  11,	12,   13,   14,	  15};

/*
 * 1..16 digits, of text with room behind it: moved to the right end of the register, then pairs,
 * fours and eights of them are joined.  digit_slide + n moves n bytes, with 0 in front.  *over gets
 * a bit where something is no digit.
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

static inline AVX2 __attribute__((always_inline)) __m256i load_two(const uint8_t *a,
								   const uint8_t *b)
{
	__m128i lo = _mm_loadu_si128((const __m128i *)(const void *)a);
	__m128i hi = _mm_loadu_si128((const __m128i *)(const void *)b);

	return _mm256_inserti128_si256(_mm256_castsi128_si256(lo), hi, 1);
}

/* All bytes are 01..7F; the last ones are looked at together with others in front of them. */
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
