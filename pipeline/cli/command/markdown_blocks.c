/* markdown_blocks.c - divides Markdown into blocks (markdown_parts.h) */
#include <ctype.h>

#include "markdown_parts.h"

enum { CODE_INDENT = 4 };

struct bytes line_at(const char *at)
{
	return bytes_of(at, strcspn(at, "\n"));
}

const char *line_after(const char *at, struct bytes line)
{
	return at + line.len + (at[line.len] == '\n');
}

struct bytes text_trimmed(struct bytes s)
{
	while (s.len && s.ptr[0] == ' ')
		s.ptr++, s.len--;
	while (s.len && s.ptr[s.len - 1] == ' ')
		s.len--;
	return s;
}

bool text_begins(struct bytes s, const char *with)
{
	size_t len = strlen(with);

	return s.len >= len && memcmp(s.ptr, with, len) == 0;
}

/*
 * Returns the length of "* ", "- " or "12. " at the start of the line, or 0 if the line does not
 * start an item.
 */
static size_t item_sign(struct bytes line)
{
	size_t digits = 0;

	if (text_begins(line, "* ") || text_begins(line, "- "))
		return 2;
	while (digits < line.len && isdigit(line.ptr[digits]))
		digits++;
	return digits && text_begins(bytes_of(line.ptr + digits, line.len - digits), ". ")
		       ? digits + 2
		       : 0;
}

static bool ends_paragraph(struct bytes line)
{
	return text_trimmed(line).len == 0 || text_begins(line, "#") || text_begins(line, "|") ||
	       text_begins(line, "```") || item_sign(line);
}

static void append_line(struct buf *out, struct bytes line, const char *between)
{
	if (out->len)
		buf_append_str(out, between);
	buf_append(out, line.ptr, line.len);
}

static const char *take_fenced(struct buf *out, const char *at)
{
	at = line_after(at, line_at(at));
	while (*at && !text_begins(line_at(at), "```")) {
		struct bytes line = line_at(at);

		buf_append(out, line.ptr, line.len);
		buf_append_str(out, "\n");
		at = line_after(at, line);
	}
	return line_after(at, line_at(at));
}

/*
 * Appends the lines of indented code. Blank lines belong to the code only if more code follows
 * them.
 */
static const char *take_indented(struct buf *out, const char *at)
{
	size_t blank = 0;
	const char *end = at;

	for (; *at; at = line_after(at, line_at(at))) {
		struct bytes line = line_at(at);

		if (text_trimmed(line).len == 0) {
			blank++;
			continue;
		}
		if (!text_begins(line, "    "))
			break;
		for (; blank; blank--)
			buf_append_str(out, "\n");
		buf_append(out, line.ptr + CODE_INDENT, line.len - CODE_INDENT);
		buf_append_str(out, "\n");
		end = line_after(at, line);
	}
	return end;
}

static const char *take_table(struct buf *out, const char *at)
{
	while (text_begins(line_at(at), "|")) {
		append_line(out, line_at(at), "\n");
		at = line_after(at, line_at(at));
	}
	return at;
}

static const char *take_paragraph(struct buf *out, const char *at, size_t skip)
{
	struct bytes line = line_at(at);

	append_line(out, bytes_of(line.ptr + skip, line.len - skip), " ");
	for (at = line_after(at, line); *at && !ends_paragraph(line_at(at));
	     at = line_after(at, line_at(at)))
		append_line(out, text_trimmed(line_at(at)), " ");
	return at;
}

bool block_next(const char **at, struct markdown_block *b)
{
	while (**at && text_trimmed(line_at(*at)).len == 0)
		*at = line_after(*at, line_at(*at));
	struct bytes line = line_at(*at);
	size_t sign = item_sign(line);

	*b = (struct markdown_block){.kind = BLOCK_PARAGRAPH};
	if (!**at)
		return false;
	if (text_begins(line, "```")) {
		b->kind = BLOCK_CODE;
		*at = take_fenced(&b->text, *at);
	} else if (text_begins(line, "    ")) {
		b->kind = BLOCK_CODE;
		*at = take_indented(&b->text, *at);
	} else if (text_begins(line, "|")) {
		b->kind = BLOCK_TABLE;
		*at = take_table(&b->text, *at);
	} else if (text_begins(line, "#")) {
		b->kind = BLOCK_HEADING;
		b->level = strspn(*at, "#");
		line = text_trimmed(bytes_of(line.ptr + b->level, line.len - b->level));
		buf_append(&b->text, line.ptr, line.len);
		*at = line_after(*at, line_at(*at));
	} else {
		b->kind = sign ? BLOCK_ITEM : BLOCK_PARAGRAPH;
		b->sign = bytes_of(line.ptr, sign ? sign - 1 : 0);
		*at = take_paragraph(&b->text, *at, sign);
	}
	return true;
}

size_t text_find(struct bytes s, size_t from, const char *end)
{
	for (size_t i = from; i < s.len; i++)
		if (text_begins(bytes_of(s.ptr + i, s.len - i), end))
			return i;
	return s.len;
}

size_t text_columns(struct bytes s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += (s.ptr[i] & 0xC0) != 0x80;
	return n;
}
