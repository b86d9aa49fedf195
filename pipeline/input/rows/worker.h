/* worker.h - the state of one thread that reads a source of files */
#ifndef SALTMILL_SOURCE_WORKER_H
#define SALTMILL_SOURCE_WORKER_H

#include "cursor.h"
#include "made_rows.h"
#include "input/message_columns.h"
#include "pattern.h"

struct source_worker {
	/* if NULL, the source reads files and uses the members below */
	struct messages_worker *messages;
	struct source *source;
	struct csv_reader reader;
	struct column *ordered; /* `columns: by_name`: the columns in the source's order */
	struct decoder *json;	/* NULL for delimited text */
	struct decoder *meta; /* decoder of actions of bulk requests or names of members, or NULL */
	struct column *pair;  /* columns of an action or a name and its document */
	struct buf name;      /* the name as an object */
	struct buf piece;
	size_t file;
	/*
	 * position of the first byte of the piece; `line` counts the line ends, or events, before
	 * it
	 */
	uint64_t offset, line, seq;
	uint64_t row; /* rows of the file before the current row, if the source counts them */
	/* number in the file, from 0, of the piece's first block, later of the current block */
	uint64_t block;
	void *own;		/* data of the block format */
	struct made_rows *made; /* NULL for delimited text */
	uint64_t number;	/* number of the piece */
	struct pattern_scratch skip;
	struct source_counts counts;
	uint8_t apart[128]; /* keeps the counts of two workers in different cache lines */
};

/* Pass the event to the sink. Reject the event if the sink refuses it. */
int worker_take(struct source_worker *w, const struct event *event, const struct source_sink *sink,
		struct error *err);
int worker_reject(struct source_worker *w, const struct source_sink *sink,
		  const struct event *event, const struct reject *why, struct error *err);

/* Return the columns of the row in the reader, in the order of the source (by_name.c). */
const struct column *by_name_columns(struct source_worker *w);

/* Count the rows of a piece: events, rejects and rows of `skip_matching` (count_rows.c). */
uint64_t count_rows(struct source *s, struct buf *piece);
/* Open the reader that counts. */
void count_open(struct source *s);
/* Check that the columns $line, $row and those of `partitions` exist in this input. */
int origins_check(const struct source *s, const struct job *job, struct error *err);

/* Count a row that matches `skip_matching` as filtered, and set `*skipped` (skip_rows.c). */
int skip_row(struct source_worker *w, const struct event *event, const struct source_sink *sink,
	     bool *skipped, struct error *err);

/*
 * Pass each row of the piece as an event, and set `*rows` to the number of rows (csv_rows.c). Set
 * `*fatal` if the input is unreliable after the row that `*err` names.
 */
int work_on_rows(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
		 bool *fatal, struct error *err);

/* Describe why the row is not an event (row_faults.c). */
void row_fault(const struct source *s, size_t file, const struct csv_row *row, struct reject *why);
/* Return the number of columns of the file. */
static inline size_t source_width(const struct source *s, size_t file)
{
	return s->by_name ? s->by_name[file].n : s->ncolumns;
}

/* Make columns of the paths that the job's fields use (json_lines.c). */
int lines_open(struct source *s, const struct job *job, struct error *err);
/* Return true if the line has only spaces, tabs and its line end (worker.c). */
bool line_is_blank(struct bytes text);
/*
 * Pass each line of the piece that is not blank, or each record of documents, as an event. Set
 * `*rows` to the number of events.
 */
int work_on_lines(struct source_worker *w, const struct source_sink *sink, uint64_t *rows,
		  struct error *err);

/* Prepare for JSON documents if the job has them (documents.c). */
int documents_open(struct source *s, struct error *err);
void documents_worker_open(struct source_worker *w);
/* Fill `w->piece` with the next whole records, or with nothing at the end of the file. */
int documents_cut(struct source *s, struct source_worker *w, struct error *err);
/* Check that the last document of the file is whole. */
int documents_ended(const struct source *s, struct error *err);
/* Return true if one record is several events, or several texts are one event. */
bool is_compound(const struct source *s);
/*
 * Pass the events of such a record, whose text is in the piece after `line` line ends. Add the
 * number of events to `*rows`.
 */
int take_compound(struct source_worker *w, struct bytes text, uint64_t line,
		  const struct source_sink *sink, uint64_t *rows, struct error *err);

#endif
