#include "text.h"

/*
 * Length of the UTF-8 sequence at p, 0 if it is none (Unicode 15, table 3-7: the second byte's
 * range excludes overlong forms, surrogates and what lies above U+10FFFF).
 */
static size_t utf8_sequence(const uint8_t *p, size_t n)
{
	uint8_t c = p[0];
	if (c < 0x80)
		return 1;
	if (c < 0xc2 || c > 0xf4)
		return 0;
	size_t len = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	uint8_t low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
	uint8_t high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
	if (n < len || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

json_t *text_json(struct bytes v)
{
	const char *text = v.len ? (const char *)v.ptr : "";
	json_t *plain = json_stringn(text, v.len);
	if (plain)
		return plain;
	struct buf b = {0};
	for (size_t i = 0; i < v.len;) {
		size_t n = utf8_sequence(v.ptr + i, v.len - i);
		if (n)
			buf_append(&b, v.ptr + i, n);
		else
			buf_printf(&b, "\\x%02X", v.ptr[i]);
		i += n ? n : 1;
	}
	json_t *out = json_stringn((const char *)b.ptr, b.len);
	buf_release(&b);
	return out;
}

void text_base64(struct buf *out, struct bytes v)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < v.len; i += 3) {
		size_t n = v.len - i < 3 ? v.len - i : 3;
		uint32_t w = (uint32_t)v.ptr[i] << 16;
		if (n > 1)
			w |= (uint32_t)v.ptr[i + 1] << 8;
		if (n > 2)
			w |= v.ptr[i + 2];
		for (size_t k = 0; k < 4; k++)
			buf_put(out, (uint8_t)(k <= n ? digit[w >> (18 - 6 * k) & 63] : '='));
	}
}

static int dump_piece(const char *piece, size_t len, void *out)
{
	buf_append(out, piece, len);
	return 0;
}

bool text_dump(struct buf *out, const json_t *json, size_t flags)
{
	return json && json_dump_callback(json, dump_piece, out, flags) == 0;
}
