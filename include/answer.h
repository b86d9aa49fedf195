/*
 * answer.h - the cells of a get or scan as text, and what of the files was read for them
 *
 *   {.format = ...}, answer_cell*, answer_end
 */
#ifndef SALTMILL_ANSWER_H
#define SALTMILL_ANSWER_H

#include "query.h"

enum answer_format { ANSWER_TABLE, ANSWER_CSV, ANSWER_JSONL };

/* What was appended so far; {0} but for the format at the start. */
struct answer_text {
	enum answer_format format;
	struct buf row; /* that was begun */
	bool begun;
	int widths[2];
	uint64_t rows, cells;
};

/*
 * Append a cell, in the order of query_next.  Bytes are HBase's \xHH text.  table: a line a cell;
 * csv: row,family,qualifier,timestamp,type,value under a header; jsonl: an object a row.
 */
void answer_cell(struct answer_text *a, struct buf *out, const struct cell *c);
/* Count a cell, without text. */
void answer_count(struct answer_text *a, const struct cell *c);
/* Behind the last cell. */
void answer_end(struct answer_text *a, struct buf *out);
/* A line a file: what was read of it, or why nothing was. */
void answer_explain(struct buf *out, const struct query_scan *s, size_t nfiles);
void answer_release(struct answer_text *a);

#endif
