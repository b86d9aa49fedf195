/*
 * row.h - meaning: from an event's columns to row records, and from a record to its cells
 *
 *   row_plan_new, row_encoder_new (one a thread), row_encode*, row_cells*, ..._free
 *
 * Implemented in pipeline/load/row.
 */
#ifndef SALTMILL_ROW_H
#define SALTMILL_ROW_H

#include "cell.h"
#include "event.h"
#include "job.h"
#include "sorter.h"

/* A job bound to the columns of its source.  Immutable: any thread. */
struct row_plan;

/*
 * columns: the source's column names in order (CSV header).  RC_CONFIG when a field's column is
 * not among them or a name that is used stands there twice; the message names the near miss.
 * The job must outlive the plan.
 */
int row_plan_new(struct row_plan **out, const struct job *job, const char *const *columns,
		 size_t ncolumns, struct error *err);
void row_plan_free(struct row_plan *p);

/* Scratch for one thread. */
struct row_encoder;
struct row_encoder *row_encoder_new(const struct row_plan *p);
void row_encoder_free(struct row_encoder *e);

/*
 * Encode an event for every table.  0: out[t] (t < job.ntables) holds the record, valid until the
 * next call; key.len == 0 means that there is nothing to store: the table does not take the event,
 * by `where` or `when`, or all of its cells are absent.  RC_DATA: *why says what is wrong; the
 * event goes to no table.
 */
int row_encode(struct row_encoder *e, const struct event *ev, struct record *out,
	       struct reject *why);

/*
 * The same for 1..EVENT_BATCH rows at once: out[t] becomes what row_encode gives for each, none
 * with an empty key, written to out[t].to, where the caller has row_batch_bytes and RECORD_SLACK
 * more. false: not for these, which may be faulty or just unusual; row_encode has them.
 */
bool row_encode_batch(struct row_encoder *e, const struct event_rows *rows,
		      struct record_batch *out);
/* By column, enum column_use: what it looks at; NULL: the plan is none for rows at once. */
const uint8_t *row_batch_uses(const struct row_plan *p);
/* What the rows take in a table, at most; 0: not for this plan, or rows of such length. */
size_t row_batch_bytes(const struct row_encoder *e, size_t table, const struct event_rows *rows);

/*
 * The value of a field (its index in the job) in the event that was encoded last and not rejected;
 * text.ptr NULL: a null.  NULL: no table uses the field.
 */
const struct value *row_encoder_value(const struct row_encoder *e, size_t field);

/* Release what a long event made the encoder hold; records it gave are gone. */
void row_encoder_trim(struct row_encoder *e);

/* The newest cell timestamp of all records so far, ms; 0: none. */
int64_t row_encoder_newest(const struct row_encoder *e);

/* A cell of a record, which borrows from the record (or the plan), and where it comes from. */
struct row_cell {
	struct cell cell;
	uint32_t family; /* index in table.families */
	uint32_t column; /* index in job_table.cells */
	uint64_t seq;	 /* of its event */
};

/* Bytes of struct record.secondary for this table: 0 or 8. */
size_t row_secondary_bytes(const struct row_plan *p, size_t table);
/* The cell timestamp of a record, ms. */
int64_t row_timestamp(const struct row_plan *p, size_t table, const struct record *r);
/* All qualifiers of the table are constant: row_cells gives every row's cells in one fixed order.
 */
bool row_constant_columns(const struct row_plan *p, size_t table);
/* Then: family, column and qualifier of what row_cells may give, in its order; returns how many. */
size_t row_columns(const struct row_plan *p, size_t table, struct row_cell *columns);
/* The largest number of cells that row_cells gives for a record of this table. */
size_t row_max_cells(const struct row_plan *p, size_t table);
/*
 * The cells of a record, by family (index), constant qualifiers in bytes_cmp order within a
 * family, computed ones behind them.  Returns how many.
 */
size_t row_cells(const struct row_plan *p, size_t table, const struct record *r,
		 struct row_cell *cells);
/*
 * The same for constant columns, of which there are at most 65536, as the quickest way to a file
 * takes them: out holds row_max_cells, column counts in row_columns' order.  *ts is that of all.
 * CELL_ROOM_BYTES behind the payload may be read.
 */
size_t row_values(const struct row_plan *p, size_t table, const struct record *r, int64_t *ts,
		  struct cell_value *out);
/* record_weigh over a struct row_weigher: bytes as uncompressed KeyValues (hfile/README.md 3.1). */
struct row_weigher {
	const struct row_plan *plan;
	size_t table;
};
uint64_t row_weigh(const void *row_weigher, const struct record *r);
/* What row_weigh gives for most records of the table. */
struct usual_weight row_usual_weight(const struct row_plan *p, size_t table);

#endif
