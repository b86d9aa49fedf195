/*
 * escape.c - binary keys as text, as HBase's shell reads and prints them
 *
 * toBytesBinary has one escape, \xHH with upper-case digits. Its special cases are kept to the byte
 * (splitter/README.md 2.2): if no two upper-case digits follow \x, only the backslash is dropped;
 * within three characters of the end nothing is dropped.
 */
#include "bytes.h"

static int hex_upper(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_plain(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_' || c == '.' || c == '-';
}

void bytes_escape(struct buf *b, struct bytes v)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < v.len; i++) {
		uint8_t c = v.ptr[i];

		if (is_plain(c)) {
			buf_put(b, c);
			continue;
		}
		const uint8_t escape[4] = {'\\', 'x', (uint8_t)digits[c >> 4],
					   (uint8_t)digits[c & 15]};
		buf_append(b, escape, sizeof escape);
	}
	*buf_reserve(b, 1) = '\0';
}

/* A character outside ASCII: Java casts each UTF-16 unit to a byte. */
static size_t unescape_wide(struct buf *b, struct bytes text)
{
	uint32_t code;
	size_t n = utf8_decode(text, &code);

	if (code > 0xFFFF) {
		buf_put(b, (uint8_t)((code - 0x10000) >> 10));
		buf_put(b, (uint8_t)((code - 0x10000) & 0x3FF));
	} else {
		buf_put(b, (uint8_t)code);
	}
	return n;
}

/* Does s contain two Java characters or more? */
static bool holds_two(struct bytes s)
{
	unsigned units = 0;

	while (s.len && units < 2) {
		uint32_t code;
		size_t n = utf8_decode(s, &code);

		units += code > 0xFFFF ? 2 : 1;
		s = bytes_of(s.ptr + n, s.len - n);
	}
	return units >= 2;
}

void bytes_unescape(struct buf *b, struct bytes text)
{
	size_t i = 0;

	while (i < text.len) {
		const uint8_t *p = text.ptr + i;

		if (*p >= 0x80) {
			i += unescape_wide(b, bytes_of(p, text.len - i));
			continue;
		}
		i++;
		if (*p != '\\' || i == text.len || p[1] != 'x' ||
		    !holds_two(bytes_of(p + 2, text.len - i - 1))) {
			buf_put(b, *p);
			continue;
		}
		int high = hex_upper(p[2]);
		int low = text.len - i > 2 ? hex_upper(p[3]) : -1;
		if (high < 0 || low < 0)
			continue; /* drop the backslash, keep the rest as text */
		buf_put(b, (uint8_t)(high << 4 | low));
		i += 3;
	}
}

void bytes_hex(struct buf *b, struct bytes v)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < v.len; i++) {
		buf_put(b, (uint8_t)digit[v.ptr[i] >> 4]);
		buf_put(b, (uint8_t)digit[v.ptr[i] & 15]);
	}
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool bytes_unhex(uint8_t *out, size_t len, const char *hex)
{
	if (strlen(hex) != 2 * len)
		return false;
	for (size_t i = 0; i < len; i++) {
		int high = nibble(hex[2 * i]), low = nibble(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}
