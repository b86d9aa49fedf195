/* yaml_text.c - write texts as YAML scalars */
#include <ctype.h>

#include "sniff_parts.h"
#include "bytes.h"

static bool yaml_plain(struct bytes t)
{
	static const char *const taken[] = {"true", "false", "null", "yes", "no",
					    "on",   "off",   "y",    "n"};

	for (size_t i = 0; i < t.len; i++)
		if (!isalnum(t.ptr[i]) && t.ptr[i] != '_')
			return false;
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		if (bytes_is_word(t, taken[i]))
			return false;
	return t.len > 0 && !isdigit(t.ptr[0]);
}

size_t yaml_unprintable(const uint8_t *p, const uint8_t *end, uint32_t *code)
{
	size_t n = utf8_decode(bytes_of(p, (size_t)(end - p)), code);
	bool is = *code < 0x20 || (*code >= 0x7f && *code < 0xa0) || *code == 0xfeff ||
		  (*code >= 0xfffe && *code <= 0xffff);

	return is ? n : 0;
}

static bool has_unprintable(struct bytes t)
{
	uint32_t code;

	for (const uint8_t *p = t.ptr, *end = p + t.len; p < end; p++)
		if (yaml_unprintable(p, end, &code))
			return true;
	return false;
}

void put_yaml(struct buf *out, struct bytes t)
{
	bool escaped = has_unprintable(t);

	if (yaml_plain(t)) {
		buf_append(out, t.ptr, t.len);
		return;
	}
	buf_put(out, escaped ? '"' : '\'');
	for (const uint8_t *p = t.ptr, *end = p + t.len; p < end;) {
		uint32_t code;
		size_t n = yaml_unprintable(p, end, &code);

		if (n)
			buf_printf(out, "\\u%04x", code);
		else if (escaped && (*p == '"' || *p == '\\'))
			buf_printf(out, "\\%c", *p);
		else
			buf_printf(out, !escaped && *p == '\'' ? "''" : "%c", *p);
		p += n ? n : 1;
	}
	buf_put(out, escaped ? '"' : '\'');
}

void put_text(struct buf *out, const char *text)
{
	put_yaml(out, bytes_str(text));
}
