/* script.h - Ruby for the HBase shell, in pieces that the scripts share */
#ifndef SALTMILL_SPLITTER_SCRIPT_H
#define SALTMILL_SPLITTER_SCRIPT_H

#include "bytes.h"
#include "table.h"

/* Append text in single quotes. In such quotes, Ruby interprets only \\ and \'. */
void ruby_quote(struct buf *out, const char *text);
/*
 * Append a piece of a comma-separated list. The piece is on the current line if it fits in 100
 * columns, else on a new line that starts with `indent`.
 */
void script_piece(struct buf *out, const char *indent, const struct buf *piece);
/* Append "KEY => value", or "'key' => 'value'" if `hash` is true, as a piece. */
void script_pair(struct buf *out, const char *indent, const struct attribute *it, bool hash);
/*
 * Append "KEY => {'a' => 'b'}" as pieces, after `, ` unless this is the first item. An empty list
 * appends nothing.
 */
void script_hash(struct buf *out, const char *indent, const char *key,
		 const struct attributes *list);
/*
 * Append the comment lines at the top. `what` is the script's effect on `t`, and `again` is the
 * effect of a second run.
 */
void script_head(struct buf *out, const struct table *t, const char *what, const char *again);

#endif
