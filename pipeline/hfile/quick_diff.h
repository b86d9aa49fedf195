/*
 * quick_diff.h - the fast path of DIFF blocks, in both directions (README.md 4.4)
 *
 * Both functions handle as many cells as they can, and write the bytes that the general path
 * writes. Copies are 16 bytes wide, so they may read and write up to QUICK_SLACK bytes more. The
 * general path (block_encode.c, block_decode.c) handles the first cell, the last cells and
 * everything unusual, and reports all errors. direct.c and diff_cells.c use the same
 * parts of a cell.
 */
#ifndef SALTMILL_HFILE_QUICK_DIFF_H
#define SALTMILL_HFILE_QUICK_DIFF_H

#include <endian.h>

#include "delta.h"

#define QUICK_SLACK 32

#define DIFF_SAME_KEY_BYTES   0x01
#define DIFF_SAME_VALUE_BYTES 0x02
#define DIFF_SAME_TYPE	      0x04
#define DIFF_TIME_DIFFERENCE  0x08
#define DIFF_TIME_NEGATIVE    0x80

/*
 * A cell takes at most this many bytes more than its plain form. These are flag, three lengths,
 * time, type and the slack, without the two lengths of the plain form.
 */
#define ENCODED_ROOM 64

static inline uint64_t load_word(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

/* Copy `n` bytes, and up to QUICK_SLACK bytes if `n` is less. */
static inline uint8_t *put_wide(uint8_t *to, const uint8_t *from, size_t n)
{
	if (__builtin_expect(n > QUICK_SLACK, 0)) {
		memcpy(to, from, n);
		return to + n;
	}
	memcpy(to, from, 16);
	if (n > 16)
		memcpy(to + 16, from + 16, 16);
	return to + n;
}

/* Return the offset of the first of `n` bytes that differs, or `n`. Reads up to 7 bytes more. */
static inline size_t common_bytes(const uint8_t *a, const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i += 8) {
		uint64_t x = le64toh(load_word(a + i) ^ load_word(b + i));

		if (x) {
			i += (size_t)__builtin_ctzll(x) / 8;
			return i < n ? i : n;
		}
	}
	return n;
}

static inline uint8_t *put_length(uint8_t *p, uint64_t v)
{
	if (__builtin_expect(v < 0x80, 1)) {
		*p = (uint8_t)v;
		return p + 1;
	}
	return p + put_varint(p, v);
}

/* A length of one or two bytes. Returns NULL for a longer one. */
static inline const uint8_t *take_length(const uint8_t *p, uint32_t *out)
{
	*out = p[0];
	if (__builtin_expect(p[0] < 0x80, 1))
		return p + 1;
	*out = (p[0] & 0x7fu) | (uint32_t)p[1] << 7;
	return p[1] < 0x80 ? p + 2 : NULL;
}

/* The time field of a cell, and its bits of the flag. */
struct diff_time {
	uint64_t field;
	unsigned width, bits;
};

static inline unsigned time_width(uint64_t v)
{
	return (63 - (unsigned)__builtin_clzll(v | 1)) / 8 + 1;
}

/* Choose the difference to the time of the previous cell if it has fewer bytes than the time. */
static inline struct diff_time diff_time_of(uint64_t before, uint64_t ts)
{
	uint64_t back = before - ts;
	bool minus = (int64_t)back < 0;
	unsigned bits = minus ? DIFF_TIME_DIFFERENCE | DIFF_TIME_NEGATIVE : DIFF_TIME_DIFFERENCE;
	unsigned width = time_width(ts), less;

	back = minus ? 0 - back : back;
	less = time_width(back);
	if (less < width)
		return (struct diff_time){back, less, bits | (less - 1) << 4};
	return (struct diff_time){ts, width, (width - 1) << 4};
}

static inline unsigned diff_time_width(unsigned flag)
{
	return (flag >> 4 & 7) + 1;
}

/* Return the time whose field is at `p`. Reads 8 bytes. */
static inline uint64_t diff_time_at(const uint8_t *p, unsigned flag, uint64_t before)
{
	uint64_t v = le64toh(load_word(p)) & (UINT64_MAX >> (64 - 8 * diff_time_width(flag)));

	if (flag & DIFF_TIME_NEGATIVE)
		v = 0 - v;
	return flag & DIFF_TIME_DIFFERENCE ? before - v : v;
}

/* Put the field of a time. The function may write 8 bytes. */
static inline uint8_t *put_time(uint8_t *to, const struct diff_time *t)
{
	uint64_t field = htole64(t->field);

	memcpy(to, &field, 8);
	return to + t->width;
}

/*
 * Append the encoded form of cells without tags and mvcc. `at` is the offset of the first of them,
 * and *before is the offset of the cell before it, in the same form. Returns the offset of the
 * first cell that remains, and sets *before.
 */
size_t hfile_quick_diff_encode(struct bytes cells, size_t *before, size_t at, struct buf *out);
/*
 * Decode cells after the first cell of a block. The block has no tags and no mvcc. The state
 * afterwards is as if the general path had decoded the same cells.
 */
void hfile_quick_diff_decode(struct delta *d);

#endif
