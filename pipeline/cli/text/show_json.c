#include "show_json.h"

#include "bytes.h"

json_t *show_string(const char *text)
{
	struct buf b = {0};

	text_utf8(&b, bytes_str(text));
	json_t *s = json_stringn(b.len ? (const char *)b.ptr : "", b.len);
	buf_release(&b);
	return s;
}

json_t *show_escaped(struct bytes v)
{
	struct buf text = {0};

	bytes_escape(&text, v);
	json_t *s = json_stringn(text.len ? (const char *)text.ptr : "", text.len);
	buf_release(&text);
	return s;
}

static int append(const char *text, size_t size, void *out)
{
	buf_append(out, text, size);
	return 0;
}

void show_json_text(struct buf *out, struct bytes text)
{
	json_t *s = json_stringn(text.len ? (const char *)text.ptr : "", text.len);

	json_dump_callback(s, append, out, JSON_ENCODE_ANY);
	json_decref(s);
}

/* Letters that stand in JSON as they are, and that every terminal shows. */
static bool is_plain(struct bytes v)
{
	for (size_t i = 0; i < v.len; i++)
		if (v.ptr[i] < 0x20 || v.ptr[i] > 0x7e || v.ptr[i] == '"' || v.ptr[i] == '\\')
			return false;
	return true;
}

void show_json_value(struct buf *out, struct bytes v)
{
	struct buf text = {0}, quoted = {0};

	if (is_plain(v)) {
		uint8_t *to = buf_room(out, v.len + 2);

		*to = '"';
		copy_short(to + 1, v.ptr, v.len);
		to[1 + v.len] = '"';
		out->len += v.len + 2;
		return;
	}
	text_utf8(&text, v);
	show_json_text(&quoted, buf_bytes(&text));
	text_harmless_json(out, buf_bytes(&quoted));
	buf_release(&text);
	buf_release(&quoted);
}

/* Of what it holds only the backslash needs another. */
void show_json_escaped(struct buf *out, struct bytes v)
{
	size_t at = out->len, n;

	buf_put(out, '"');
	bytes_escape(out, v);
	n = out->len - at;
	size_t extra = 0;
	for (size_t i = at; i < out->len; i++)
		extra += out->ptr[i] == '\\';
	buf_room(out, extra + 1);
	uint8_t *from = out->ptr + at;
	for (size_t i = n, k = n + extra; i-- > 0;) {
		from[--k] = from[i];
		if (from[i] == '\\')
			from[--k] = '\\';
	}
	out->len += extra;
	buf_put(out, '"');
}

void show_json(struct buf *out, json_t *v, size_t flags)
{
	struct buf text = {0};

	json_dump_callback(v, append, &text, flags | JSON_ENCODE_ANY);
	text_harmless_json(out, buf_bytes(&text));
	buf_put(out, '\n');
	buf_release(&text);
	json_decref(v);
}
