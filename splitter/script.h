/* script.h - Ruby for the HBase shell: pieces that the scripts share */
#ifndef SALTMILL_SPLITTER_SCRIPT_H
#define SALTMILL_SPLITTER_SCRIPT_H

#include "bytes.h"
#include "table.h"

/* Append text in single quotes; Ruby interprets only \\ and \' there. */
void ruby_quote(struct buf *out, const char *text);
/*
 * Append a piece of a comma-separated list: on the current line if it fits in 100 columns, else on
 * a new line that starts with indent.
 */
void script_piece(struct buf *out, const char *indent, const struct buf *piece);
/* Append "KEY => value" or "'key' => 'value'" (hash) as a piece. */
void script_pair(struct buf *out, const char *indent, const struct attribute *it, bool hash);
/*
 * Append "KEY => {'a' => 'b'}" as pieces, after `, ` unless it is the first; an empty list appends
 * nothing.
 */
void script_hash(struct buf *out, const char *indent, const char *key,
		 const struct attributes *list);
/* Append the comment lines at the top: what the script does to t, and how to run it. */
void script_head(struct buf *out, const struct table *t, const char *what, const char *again);

#endif
