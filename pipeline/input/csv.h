/* csv.h - split delimited text into rows; the text must begin at the start of a row */
#ifndef SALTMILL_SOURCE_CSV_H
#define SALTMILL_SOURCE_CSV_H

#include "bytes.h"
#include "event.h"
#include "job.h"
#include "marks.h"
#include "pattern.h"

/* Bytes after the data that must be readable and writable: a sentinel and a block of 64. */
#define CSV_SLACK 128

enum csv_kind {
	CSV_ROW,
	CSV_BAD_QUOTE, /* malformed; the row ends with the physical line of the fault */
	CSV_OPEN,      /* the data ends inside quotes, so the row contains only its first line */
	/* libcsv and scan_row disagree, which is a bug in saltmill, so the load must stop */
	CSV_CONFUSED
};

struct csv_row {
	enum csv_kind kind;
	const uint8_t *start, *end, *next; /* `end` is before the line end, `next` after it */
	uint64_t line;			   /* number of line ends between csv_start and the row */
	uint64_t more_lines;		   /* line ends inside the row */
	size_t ncolumns; /* number of fields; reader.columns has at most max_columns of these */
	/*
	 * for CSV_BAD_QUOTE, true if text follows a closing quote, or false if unquoted text has a
	 * quote
	 */
	bool bad_in_quotes;
	uint8_t bad_byte;
	size_t bad_column; /* number of the faulty field, from 1 */
	bool rest_empty;   /* special rows: the values after max_columns are empty */
};

struct csv_parser;

struct csv_reader {
	struct csv_parser *libcsv;
	struct column *columns;
	size_t max_columns, batch;
	uint8_t delimiter, quote;
	int comment; /* first byte of a comment line, -1 if there are no comments */
	enum trim trim;
	bool libcsv_only;
	/* the dialect if libcsv cannot read it (special.h), or NULL */
	const struct csv_source *special;
	const struct pattern *skip; /* NULL if the reader skips no rows */
	struct pattern_scratch scratch;
	uint64_t max_row_bytes;
	uint64_t blank_lines; /* blank and comment lines that csv_next skipped since csv_open */
	/* the text of csv_start */
	const uint8_t *data, *end, *pos;
	struct marks marks; /* the next mark is the first at or after pos */
	uint64_t line;
	/* the row that libcsv is reading */
	struct buf text, unclosed;
	size_t ncolumns;
	bool row_done;
};

/*
 * Open a reader. The function uses only the members of the dialect that split rows. A dialect that
 * libcsv cannot read must stay valid.
 */
void csv_open(struct csv_reader *r, const struct csv_source *dialect, bool libcsv_only);
void csv_close(struct csv_reader *r);
/*
 * Treat the first line of a malformed row as a row if the line matches the pattern. The next row
 * starts after this line, so a stray quote in a trailer costs no other line. The pattern may be
 * NULL.
 */
void csv_skip(struct csv_reader *r, const struct pattern *skip);
/*
 * Keep up to `n` columns of each row (0 after csv_open). csv_plain skips rows longer than
 * max_row_bytes, unless max_row_bytes is 0. csv_next returns a longer blank line or comment as a
 * row without columns, so that the caller rejects it for its length.
 */
void csv_expect(struct csv_reader *r, size_t n, uint64_t max_row_bytes);

/* Begin to read data[0, len). The reader writes to CSV_SLACK bytes after the data. */
void csv_start(struct csv_reader *r, uint8_t *data, size_t len);
/* Read the next row and skip blank lines and comments. Return false at the end. */
bool csv_next(struct csv_reader *r, struct csv_row *row);
/*
 * Read up to EVENT_BATCH consecutive rows that have the expected number of fields, no quote and a
 * line end. Fill all members of `rows` except `seq`. The rows stay valid until the next call of any
 * function but csv_columns. Return 0 if the next row is different or incomplete. Then call
 * csv_next.
 */
size_t csv_plain(struct csv_reader *r, struct event_rows *rows);
/* Get the fields of one row of csv_plain as columns. */
void csv_columns(struct csv_reader *r, const struct event_rows *rows, size_t row);
/*
 * Return the number of bytes up to the last true row end in data[0, len), or 0 if there is no row
 * end. `data` starts at the start of a row. If `final` is true, the input ends here, which also
 * ends a row. If `final` is false, the last byte must not be \r, because a \n may follow. Set
 * `*open` if the next row has a quote, and either has no end or exceeds max_row_bytes.
 */
size_t csv_cut(struct csv_reader *r, const uint8_t *data, size_t len, bool final,
	       uint64_t max_row_bytes, bool *open);
/*
 * Return the length of the row or comment at the start of data[0, len), or 0 if the row has no end.
 */
size_t csv_row(struct csv_reader *r, const uint8_t *data, size_t len);
/*
 * Return the length of the first line of data[0, len) with its line end, or 0 if there is no line
 * end.
 */
size_t csv_line(const uint8_t *data, size_t len);
/* Count the line ends (\n, \r\n, lone \r) in data[0, len). */
uint64_t csv_lines(const uint8_t *data, size_t len);

static inline bool csv_is_end(uint8_t c)
{
	return c == '\n' || c == '\r';
}

#endif
