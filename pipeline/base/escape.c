/*
 * escape.c - convert binary keys to and from the text of HBase's shell
 *
 * toBytesBinary has one escape, \xHH with upper-case digits. The special cases are the same as in
 * HBase (splitter/README.md 2.2). If two upper-case digits do not follow \x, HBase drops only the
 * backslash. Within the last three characters, HBase drops nothing.
 */
#include "bytes.h"

size_t utf8_decode(struct bytes s, uint32_t *code)
{
	uint8_t lead = s.ptr[0];
	size_t need = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC2 ? 1 : 0;
	/*
	 * The range of the second byte excludes overlong forms, surrogates, and code points above
	 * U+10FFFF.
	 */
	uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
	uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;

	*code = lead;
	if (lead < 0x80)
		return 1;
	uint32_t v = lead & (0x3Fu >> need);
	*code = 0xFFFD;
	if (need == 0 || lead > 0xF4)
		return 1;
	for (size_t i = 1; i <= need; i++) {
		if (i >= s.len || s.ptr[i] < low || s.ptr[i] > high)
			return i;
		v = v << 6 | (s.ptr[i] & 0x3F);
		low = 0x80;
		high = 0xBF;
	}
	*code = v;
	return need + 1;
}

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

static void put_escape(struct buf *b, uint8_t c)
{
	static const char digits[] = "0123456789ABCDEF";
	uint8_t *to = buf_reserve(b, 4);

	to[0] = '\\';
	to[1] = 'x';
	to[2] = (uint8_t)digits[c >> 4];
	to[3] = (uint8_t)digits[c & 15];
	b->len += 4;
}

void bytes_escape(struct buf *b, struct bytes v)
{
	for (size_t i = 0; i < v.len; i++)
		if (is_plain(v.ptr[i]))
			buf_put(b, v.ptr[i]);
		else
			put_escape(b, v.ptr[i]);
	*buf_reserve(b, 1) = '\0';
}

void bytes_print(struct buf *b, struct bytes v)
{
	for (size_t i = 0; i < v.len; i++)
		if (v.ptr[i] >= 0x20 && v.ptr[i] <= 0x7E && v.ptr[i] != '\\')
			buf_put(b, v.ptr[i]);
		else
			put_escape(b, v.ptr[i]);
}

/* Append a character outside ASCII as Java does, which casts each of its UTF-16 units to a byte. */
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

/* Return true if `s` contains at least two Java characters. */
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

static void unescape(struct buf *b, struct bytes text, bool java)
{
	size_t i = 0;

	while (i < text.len) {
		const uint8_t *p = text.ptr + i;

		if (java && *p >= 0x80) {
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
			continue; /* drop the backslash, and keep the rest as text */
		buf_put(b, (uint8_t)(high << 4 | low));
		i += 3;
	}
}

void bytes_unescape(struct buf *b, struct bytes text)
{
	unescape(b, text, true);
}

void bytes_unescape_utf8(struct buf *b, struct bytes text)
{
	unescape(b, text, false);
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
