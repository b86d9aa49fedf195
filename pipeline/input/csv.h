/*
 * csv.h - the rows of a run of delimited text that starts at a row's start
 */
#ifndef SALTMILL_SOURCE_CSV_H
#define SALTMILL_SOURCE_CSV_H

#include "bytes.h"
#include "event.h"
#include "job.h"
#include "marks.h"

/* Readable and writable bytes that must follow the data: a sentinel and a block of 64. */
#define CSV_SLACK 128

enum csv_kind {
	CSV_ROW,
	CSV_BAD_QUOTE, /* malformed; ends with the physical line of the fault */
	CSV_OPEN,      /* the data ends inside of quotes: the row is its first line alone */
	CSV_CONFUSED   /* libcsv and scan_row differ: a bug of ours, never to be passed over */
};

struct csv_row {
	enum csv_kind kind;
	const uint8_t *start, *end, *next; /* end: before the line end; next: behind it */
	uint64_t line;			   /* line ends before the row, from csv_start on */
	size_t ncolumns; /* fields found; only min(ncolumns, max_columns) are in reader.columns */
	bool bad_in_quotes; /* CSV_BAD_QUOTE: text behind a closing quote, or a quote in plain text
			     */
	uint8_t bad_byte;
	size_t bad_column; /* from 1 */
};

struct csv_parser;

struct csv_reader {
	struct csv_parser *libcsv;
	struct column *columns;
	size_t max_columns, batch;
	uint8_t delimiter, quote;
	int comment; /* the byte that begins a line that is no row; -1: none */
	enum trim trim;
	bool libcsv_only;
	uint64_t max_row_bytes;
	uint64_t blank_lines; /* skipped by csv_next since csv_open, comments among them */
	/* the run being read: see csv_start */
	const uint8_t *data, *end, *pos;
	struct marks marks; /* the next one is the first at or behind pos */
	uint64_t line;
	/* the row being read by libcsv */
	struct buf text;
	size_t ncolumns;
	bool row_done;
};

/* Of the dialect only what a row alone has: delimiter, quote, comment, trim. */
void csv_open(struct csv_reader *r, const struct csv_source *dialect, bool libcsv_only);
void csv_close(struct csv_reader *r);
/*
 * Keep up to n columns of each row (0 after csv_open).  csv_plain takes no row above max_row_bytes,
 * and csv_next gives a blank line or comment above it as a row without columns, so that it is
 * judged by its length as when memory has only a part of it.  0: any length.
 */
void csv_expect(struct csv_reader *r, size_t n, uint64_t max_row_bytes);

/* Read data[0, len) from now on; CSV_SLACK bytes behind it are written to. */
void csv_start(struct csv_reader *r, uint8_t *data, size_t len);
/* The next row that is no blank line and no comment; false at the end. */
bool csv_next(struct csv_reader *r, struct csv_row *row);
/*
 * The next rows that have the expected number of fields, no quote and a line end: up to
 * EVENT_BATCH, each the line behind the one before; all of rows but seq.  They are good until the
 * next call of another function but csv_columns.  0: the next row is not such a one, or not seen
 * whole: csv_next has it.
 */
size_t csv_plain(struct csv_reader *r, struct event_rows *rows);
/* The fields of one of them, as columns. */
void csv_columns(struct csv_reader *r, const struct event_rows *rows, size_t row);
/*
 * Bytes up to the last true row end in data[0, len), 0 if there is none.  data starts at a row's
 * start; its last byte is no \r (a \n could follow it in what is still to be read), unless `final`:
 * the input ends there, which ends a row too.  *open: the row behind them has a quote and no end,
 * or only one that makes it longer than max_row_bytes.
 */
size_t csv_cut(struct csv_reader *r, const uint8_t *data, size_t len, bool final,
	       uint64_t max_row_bytes, bool *open);
/* Bytes of the row, or comment, at the start of data[0, len); 0: its end is not there. */
size_t csv_row(struct csv_reader *r, const uint8_t *data, size_t len);
/* Bytes of the first line of data[0, len), its line end among them; 0: it has none. */
size_t csv_line(const uint8_t *data, size_t len);
/* Line ends (\n, \r\n, lone \r) in data[0, len). */
uint64_t csv_lines(const uint8_t *data, size_t len);

static inline bool csv_is_end(uint8_t c)
{
	return c == '\n' || c == '\r';
}

#endif
