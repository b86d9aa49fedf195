/*
 * markdown_parts.h - blocks, tables and folded lines, for both output forms of Markdown
 */
#ifndef SALTMILL_MARKDOWN_PARTS_H
#define SALTMILL_MARKDOWN_PARTS_H

#include "bytes.h"

enum markdown_kind { BLOCK_HEADING, BLOCK_PARAGRAPH, BLOCK_ITEM, BLOCK_CODE, BLOCK_TABLE };

struct markdown_block {
	enum markdown_kind kind;
	size_t level;	   /* for a heading, the number of # characters */
	struct bytes sign; /* for an item, "*" or "1." */
	struct buf text; /* has several lines for code and tables, and one line for other blocks */
};

/*
 * Read the block at *at, and move *at past the block. Returns false at the end. The caller releases
 * the text of the block.
 */
bool block_next(const char **at, struct markdown_block *b);

/*
 * Return the line that begins at `at`, without its line feed (line_at), or the text after this line
 * (line_after).
 */
struct bytes line_at(const char *at);
const char *line_after(const char *at, struct bytes line);

/* Return `s` without the blanks at its start and its end. */
struct bytes text_trimmed(struct bytes s);
/* Return the first position of `what` in `s` at or after `from`, or s.len if there is none. */
size_t text_find(struct bytes s, size_t from, const char *what);
bool text_begins(struct bytes s, const char *with);
/* Return the number of UTF-8 characters in `s`. */
size_t text_columns(struct bytes s);

/*
 * Append the words of `s` in lines of at most `width` columns. The first line continues the last
 * line of `out`, in column `indent`. The other lines start with `indent` blanks.
 */
void fold(struct buf *out, struct bytes s, size_t indent, size_t width);

/* Append a table in columns, folded to `width`. append_inline converts the text of the cells. */
void table_append(struct buf *out, const char *text, size_t width);

/* Append text, and convert `code`, **bold** and links for troff or for a terminal. */
void append_inline(struct buf *out, struct bytes s, bool roff);

#endif
