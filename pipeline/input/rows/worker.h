/* worker.h - the state of one thread that reads a source of files */
#ifndef SALTMILL_SOURCE_WORKER_H
#define SALTMILL_SOURCE_WORKER_H

#include "cursor.h"
#include "made_rows.h"
#include "input/message_columns.h"
#include "pattern.h"

struct source_worker {
	/* NULL: the source reads files, and the members below are used */
	struct messages_worker *messages;
	struct source *source;
	struct csv_reader reader;
	struct decoder *json; /* NULL: delimited text */
	struct buf piece;
	size_t file;
	/* of the piece's first byte; line: line ends, or events, before it */
	uint64_t offset, line, seq;
	/* number in the file, from 0, of the first block of the piece or of the current one */
	uint64_t block;
	void *own;		/* data of the block format */
	struct made_rows *made; /* NULL: delimited text */
	uint64_t number;	/* of the piece */
	struct pattern_scratch skip;
	struct source_counts counts;
	uint8_t apart[128]; /* keeps the counts of two workers in different cache lines */
};

/* Pass the event to the sink; if the sink refuses it, reject it. */
int worker_take(struct source_worker *w, const struct event *event, const struct source_sink *sink,
		struct error *err);
int worker_reject(struct source_worker *w, const struct source_sink *sink,
		  const struct event *event, const struct reject *why, struct error *err);

/*
 * skip_rows.c: count a row that matches `skip_matching` as filtered. *skipped: the row is finished.
 */
int skip_row(struct source_worker *w, const struct event *event, const struct source_sink *sink,
	     bool *skipped, struct error *err);

/*
 * csv_rows.c: pass each row of the piece as an event; *rows: their number. *fatal: after this row,
 * which *err names, the input cannot be trusted.
 */
int work_on_rows(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
		 bool *fatal, struct error *err);

/* row_faults.c: say why the row is not an event. */
void row_fault(const struct source *s, const struct csv_row *row, struct reject *why);

/* json_lines.c: take the columns from the job's fields, as paths. */
int lines_open(struct source *s, const struct job *job, struct error *err);
/* Pass each line of the piece that is not blank as an event; *rows: their number. */
int work_on_lines(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
		  struct error *err);

#endif
