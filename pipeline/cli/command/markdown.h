/*
 * markdown.h - converts the guide's Markdown to text for a terminal and to manual pages
 *
 * The guide uses only some elements of Markdown, which are headings, paragraphs, lists of one
 * level, tables, `code`, **bold** and [links](target). Blocks of code are in fences or indented by
 * four.
 */
#ifndef SALTMILL_MARKDOWN_H
#define SALTMILL_MARKDOWN_H

#include "bytes.h"

/* Append the text, folded to 80 columns. Do not fold lines of code. */
void markdown_text(struct buf *out, const char *text);
/* Append the text in man macros, with a section for each heading. Leaves out the title and .TH. */
void markdown_roff(struct buf *out, const char *text);
/* Return the title, which is the first line of the text without its #. */
struct bytes markdown_title(const char *text);

#endif
