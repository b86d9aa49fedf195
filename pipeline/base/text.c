#include "bytes.h"

#include <stdio.h>

/* Decode as utf8_decode does, but return 0 if the character is malformed. */
static size_t decode_good(const uint8_t *p, const uint8_t *end, uint32_t *code)
{
	size_t n = utf8_decode(bytes_of(p, (size_t)(end - p)), code);

	/* the character U+FFFD is EF BF BD; other bytes that decode to U+FFFD are malformed */
	return *code == 0xFFFD && (n != 3 || p[0] != 0xEF) ? 0 : n;
}

size_t utf8_char(const uint8_t *p, const uint8_t *end)
{
	uint32_t code;

	return *p < 0x80 ? 1 : decode_good(p, end, &code);
}

/*
 * Return true for characters that affect a terminal. These are control characters (C0, DEL, C1),
 * line and paragraph separators, and marks of direction (embeddings, overrides, isolates).
 */
static bool commands(uint32_t code)
{
	return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x2028 && code <= 0x202E) ||
	       (code >= 0x2066 && code <= 0x2069);
}

/*
 * Return how many bytes at `p` a terminal can print unchanged, or 0 if the caller must escape *p.
 */
static size_t visible(const uint8_t *p, const uint8_t *end)
{
	uint32_t code;
	size_t n = decode_good(p, end, &code);

	return n && !commands(code) ? n : 0;
}

void text_utf8(struct buf *b, struct bytes v)
{
	const uint8_t *p = v.ptr, *end = p + v.len, *from = p;

	while (p < end) {
		size_t n = *p < 0x80 ? 1 : utf8_char(p, end);

		p += n;
		if (n)
			continue;
		buf_append(b, from, (size_t)(p - from));
		buf_printf(b, "\\x%02X", *p);
		from = ++p;
	}
	buf_append(b, from, (size_t)(p - from));
}

static void put_visible(struct buf *b, struct bytes v, bool lines)
{
	const uint8_t *p = v.ptr, *end = p + v.len;

	for (size_t n; p < end; p += n ? n : 1) {
		n = lines && *p == '\n' ? 1 : visible(p, end);
		if (n)
			buf_append(b, p, n);
		else
			buf_printf(b, "\\x%02X", *p);
	}
}

void text_visible(struct buf *b, struct bytes v)
{
	put_visible(b, v, false);
}

void text_lines(struct buf *b, struct bytes v)
{
	put_visible(b, v, true);
}

/*
 * Return the number of bytes at the start of `v` that need no escape in a JSON string or on a
 * terminal.
 */
static size_t plain_json(struct bytes v)
{
	size_t i = 0;

	while (i < v.len && v.ptr[i] >= 0x20 && v.ptr[i] <= 0x7E && v.ptr[i] != '"' &&
	       v.ptr[i] != '\\')
		i++;
	return i;
}

static void put_json_control(struct buf *b, uint8_t c)
{
	static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *p = named; *p; p += 2)
		if ((uint8_t)*p == c) {
			buf_put(b, '\\');
			buf_put(b, (uint8_t)p[1]);
			return;
		}
	buf_printf(b, "\\u%04X", c);
}

static void put_json(struct buf *b, struct bytes v, bool shown)
{
	const uint8_t *p = v.ptr, *end = p + v.len;

	buf_put(b, '"');
	while (p < end) {
		uint32_t code;
		size_t n = plain_json(bytes_of(p, (size_t)(end - p)));

		buf_append(b, p, n);
		p += n;
		if (p == end)
			break;
		n = decode_good(p, end, &code);
		if (!n)
			buf_printf(b, "\\\\x%02X", *p);
		else if (code < 0x7F)
			put_json_control(b, *p);
		else if (shown && commands(code))
			buf_printf(b, "\\u%04X", (unsigned)code);
		else
			buf_append(b, p, n);
		p += n ? n : 1;
	}
	buf_put(b, '"');
}

void text_shell(struct buf *b, const char *word, const char *tail)
{
	size_t plain = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=:,./@%");
	bool bare = word[0] && !word[plain];

	buf_append_str(b, bare ? "" : "'");
	for (const char *c = word; *c; c++)
		if (*c == '\'')
			buf_append_str(b, "'\\''");
		else
			buf_append(b, c, 1);
	buf_printf(b, "%s%s", tail, bare ? "" : "'");
}

void text_json(struct buf *b, struct bytes v)
{
	put_json(b, v, false);
}

void text_json_shown(struct buf *b, struct bytes v)
{
	put_json(b, v, true);
}

/* Append a key. After the \xHH escapes, only the backslash needs an escape for JSON. */
void text_json_key(struct buf *b, struct bytes v)
{
	size_t at = b->len + 1, extra = 0;

	buf_put(b, '"');
	bytes_escape(b, v);
	size_t n = b->len - at;
	for (size_t i = at; i < b->len; i++)
		extra += b->ptr[i] == '\\';
	buf_room(b, extra + 1);
	uint8_t *from = b->ptr + at;
	for (size_t i = n, k = n + extra; extra && i-- > 0;) {
		from[--k] = from[i];
		if (from[i] == '\\')
			from[--k] = '\\';
	}
	b->len += extra;
	buf_put(b, '"');
}

static const char digit64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void text_base64(struct buf *b, struct bytes v)
{
	for (size_t i = 0; i < v.len; i += 3) {
		size_t n = v.len - i < 3 ? v.len - i : 3;
		uint32_t w = (uint32_t)v.ptr[i] << 16;

		if (n > 1)
			w |= (uint32_t)v.ptr[i + 1] << 8;
		if (n > 2)
			w |= v.ptr[i + 2];
		for (size_t k = 0; k < 4; k++)
			buf_put(b, (uint8_t)(k <= n ? digit64[w >> (18 - 6 * k) & 63] : '='));
	}
}

bool text_unbase64(struct buf *b, const char *text)
{
	size_t len = strlen(text);
	uint32_t word = 0;

	while (len && text[len - 1] == '=')
		len--;
	for (size_t i = 0; i < len; i++) {
		const char *digit = strchr(digit64, text[i]);

		if (!digit)
			return false;
		word = word << 6 | (uint32_t)(digit - digit64);
		if (i % 4)
			buf_put(b, (uint8_t)(word >> (6 - 2 * (i % 4))));
	}
	return len % 4 != 1;
}

bool text_is_utf8(struct bytes v)
{
	const uint8_t *p = v.ptr, *end = p + v.len;

	for (size_t n; p < end; p += n)
		if (!(n = utf8_char(p, end)))
			return false;
	return true;
}

void text_quote(char *out, size_t max, struct bytes v)
{
	const uint8_t *p = v.ptr, *end = p + v.len;
	size_t at = 0;

	for (size_t n; p < end; p += n ? n : 1) {
		n = visible(p, end);
		if (at + (n ? n : 4) > max) {
			memcpy(out + at, "...", 3);
			at += 3;
			break;
		}
		if (n)
			memcpy(out + at, p, n);
		else
			snprintf(out + at, 5, "\\x%02X", *p);
		at += n ? n : 4;
	}
	out[at] = 0;
}
