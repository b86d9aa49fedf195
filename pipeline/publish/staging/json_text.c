#include "json_text.h"

#include "bytes.h"

json_t *text_json(struct bytes v)
{
	const char *text = v.len ? (const char *)v.ptr : "";
	json_t *plain = json_stringn(text, v.len);

	if (plain)
		return plain;
	struct buf b = {0};
	text_utf8(&b, v);
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
