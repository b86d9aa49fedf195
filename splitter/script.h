/*
 * script.h - Ruby for the HBase shell, in pieces that the scripts share
 */
#ifndef SALTMILL_SPLITTER_SCRIPT_H
#define SALTMILL_SPLITTER_SCRIPT_H

#include "bytes.h"
#include "table.h"

/* text in single quotes; Ruby reads only \\ and \' there. */
void ruby_quote(struct buf *out, const char *text);
/*
 * Append a piece of a comma-separated list: on the line if it still fits in 100 columns, else on
 * a new one that starts with indent.
 */
void script_piece(struct buf *out, const char *indent, const struct buf *piece);
/* "KEY => value" or "'key' => 'value'" (hash), as a piece. */
void script_pair(struct buf *out, const char *indent, const struct attribute *it, bool hash);
/* "KEY => {'a' => 'b'}" as pieces, behind `, ` unless it is the first; nothing for an empty list.
 */
void script_hash(struct buf *out, const char *indent, const char *key,
		 const struct attributes *list);
/* The comment lines on top: what the script does to t, and how it is run. */
void script_head(struct buf *out, const struct table *t, const char *what, const char *again);

#endif
