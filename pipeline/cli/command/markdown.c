/*
 * markdown.c - converts the guide's Markdown to text for a terminal and to manual pages
 * (markdown.h)
 */
#include "markdown.h"

#include "markdown_parts.h"
#include "mem.h"
#include "cli/reference.h"

enum { TEXT_WIDTH = 80, MAN_WIDTH = 70, CODE_INDENT = 4 };

struct bytes markdown_title(const char *text)
{
	struct bytes line = line_at(text);
	size_t signs = strspn(text, "# ");

	return bytes_of(line.ptr + signs, line.len - signs);
}

/* --- text inside a block --- */

static void append_plain(struct buf *out, struct bytes s, bool roff)
{
	if (!roff) {
		buf_append(out, s.ptr, s.len);
		return;
	}
	char *text = mem_format("%.*s", (int)s.len, (const char *)s.ptr);

	reference_roff(out, text);
	mem_free(text);
}

static void append_bold(struct buf *out, struct bytes s, bool roff)
{
	buf_append_str(out, roff ? "\\fB" : "");
	append_plain(out, s, roff);
	buf_append_str(out, roff ? "\\fR" : "");
}

/* Appends the target of a link. A link to a chapter becomes the command that prints the chapter. */
static void append_target(struct buf *out, struct bytes target, bool roff)
{
	size_t dot = text_find(target, 0, ".md");

	if (text_begins(target, "http")) {
		buf_append_str(out, " (");
		append_plain(out, target, roff);
		buf_append_str(out, ")");
	} else if (dot < target.len && text_find(target, 0, "/") == target.len) {
		buf_append_str(out, " (saltmill help guide ");
		append_plain(out, bytes_of(target.ptr, dot), roff);
		buf_append_str(out, ")");
	}
}

/*
 * Appends one piece of `s`, which is code, bold text, a link or a plain byte. Returns the length of
 * the piece.
 */
static size_t append_piece(struct buf *out, struct bytes s, bool roff)
{
	size_t code = s.ptr[0] == '`' ? text_find(s, 1, "`") : s.len;
	size_t bold = text_begins(s, "**") ? text_find(s, 2, "**") : s.len;
	size_t text = s.ptr[0] == '[' ? text_find(s, 1, "](") : s.len;
	size_t target = text < s.len ? text_find(s, text, ")") : s.len;

	if (code < s.len) {
		if (roff)
			append_bold(out, bytes_of(s.ptr + 1, code - 1), roff);
		else
			append_plain(out, bytes_of(s.ptr, code + 1), roff);
		return code + 1;
	}
	if (bold < s.len) {
		append_bold(out, bytes_of(s.ptr + 2, bold - 2), roff);
		return bold + 2;
	}
	if (target < s.len) {
		append_plain(out, bytes_of(s.ptr + 1, text - 1), roff);
		append_target(out, bytes_of(s.ptr + text + 2, target - text - 2), roff);
		return target + 1;
	}
	append_plain(out, bytes_of(s.ptr, 1), roff);
	return 1;
}

void append_inline(struct buf *out, struct bytes s, bool roff)
{
	for (size_t i = 0; i < s.len;)
		i += append_piece(out, bytes_of(s.ptr + i, s.len - i), roff);
}

/* --- text for a terminal --- */

static void append_rule(struct buf *out, size_t columns, char sign)
{
	while (columns--)
		buf_put(out, (uint8_t)sign);
	buf_append_str(out, "\n");
}

static void text_heading(struct buf *out, const struct markdown_block *b, struct bytes text)
{
	buf_append(out, text.ptr, text.len);
	buf_append_str(out, "\n");
	if (b->level < 3)
		append_rule(out, text_columns(text), b->level == 1 ? '=' : '-');
}

static void text_paragraph(struct buf *out, const struct markdown_block *b, struct bytes text)
{
	size_t indent = b->kind == BLOCK_ITEM ? b->sign.len + 1 : 0;

	if (indent)
		buf_printf(out, "%.*s ", (int)b->sign.len, (const char *)b->sign.ptr);
	fold(out, text, indent, TEXT_WIDTH);
	buf_append_str(out, "\n");
}

static void text_code(struct buf *out, const char *text)
{
	for (; *text; text = line_after(text, line_at(text))) {
		struct bytes line = line_at(text);

		buf_printf(out, "%*s", line.len ? CODE_INDENT : 0, "");
		buf_append(out, line.ptr, line.len);
		buf_append_str(out, "\n");
	}
}

static void text_block(struct buf *out, const struct markdown_block *b)
{
	struct buf text = {0};

	switch (b->kind) {
	case BLOCK_CODE: text_code(out, (const char *)b->text.ptr); break;
	case BLOCK_TABLE: table_append(out, (const char *)b->text.ptr, TEXT_WIDTH); break;
	case BLOCK_HEADING:
	case BLOCK_PARAGRAPH:
	case BLOCK_ITEM:
		append_inline(&text, buf_bytes(&b->text), false);
		if (b->kind == BLOCK_HEADING)
			text_heading(out, b, buf_bytes(&text));
		else
			text_paragraph(out, b, buf_bytes(&text));
		break;
	}
	buf_release(&text);
}

static void each_block(struct buf *out, const char *text,
		       void (*append)(struct buf *out, const struct markdown_block *b), bool apart)
{
	struct markdown_block b;
	enum markdown_kind before = BLOCK_HEADING;

	for (size_t n = 0; block_next(&text, &b); n++) {
		if (apart && n && !(before == BLOCK_ITEM && b.kind == BLOCK_ITEM))
			buf_append_str(out, "\n");
		before = b.kind;
		buf_put(&b.text, 0);
		b.text.len--;
		append(out, &b);
		buf_release(&b.text);
	}
}

void markdown_text(struct buf *out, const char *text)
{
	each_block(out, text, text_block, true);
}

/* --- a manual page --- */

static void roff_lines(struct buf *out, const char *text)
{
	buf_append_str(out, ".PP\n.RS 4\n.nf\n");
	reference_roff(out, text);
	buf_append_str(out, ".fi\n.RE\n");
}

static void roff_table(struct buf *out, const char *text)
{
	struct buf table = {0};

	table_append(&table, text, MAN_WIDTH);
	buf_put(&table, 0);
	roff_lines(out, (const char *)table.ptr);
	buf_release(&table);
}

static void roff_block(struct buf *out, const struct markdown_block *b)
{
	switch (b->kind) {
	case BLOCK_HEADING:
		if (b->level == 1)
			return;
		buf_append_str(out, b->level == 2 ? ".SH " : ".SS ");
		break;
	case BLOCK_PARAGRAPH: buf_append_str(out, ".PP\n"); break;
	case BLOCK_ITEM:
		if (b->sign.len > 1)
			buf_printf(out, ".IP %.*s 4\n", (int)b->sign.len,
				   (const char *)b->sign.ptr);
		else
			buf_append_str(out, ".IP \\(bu 2\n");
		break;
	case BLOCK_CODE: roff_lines(out, (const char *)b->text.ptr); return;
	case BLOCK_TABLE: roff_table(out, (const char *)b->text.ptr); return;
	}
	append_inline(out, buf_bytes(&b->text), true);
	buf_append_str(out, "\n");
}

void markdown_roff(struct buf *out, const char *text)
{
	each_block(out, text, roff_block, false);
}
