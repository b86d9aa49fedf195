/*
 * worker.h - what one thread has of a source of files
 */
#ifndef SALTMILL_SOURCE_WORKER_H
#define SALTMILL_SOURCE_WORKER_H

#include "cursor.h"
#include "made_rows.h"
#include "input/message_columns.h"
#include "pattern.h"

struct source_worker {
	struct messages_worker *messages; /* NULL: files, as all below */
	struct source *source;
	struct csv_reader reader;
	struct decoder *json; /* NULL: delimited text */
	struct buf piece;
	size_t file;
	uint64_t offset, line, seq; /* of the piece's first byte; line ends, or events, before it */
	uint64_t block;		    /* blocks before it in the file, or before what is worked on */
	void *own;		    /* the block format's */
	struct made_rows *made;	    /* NULL: delimited text */
	uint64_t number;	    /* of the piece */
	struct pattern_scratch skip;
	struct source_counts counts;
	uint8_t apart[128]; /* keeps two workers' counts out of one cache line */
};

/* To the sink; what it refuses is rejected. */
int worker_take(struct source_worker *w, const struct event *event, const struct source_sink *sink,
		struct error *err);
int worker_reject(struct source_worker *w, const struct source_sink *sink,
		  const struct event *event, const struct reject *why, struct error *err);

/* skip_rows.c: a row that `skip_matching` names is counted as filtered; *skipped: it is done. */
int skip_row(struct source_worker *w, const struct event *event, const struct source_sink *sink,
	     bool *skipped, struct error *err);

/*
 * csv_rows.c: each row of the piece is an event; *rows: how many.  *fatal: a row after which the
 * input cannot be trusted, which *err names.
 */
int work_on_rows(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
		 bool *fatal, struct error *err);

/* row_faults.c: why the row is no event. */
void row_fault(const struct source *s, const struct csv_row *row, struct reject *why);

/* json_lines.c: the job's fields name the columns, as paths. */
int lines_open(struct source *s, const struct job *job, struct error *err);
/* Each line of the piece that is not blank is an event; *rows: how many. */
int work_on_lines(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
		  struct error *err);

#endif
