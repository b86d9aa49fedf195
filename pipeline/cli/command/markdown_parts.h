/*
 * markdown_parts.h - blocks, tables and folded lines: what both forms of Markdown share
 */
#ifndef SALTMILL_MARKDOWN_PARTS_H
#define SALTMILL_MARKDOWN_PARTS_H

#include "bytes.h"

enum markdown_kind { BLOCK_HEADING, BLOCK_PARAGRAPH, BLOCK_ITEM, BLOCK_CODE, BLOCK_TABLE };

struct markdown_block {
	enum markdown_kind kind;
	size_t level;	   /* of a heading: how many # */
	struct bytes sign; /* of an item: "*" or "1." */
	struct buf text;   /* lines of code and of tables; other text is one line */
};

/* Take the next block of *at; false at the end.  The caller releases its text. */
bool block_next(const char **at, struct markdown_block *b);

/* Return the line at `at` without its line feed, and the text after it. */
struct bytes line_at(const char *at);
const char *line_after(const char *at, struct bytes line);

/* Return s without the blanks around it. */
struct bytes text_trimmed(struct bytes s);
/* Return where `what` begins in s, at `from` at the earliest; s.len: nowhere. */
size_t text_find(struct bytes s, size_t from, const char *what);
bool text_begins(struct bytes s, const char *with);
/* Return the number of characters of UTF-8. */
size_t text_columns(struct bytes s);

/*
 * Append the words of s in lines of at most `width` columns.  The first line continues what `out`
 * ends with, in column `indent`; the others start with as many blanks.
 */
void fold(struct buf *out, struct bytes s, size_t indent, size_t width);

/* Append a table in columns, folded to `width`; a cell's text goes through append_inline. */
void table_append(struct buf *out, const char *text, size_t width);

/* Append text with `code`, **bold** and links resolved, for troff or as it is. */
void append_inline(struct buf *out, struct bytes s, bool roff);

#endif
