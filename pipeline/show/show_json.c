#include "show_json.h"

#include "text.h"

json_t *show_string(const char *text)
{
	struct buf b = {0};
	text_utf8(&b, bytes_str(text));
	json_t *s = json_stringn(b.len ? (const char *)b.ptr : "", b.len);
	buf_release(&b);
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

void show_json(struct buf *out, json_t *v, size_t flags)
{
	struct buf text = {0};
	json_dump_callback(v, append, &text, flags | JSON_ENCODE_ANY);
	text_harmless_json(out, buf_bytes(&text));
	buf_put(out, '\n');
	buf_release(&text);
	json_decref(v);
}
