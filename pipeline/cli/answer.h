/*
 * answer.h - the cells of a get or scan as text, and what of the files was read for them
 *
 *   {.format = ...}, answer_cell*, answer_end
 */
#ifndef SALTMILL_ANSWER_H
#define SALTMILL_ANSWER_H

#include "form.h"
#include "query.h"
#include "by_field.h"

extern const struct form rows_form, decoded_form;

enum answer_format { ANSWER_TABLE, ANSWER_CSV, ANSWER_JSONL };

/* How cells become fields again. */
struct answer_decoding {
	const struct stored *stored;
	const struct query_family *families;
	const struct query_column *columns; /* that were asked for; none: all */
	size_t ncolumns;
	bool versions; /* a column may come more than once in a row */
	bool raw;      /* delete markers too */
};

/* What was appended so far; {0} but for the format at the start. */
struct answer_text {
	enum answer_format format;
	struct decoded *decoded; /* answer_decode */
	struct buf row;		 /* that was begun */
	bool begun;
	int widths[2];
};

/*
 * Fields instead of bytes from the first cell on: numbers as digits, times as ISO 8601, bytes that
 * are no UTF-8 as \xHH.  table: a line a cell; csv: a line a row with the fields of the key and
 * each column, or where a column may come more than once or its qualifier is made of fields a line
 * a cell; jsonl: {"row": .., "key": {"userId": 7}, "cells": {"f:m": 1}}, of several versions a list
 * of {"timestamp", "type", "value"}.  What how points to is borrowed.
 */
void answer_decode(struct answer_text *a, const struct answer_decoding *how);
/*
 * Append a cell, in the order of query_next; new_row: query_starts_row.  Bytes are HBase's \xHH
 * text.  table: a line a cell; csv: row,family,qualifier,timestamp,type,value under a header;
 * jsonl: an object a row.  RC_DATA: decoding met what the job does not write; RC_CONFIG: and has no
 * place for.
 */
int answer_cell(struct answer_text *a, struct buf *out, const struct cell *c, bool new_row,
		struct error *err);
/* Behind the last cell. */
void answer_end(struct answer_text *a, struct buf *out);
/* A line a file: the blocks that were read of it, or why it was spared; and the sum. */
void answer_explain(struct buf *out, const struct query_scan *s, size_t nfiles);
/*
 * Of a live table: a line a region with what it was asked and sent, what the servers did of the
 * question, what was left to do here; and the sum.
 */
void answer_explain_live(struct buf *out, const struct live_explained *l, const struct query *q,
			 const struct filter *filter);
void answer_release(struct answer_text *a);

#endif
