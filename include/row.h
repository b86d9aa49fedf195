/*
 * row.h - encode an event into one row record for each table, and decode a record into cells
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

/* A job bound to the columns of its source. Immutable; any thread may use it. */
struct row_plan;

/*
 * Create a plan. columns: the source's column names in order (CSV header). RC_CONFIG: a field's
 * column is missing, or a used name occurs twice; the message suggests a close name. The job must
 * outlive the plan.
 */
int row_plan_new(struct row_plan **out, const struct job *job, const char *const *columns,
		 size_t ncolumns, struct error *err);
void row_plan_free(struct row_plan *p);

/* Encoder and memory of one thread. */
struct row_encoder;
struct row_encoder *row_encoder_new(const struct row_plan *p);
void row_encoder_free(struct row_encoder *e);

/*
 * Encode an event for every table. RC_OK: out[t] (t < job.ntables) is the record, valid until the
 * next call. key.len == 0 means that nothing is stored: `where` or `when` excludes the event, or
 * all of its cells are absent. RC_DATA: *why has the reason; the event goes to no table.
 */
int row_encode(struct row_encoder *e, const struct event *ev, struct record *out,
	       struct reject *why);

/*
 * Encode 1..EVENT_BATCH rows at once: out[t] gets what row_encode gives for each row, none with an
 * empty key. It is written to out[t].to, where the caller provides row_batch_bytes plus
 * RECORD_SLACK. False: take the slow path (row_encode); a row is invalid or unusual.
 */
bool row_encode_batch(struct row_encoder *e, const struct event_rows *rows,
		      struct record_batch *out);
/* Return by column how it is used (enum column_use); NULL: this plan does not support batches. */
const uint8_t *row_batch_uses(const struct row_plan *p);
/* Return the most bytes that the rows need for a table; 0: no batch for this plan or row length. */
size_t row_batch_bytes(const struct row_encoder *e, size_t table, const struct event_rows *rows);

/*
 * Return the value of a field (its index in the job) in the last encoded event that was not
 * rejected; text.ptr NULL: a null. NULL: no table uses the field.
 */
const struct value *row_encoder_value(const struct row_encoder *e, size_t field);

/* Release the memory that a long event needed; its records become invalid. */
void row_encoder_trim(struct row_encoder *e);

/* Return the newest cell timestamp of all records so far, in ms; 0: none. */
int64_t row_encoder_newest(const struct row_encoder *e);

/* A cell of a record with its origin; it borrows from the record or the plan. */
struct row_cell {
	struct cell cell;
	uint32_t family; /* index in table.families */
	uint32_t column; /* index in job_table.cells */
	uint64_t seq;	 /* of its event */
};

/* Return the bytes of struct record.secondary for this table: 0 or 8. */
size_t row_secondary_bytes(const struct row_plan *p, size_t table);
/* Return the cell timestamp of a record, in ms. */
int64_t row_timestamp(const struct row_plan *p, size_t table, const struct record *r);
/*
 * True if all qualifiers of the table are constant: row_cells then gives every row's cells in one
 * order.
 */
bool row_constant_columns(const struct row_plan *p, size_t table);
/*
 * Get family, column and qualifier of all cells that row_cells may give then, in its order; returns
 * how many.
 */
size_t row_columns(const struct row_plan *p, size_t table, struct row_cell *columns);
/* Return the most cells that row_cells gives for a record of this table. */
size_t row_max_cells(const struct row_plan *p, size_t table);
/*
 * Get the cells of a record by family index; within a family, constant qualifiers in bytes_cmp
 * order, then computed ones. Returns how many.
 */
size_t row_cells(const struct row_plan *p, size_t table, const struct record *r,
		 struct row_cell *cells);
/*
 * The same for constant columns (at most 65536), in the fastest form for writing files. out has
 * room for row_max_cells; column is an index in row_columns' order. *ts is the timestamp of all
 * cells. CELL_ROOM_BYTES after the payload may be read.
 */
size_t row_values(const struct row_plan *p, size_t table, const struct record *r, int64_t *ts,
		  struct cell_value *out);
/*
 * The record_weigh with a struct row_weigher as context: bytes as uncompressed KeyValues
 * (hfile/README.md 3.1).
 */
struct row_weigher {
	const struct row_plan *plan;
	size_t table;
};
uint64_t row_weigh(const void *row_weigher, const struct record *r);
/* Return what row_weigh gives for most records of the table. */
struct usual_weight row_usual_weight(const struct row_plan *p, size_t table);

#endif
