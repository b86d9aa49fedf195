/*
 * row.h - encode an event into one row record for each table, and decode a record into cells
 *
 *   row_plan_new, row_encoder_new (for each thread), row_encode*, row_cells*, ..._free
 *
 * Implemented in pipeline/load/row.
 */
#ifndef SALTMILL_ROW_H
#define SALTMILL_ROW_H

#include "cell.h"
#include "event.h"
#include "job.h"
#include "sorter.h"

/* A job bound to the columns of its source. A plan never changes, and any thread may use it. */
struct row_plan;

/*
 * Create a plan. `columns` has the source's column names in order, such as the CSV header. Returns
 * RC_CONFIG if a field's column is missing, or if a used name occurs twice. The message suggests a
 * close name. The job must outlive the plan.
 */
int row_plan_new(struct row_plan **out, const struct job *job, const char *const *columns,
		 size_t ncolumns, struct error *err);
void row_plan_free(struct row_plan *p);

/* Encoder and memory of one thread. */
struct row_encoder;
struct row_encoder *row_encoder_new(const struct row_plan *p);
void row_encoder_free(struct row_encoder *e);
/*
 * Limit the memory that `unique` of fields takes. If it exceeds the budget, row_encode returns
 * RC_LIMIT, with the sentence in why->detail. The budget must outlive the encoder.
 */
void row_encoder_account(struct row_encoder *e, struct budget *budget);

/*
 * Encode an event for every table. out[t] (t < job.ntables) receives the record, which is valid
 * until the next call. key.len is 0 if `where` or `when` excludes the event, or if the event has no
 * cells. Returns RC_DATA if it rejects the event for all tables, with the reason in *why.
 */
int row_encode(struct row_encoder *e, const struct event *ev, struct record *out,
	       struct reject *why);

/*
 * Encode 1 to EVENT_BATCH rows at once. out[t] gets the records that row_encode makes, without the
 * records of an empty key. The function writes the bytes to out[t].to, which has room for
 * row_batch_bytes plus RECORD_SLACK bytes. Returns false if a row is invalid or unusual. The caller
 * then calls row_encode for each row.
 */
bool row_encode_batch(struct row_encoder *e, const struct event_rows *rows,
		      struct record_batch *out);
/* Return the enum column_use of each column, or NULL if this plan does not support batches. */
const uint8_t *row_batch_uses(const struct row_plan *p);
/*
 * Return the most bytes that the rows need for a table, or 0 if batches do not support this plan or
 * row length.
 */
size_t row_batch_bytes(const struct row_encoder *e, size_t table, const struct event_rows *rows);

/*
 * Return the value of a field (by its index in the job) in the last encoded event without a reject.
 * A value with text.ptr NULL is null. Returns NULL if no table uses the field.
 */
const struct value *row_encoder_value(const struct row_encoder *e, size_t field);

/* Release the memory that a long event needed. The event's records become invalid. */
void row_encoder_trim(struct row_encoder *e);

/* Return the newest cell timestamp of all records so far, in ms, or 0 if there are no records. */
int64_t row_encoder_newest(const struct row_encoder *e);

/*
 * Times with digits after the microseconds that are not 0. A load keeps these digits only in cells of
 * text. `seq` and `field` are those of the first such time in input order.
 */
struct finer_times {
	uint64_t times, seq, field; /* `field` is an index in the job */
};
static inline void finer_times_add(struct finer_times *to, struct finer_times f)
{
	if (f.times && (!to->times || f.seq < to->seq)) {
		to->seq = f.seq;
		to->field = f.field;
	}
	to->times += f.times;
}
#define FINER_TIMES "digits after the microseconds, which only cells of text keep"
/* Return the times of all events so far that the encoder did not reject. */
struct finer_times row_encoder_finer(const struct row_encoder *e);

/* A cell of a record with its origin. The cell borrows from the record or the plan. */
struct row_cell {
	struct cell cell;
	uint32_t family; /* index in table.families */
	uint32_t column; /* index in job_table.cells */
	uint64_t seq;	 /* seq of the cell's event */
};

/* Return the bytes of struct record.secondary for this table: 0 or 8. */
size_t row_secondary_bytes(const struct row_plan *p, size_t table);
/* Return the cell timestamp of a record, in ms. */
int64_t row_timestamp(const struct row_plan *p, size_t table, const struct record *r);
/*
 * Return true if all qualifiers of the table are constant and no cell has a TTL of its own.
 * row_cells then gives the cells of all rows in the same order, without tags.
 */
bool row_constant_columns(const struct row_plan *p, size_t table);
/*
 * For constant columns, get family, column and qualifier of all cells that row_cells may give, in
 * the same order. Returns the number of these columns.
 */
size_t row_columns(const struct row_plan *p, size_t table, struct row_cell *columns);
/* Return the most cells that row_cells gives for a record of this table. */
size_t row_max_cells(const struct row_plan *p, size_t table);
/*
 * Get the cells of a record, ordered by family index. In a family, constant qualifiers come first,
 * in bytes_cmp order, and then computed qualifiers. Returns the number of cells.
 */
size_t row_cells(const struct row_plan *p, size_t table, const struct record *r,
		 struct row_cell *cells);
/*
 * Get the cells of a record if all columns are constant (at most 65536), in the fastest form for
 * writing files. `out` has room for row_max_cells values. The member `column` is an index in the
 * order of row_columns. *ts is the timestamp of all cells. Code may read CELL_ROOM_BYTES after the
 * payload.
 */
size_t row_values(const struct row_plan *p, size_t table, const struct record *r, int64_t *ts,
		  struct cell_value *out);
/*
 * Return a record's size as uncompressed KeyValues in bytes (hfile/README.md 3.1). This function is
 * a record_weigh with a struct row_weigher as context.
 */
struct row_weigher {
	const struct row_plan *plan;
	size_t table;
};
uint64_t row_weigh(const void *row_weigher, const struct record *r);
/* Return the formula that gives the weight of most records of the table. */
struct usual_weight row_usual_weight(const struct row_plan *p, size_t table);

#endif
