/*
 * bytes.h - a borrowed slice, an owned buffer, big-endian integers, and text for people
 *
 * A struct bytes borrows its memory. Pass it by value. A struct buf owns its memory and grows.
 * Release a struct buf with buf_release. Row keys, qualifiers and values are bytes. bytes_cmp
 * orders them as HBase does, which compares unsigned bytes and puts a proper prefix first.
 *
 * Sections: slices and buffers; numbers; escaping; UTF-8; sizes, times and names.
 */
#ifndef SALTMILL_BYTES_H
#define SALTMILL_BYTES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

struct bytes {
	const uint8_t *ptr;
	size_t len;
};

/* A growing buffer. {0} is empty and valid. Release a buffer with buf_release. */
struct buf {
	uint8_t *ptr;
	size_t len, cap;
};

static inline struct bytes bytes_of(const void *ptr, size_t len)
{
	return (struct bytes){ptr, len};
}

static inline struct bytes bytes_str(const char *s)
{
	return bytes_of(s, strlen(s));
}

static inline struct bytes buf_bytes(const struct buf *b)
{
	return bytes_of(b->ptr, b->len);
}

static inline int bytes_cmp(struct bytes a, struct bytes b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int c = n ? memcmp(a.ptr, b.ptr, n) : 0;

	return c ? c : (a.len > b.len) - (a.len < b.len);
}

static inline bool bytes_eq(struct bytes a, struct bytes b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}
/* Return true if the text is the word, which is ASCII, in any case. */
static inline bool bytes_is_word(struct bytes t, const char *word)
{
	return t.len == strlen(word) && strncasecmp((const char *)t.ptr, word, t.len) == 0;
}

/*
 * Copy n bytes. The function copies up to 32 bytes without a call of memcpy. Source and target must
 * not overlap.
 */
static inline void copy_short(uint8_t *to, const uint8_t *from, size_t n)
{
	if (n > 32) {
		memcpy(to, from, n);
	} else if (n >= 16) {
		memcpy(to, from, 16);
		memcpy(to + n - 16, from + n - 16, 16);
	} else if (n >= 8) {
		memcpy(to, from, 8);
		memcpy(to + n - 8, from + n - 8, 8);
	} else if (n >= 4) {
		memcpy(to, from, 4);
		memcpy(to + n - 4, from + n - 4, 4);
	} else if (n) {
		to[0] = from[0];
		to[n / 2] = from[n / 2];
		to[n - 1] = from[n - 1];
	}
}

/* Make room for `extra` more bytes, and return their address. `len` is unchanged. */
uint8_t *buf_reserve(struct buf *b, size_t extra);

/* Make room as buf_reserve does, but without a call if `b` already has the room. */
static inline uint8_t *buf_room(struct buf *b, size_t extra)
{
	return b->cap - b->len >= extra ? b->ptr + b->len : buf_reserve(b, extra);
}

/* Make room as buf_reserve does, but return false and leave `b` unchanged if memory is short. */
bool buf_try_reserve(struct buf *b, size_t extra) __attribute__((warn_unused_result));
bool buf_try_append(struct buf *b, const void *ptr, size_t len) __attribute__((warn_unused_result));
void buf_append(struct buf *b, const void *ptr, size_t len);
void buf_append_str(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Write `v`, 0 to 99, as two digits. 103 / 1024 is close enough to a tenth to replace a division.
 */
static inline void put_two_digits(uint8_t *to, uint32_t v)
{
	uint32_t tens = v * 103 >> 10;

	to[0] = (uint8_t)('0' + tens);
	to[1] = (uint8_t)('0' + v - 10 * tens);
}

/* Append a number's digits. */
void buf_digits(struct buf *b, uint64_t v);
void buf_release(struct buf *b);

static inline void buf_put(struct buf *b, uint8_t byte)
{
	if (b->len == b->cap)
		buf_reserve(b, 1);
	b->ptr[b->len++] = byte;
}

static inline void put_be16(uint8_t *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, 2);
}

static inline void put_be32(uint8_t *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, 4);
}

static inline void put_be64(uint8_t *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, 8);
}

static inline uint16_t get_be16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return __builtin_bswap16(v);
}

static inline uint32_t get_be32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return __builtin_bswap32(v);
}

static inline uint64_t get_be64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return __builtin_bswap64(v);
}

static inline void buf_be32(struct buf *b, uint32_t v)
{
	put_be32(buf_reserve(b, 4), v);
	b->len += 4;
}

static inline void buf_be64(struct buf *b, uint64_t v)
{
	put_be64(buf_reserve(b, 8), v);
	b->len += 8;
}

/* Append to room that buf_reserve made. These functions do not allocate, so they cannot fail. */
static inline void buf_fill(struct buf *b, const void *ptr, size_t len)
{
	assert(b->cap - b->len >= len);
	if (len)
		memcpy(b->ptr + b->len, ptr, len);
	b->len += len;
}

static inline void buf_fill_byte(struct buf *b, uint8_t byte)
{
	assert(b->cap > b->len);
	b->ptr[b->len++] = byte;
}

static inline void buf_fill_be32(struct buf *b, uint32_t v)
{
	assert(b->cap - b->len >= 4);
	put_be32(b->ptr + b->len, v);
	b->len += 4;
}

static inline void buf_fill_be64(struct buf *b, uint64_t v)
{
	assert(b->cap - b->len >= 8);
	put_be64(b->ptr + b->len, v);
	b->len += 8;
}

/*
 * Write and read little-endian base 128 (protobuf varint; "v7" in hfile/README.md 4.2). put_varint
 * writes at most 10 bytes and returns their number. get_varint returns the number of bytes that it
 * read, or 0 if the number has more bytes before `end` or is longer than 10 bytes.
 */
static inline size_t put_varint(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

static inline size_t get_varint(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
	uint64_t v = 0;

	for (size_t n = 0; n < 10 && p + n < end; n++) {
		v |= (uint64_t)(p[n] & 0x7f) << (7 * n);
		if (!(p[n] & 0x80)) {
			*out = v;
			return n + 1;
		}
	}
	return 0;
}

/*
 * Append `v` in HBase's \xHH form (splitter/README.md 2.2). Every byte outside [0-9A-Za-z_.-]
 * becomes \xHH in upper case. The result is safe in SPLITS_FILE and in single quotes. A NUL follows
 * the text, but b->len does not count the NUL.
 */
void bytes_escape(struct buf *b, struct bytes v);
/*
 * Append `v` exactly as HBase prints it (Bytes.toStringBinary). Only control characters, the
 * backslash and bytes above 0x7E become \xHH.
 */
void bytes_print(struct buf *b, struct bytes v);
/*
 * Append the bytes that Bytes.toBytesBinary makes from `text`, which is the UTF-8 form of a Java
 * string. As in HBase, a character above 0x7F becomes the low byte of each of its UTF-16 units. A
 * malformed sequence becomes 0xFD.
 */
void bytes_unescape(struct buf *b, struct bytes text);
/*
 * Append the bytes of `text` with its \xHH escapes, as bytes_unescape does, but keep characters
 * above 0x7F in UTF-8. Users write row keys and qualifiers of queries in this form.
 */
void bytes_unescape_utf8(struct buf *b, struct bytes text);

void bytes_hex(struct buf *b, struct bytes v);
/*
 * Read exactly `len` bytes from 2 * `len` lower-case hex digits. Returns false if `hex` has other
 * characters or another length.
 */
bool bytes_unhex(uint8_t *out, size_t len, const char *hex);

/*
 * --- UTF-8, and untrusted bytes as text for people ---
 *
 * All other code uses these functions to test for UTF-8 (Unicode 15, table 3-7).
 */

/*
 * Decode the character at the start of `s`, which is not empty, and return its length in bytes.
 * Malformed UTF-8 gives U+FFFD and the length of the maximal ill-formed subpart (Unicode 3.9), as
 * in Java.
 */
size_t utf8_decode(struct bytes s, uint32_t *code);
/*
 * Return the length in bytes of the character at `p` (p < end), or 0 if the character is malformed.
 */
size_t utf8_char(const uint8_t *p, const uint8_t *end);

/* Append `v` as UTF-8. Bytes that are not UTF-8 become \xHH. */
void text_utf8(struct buf *b, struct bytes v);
/*
 * Append `v` as text_utf8 does, but as one line that is safe on a terminal. Control characters (C0,
 * DEL, C1), line separators and marks that reverse the writing direction also become \xHH.
 */
void text_visible(struct buf *b, struct bytes v);
/* Append `v` as text_visible does, but keep line feeds. */
void text_lines(struct buf *b, struct bytes v);
/* Append `v` as a JSON string in quotes. Bytes that are not UTF-8 become \xHH. */
void text_json(struct buf *b, struct bytes v);
/* Append `v` as text_json does, but for a terminal. Control characters and marks of direction
 * become \uHHHH. */
void text_json_shown(struct buf *b, struct bytes v);
/* Append HBase's \xHH form of `v` as a JSON string in quotes. */
void text_json_key(struct buf *b, struct bytes v);
/*
 * Append `word` as one word of a POSIX shell, in single quotes if necessary. `tail` is the end of the
 * word, and has no quotes.
 */
void text_shell(struct buf *b, const char *word, const char *tail);
void text_base64(struct buf *b, struct bytes v);
/* Append the bytes of a base64 text. Returns false if the text is not base64. */
bool text_unbase64(struct buf *b, const char *text);
bool text_is_utf8(struct bytes v);
/*
 * Write the text_visible form of `v` into `out`. The function cuts a text of more than `max` bytes
 * and adds "...". `out` has room for `max` + 4 bytes.
 */
void text_quote(char *out, size_t max, struct bytes v);

/*
 * --- sizes, durations and names in job files and on the command line ---
 *
 * These functions allocate nothing.
 */

#define DURATION_FOREVER UINT64_MAX

/*
 * Parse a size such as "4096", "64K", "256M", "10G" or "2T". Units are powers of 1024, in upper or
 * lower case, with or without a final B ("64KB"). Returns false if the text has another form, or if
 * the number exceeds 64 bits.
 */
bool parse_size(const char *text, uint64_t *bytes);

/*
 * Format a size as "3.4 GB", "950 KB" or "12 B", with powers of 1000. Returns `text`, which has
 * room for 16 bytes.
 */
char *format_bytes(char *text, uint64_t bytes);

/* Parse "3600", "90s", "15m", "24h", "30d", "2w" or "forever" (DURATION_FOREVER) into seconds. */
bool parse_duration_s(const char *text, uint64_t *seconds);

/*
 * Find the known name that the user probably meant. The found name is the one with the fewest
 * single edits (insert, delete, replace, swap neighbours). Case is ignored. Returns NULL if all
 * names need too many edits. The limit is 1 edit for up to 4 letters, 2 for up to 8 letters, and 3
 * for longer names.
 */
const char *near_miss(const char *name, const char *const *known, size_t nknown);

#endif
