/*
 * markdown.h - the guide's Markdown as text for a terminal and as a manual page
 *
 * The guide uses a part of Markdown: headings, paragraphs, lists of one level, tables, code in
 * fences or indented by four, `code`, **bold** and [links](target).
 */
#ifndef SALTMILL_MARKDOWN_H
#define SALTMILL_MARKDOWN_H

#include "bytes.h"

/* Append the text, folded to 80 columns; code keeps its lines. */
void markdown_text(struct buf *out, const char *text);
/* Append the text in man's macros: a section per heading, without the title and .TH. */
void markdown_roff(struct buf *out, const char *text);
/* Return the title: the text's first line without its #. */
struct bytes markdown_title(const char *text);

#endif
