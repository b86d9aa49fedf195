/* csv.h - split delimited text that starts at the start of a row into rows */
#ifndef SALTMILL_SOURCE_CSV_H
#define SALTMILL_SOURCE_CSV_H

#include "bytes.h"
#include "event.h"
#include "job.h"
#include "marks.h"

/* Bytes after the data that must be readable and writable: a sentinel and a block of 64. */
#define CSV_SLACK 128

enum csv_kind {
	CSV_ROW,
	CSV_BAD_QUOTE, /* malformed; ends with the physical line of the fault */
	CSV_OPEN,      /* the data ends inside quotes: the row is only its first line */
	CSV_CONFUSED   /* libcsv and scan_row disagree: a bug in saltmill; the load must stop */
};

struct csv_row {
	enum csv_kind kind;
	const uint8_t *start, *end, *next; /* end: before the line end; next: after it */
	uint64_t line;			   /* line ends between csv_start and the row */
	size_t ncolumns; /* fields found; reader.columns has at most max_columns of them */
	/* CSV_BAD_QUOTE: text after a closing quote; false: a quote in unquoted text */
	bool bad_in_quotes;
	uint8_t bad_byte;
	size_t bad_column; /* from 1 */
};

struct csv_parser;

struct csv_reader {
	struct csv_parser *libcsv;
	struct column *columns;
	size_t max_columns, batch;
	uint8_t delimiter, quote;
	int comment; /* first byte of a comment line; -1: no comments */
	enum trim trim;
	bool libcsv_only;
	uint64_t max_row_bytes;
	uint64_t blank_lines; /* blank and comment lines that csv_next skipped since csv_open */
	/* the text being read: see csv_start */
	const uint8_t *data, *end, *pos;
	struct marks marks; /* the next mark is the first at or after pos */
	uint64_t line;
	/* the row that libcsv is reading */
	struct buf text;
	size_t ncolumns;
	bool row_done;
};

/* Take only what concerns single rows from the dialect: delimiter, quote, comment, trim. */
void csv_open(struct csv_reader *r, const struct csv_source *dialect, bool libcsv_only);
void csv_close(struct csv_reader *r);
/*
 * Keep up to n columns of each row (0 after csv_open). csv_plain skips rows longer than
 * max_row_bytes; 0: no limit. csv_next returns a blank line or comment above the limit as a row
 * without columns. The caller then rejects it for its length, as it does if memory has only part of
 * it.
 */
void csv_expect(struct csv_reader *r, size_t n, uint64_t max_row_bytes);

/* Read data[0, len) from now on. Writes to CSV_SLACK bytes after it. */
void csv_start(struct csv_reader *r, uint8_t *data, size_t len);
/* Read the next row, skipping blank lines and comments; false at the end. */
bool csv_next(struct csv_reader *r, struct csv_row *row);
/*
 * Read up to EVENT_BATCH following rows that have the expected number of fields, no quote and a
 * line end. Each is the line after the one before. Fills all of rows but seq. The rows stay valid
 * until the next call of any function but csv_columns. Returns 0 if the next row is different or
 * incomplete: call csv_next for it.
 */
size_t csv_plain(struct csv_reader *r, struct event_rows *rows);
/* Get the fields of one of those rows as columns. */
void csv_columns(struct csv_reader *r, const struct event_rows *rows, size_t row);
/*
 * Return the number of bytes up to the last true row end in data[0, len); 0: there is none. data
 * starts at the start of a row. Unless `final`, its last byte must not be \r, because a \n may
 * follow. `final`: the input ends here, which also ends a row. *open: the row after the returned
 * bytes contains a quote and has no end, or its end makes it longer than max_row_bytes.
 */
size_t csv_cut(struct csv_reader *r, const uint8_t *data, size_t len, bool final,
	       uint64_t max_row_bytes, bool *open);
/* Return the length of the row or comment at the start of data[0, len); 0: it has no end. */
size_t csv_row(struct csv_reader *r, const uint8_t *data, size_t len);
/* Return the length of the first line of data[0, len), with its line end; 0: it has none. */
size_t csv_line(const uint8_t *data, size_t len);
/* Count the line ends (\n, \r\n, lone \r) in data[0, len). */
uint64_t csv_lines(const uint8_t *data, size_t len);

static inline bool csv_is_end(uint8_t c)
{
	return c == '\n' || c == '\r';
}

#endif
