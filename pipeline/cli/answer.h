/*
 * answer.h - prints cells of get and scan as text, and explains which data the query read
 *
 *   Set .format first. Call answer_cell for each cell, and answer_end after the last cell.
 */
#ifndef SALTMILL_ANSWER_H
#define SALTMILL_ANSWER_H

#include "form.h"
#include "query.h"
#include "by_field.h"

extern const struct form rows_form, decoded_form;

enum answer_format { ANSWER_TABLE, ANSWER_CSV, ANSWER_JSONL };

/* Settings that answer_decode needs to turn cells back into fields of the job. */
struct answer_decoding {
	const struct stored *stored;
	const struct query_family *families;
	const struct query_column *columns; /* requested columns; all if empty */
	size_t ncolumns;
	bool versions; /* a row may have several versions of a column */
	bool raw;      /* also print delete markers */
};

/* State of the output. All members except format start as zero. */
struct answer_text {
	enum answer_format format;
	struct decoded *decoded; /* answer_decode */
	struct buf row;		 /* the row in progress */
	bool begun;
	int widths[2];
};

/*
 * Print fields instead of bytes, beginning with the first cell. Numbers are digits, times are ISO
 * 8601, and bytes that are not UTF-8 are \xHH. The format `table` has one line for each cell. The
 * format `csv` has one line for each row, with the fields of the key and each column. If a column
 * may repeat in a row, or its qualifier contains fields, `csv` has one line for each cell. The
 * format `jsonl` has one object for each row, such as {"row": .., "key": {"userId": 7}, "cells":
 * {"f:m": 1}}. With several versions, the value of a column is a list of {"timestamp", "type",
 * "value"}. Borrows the pointers in `how`.
 */
void answer_decode(struct answer_text *a, const struct answer_decoding *how);
/*
 * Append a cell. Pass the cells in the order of query_next. `new_row` is the result of
 * query_starts_row. Without answer_decode, the answer has bytes as \xHH. The format `table` has one
 * line for each cell. The format `csv` has a header, then lines of
 * row,family,qualifier,timestamp,type,value. The format `jsonl` has one object for each row.
 * Returns RC_DATA if decoding finds a key or value that the job does not write. Returns RC_CONFIG
 * if a column has no place in the CSV line.
 */
int answer_cell(struct answer_text *a, struct buf *out, const struct cell *c, bool new_row,
		struct error *err);
/* End the output after the last cell. */
void answer_end(struct answer_text *a, struct buf *out);
/*
 * Append one line for each file, and one line with the sum. A file's line shows the blocks read, or
 * the reason why the scan skipped the file.
 */
void answer_explain(struct buf *out, const struct query_scan *s, size_t nfiles);
/*
 * Append one line for each region of a live table, and one line with the sum. A region's line shows
 * the request, the size of the answer, the work of the servers and the work of saltmill.
 */
void answer_explain_live(struct buf *out, const struct live_explained *l, const struct query *q,
			 const struct filter *filter);
void answer_release(struct answer_text *a);

#endif
