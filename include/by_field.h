/*
 * by_field.h - decode stored rows and cells into the fields of the job that wrote them
 *
 *   stored_open, (stored_find, stored_take)*, stored_release     decode keys and cells
 *   where_new, where_put, query_open, where_free                 filter rows by a condition
 *   entry_check_open, entry_check_row*, entry_check_release      detect outdated index entries
 *   agree_run                                                    compare tables of the same events
 *
 * Implemented in pipeline/read/by_field and agree.
 */
#ifndef SALTMILL_BY_FIELD_H
#define SALTMILL_BY_FIELD_H

#include "cell.h"
#include "field.h"
#include "key.h"
#include "query.h"

/* One entry of the table's `cells`, ready for decoding. */
struct stored_column {
	const struct cell_spec *spec;
	struct bytes family;
	struct bytes constant;	     /* the qualifier, if the job gives a constant */
	struct key_schema qualifier; /* the parts of a computed qualifier */
	struct layout value;	     /* encoding of the value, if the value is a field */
};

struct stored {
	const struct key_table *keys;
	const struct field_forms *forms;
	struct stored_column *columns; /* the entries, in the order of the job */
	/* `max_pieces` is the largest number of parts in a row key or qualifier */
	size_t ncolumns, max_pieces;
	struct arena arena;
};

/* Prepare *s, which borrows `keys` and `forms`. */
void stored_open(struct stored *s, const struct key_table *keys, const struct field_forms *forms);
void stored_release(struct stored *s);
/*
 * Find the job's cell with this family and qualifier. Returns NULL if the job has no such cell.
 * `pieces` receives the parts of a computed qualifier (key_split). A constant qualifier leaves
 * `pieces` unchanged.
 */
const struct stored_column *stored_find(const struct stored *s, struct bytes family,
					struct bytes qualifier, struct key_piece *pieces);
/*
 * Decode a stored value into *v, as a typed value with its text. *v borrows from `in`, the arena
 * and the scratch. Returns RC_DATA if no value of the field has these bytes.
 */
int stored_take(const struct layout *l, const struct field_form *form, struct bytes in,
		struct arena *a, struct field_scratch *scratch, struct value *v, struct error *err);
/*
 * Get the row key of the main table from a cell of an index table. Returns false if the cell
 * contains no row key. `pieces` is scratch for `max_pieces` parts. *key borrows from the cell.
 */
bool stored_reference(const struct stored *s, const struct cell *c, struct key_piece *pieces,
		      struct bytes *key);

/*
 * --- where: a condition on a table's stored rows ---
 *
 * saltmill compiles the condition into key ranges that can contain matching rows, and into a test
 * of each row. A name is a field of the job, in any place where the table stores the field, or a
 * column family:qualifier.
 *
 * Conditions on the row key or on a column select rows. They use the newest version of the column
 * within the query's time range. A missing column is null. Comparisons with null are false, as in
 * SingleColumnValueFilter with filterIfMissing. Add `or f:q is null` to get also the rows that lack
 * the column.
 *
 * Some fields are in qualifiers, in the cells of such qualifiers, or in timestamps. Conditions on
 * these fields select columns, by the newest version of each column. With `any_version`, a row
 * matches if one version of its column matches. For fields in qualifiers and timestamps, each
 * version then passes or fails alone.
 */

struct where;

/*
 * Compile the question. `families` are the families of the query. A column refers to its family by
 * index. The object borrows all arguments. Returns RC_CONFIG, with the place, if the table does not
 * store the data for a condition. Returns RC_LIMIT as key_ranges does.
 */
int where_new(struct where **out, const struct stored *stored, const struct query_family *families,
	      size_t nfamilies, const struct question *q, bool any_version, struct error *err);
void where_free(struct where *w); /* NULL is fine */
/*
 * Set ranges, salt, judge and columns of a query for the question. The ranges are within the
 * query's `start` and `stop`. The scan reads columns that the query does not name only to judge
 * rows.
 */
void where_put(struct where *w, struct query *q);
/*
 * Return a filter for a scan by the query that where_put prepared, or NULL if no filter helps. With
 * the filter, a server drops rows that do not match. All matching rows pass the filter, and other
 * rows may pass too. The filter lives as long as `w`.
 */
const struct filter *where_filter(struct where *w, const struct query *q);
/* The columns that a question on the fields of a computed qualifier selects. */
struct where_columns {
	struct bytes family;
	/*
	 * ranges of qualifiers, in rising order; either all ranges or no range are single columns
	 */
	const struct query_range *spans;
	size_t n;
	bool exact; /* true if the ranges and these columns contain only matching cells */
};
/*
 * Get the columns that the question selects in each row. *out lives as long as `w`. Returns false
 * if the question does not limit the columns to those of one computed qualifier.
 */
bool where_columns(const struct where *w, struct where_columns *out);
/* Return true if the span contains only one qualifier, its start. */
static inline bool where_is_column(const struct query_range *span)
{
	return key_range_is_row(&(struct key_range){span->start, span->stop}) ||
	       (span->start.len == 0 && span->stop.len == 1 && span->stop.ptr[0] == 0);
}
/*
 * Return a sentence that explains to the user how the query tests conditions, or NULL if the user
 * needs no explanation.
 */
const char *where_note(const struct where *w);

/*
 * --- entry_check: test whether an index entry is still valid for its row ---
 *
 * If a later event changes a value, the older index entry stays, because HBase has no transactions
 * over two tables. The check compares the fields in the entry's row key with the row's key, and
 * with columns that the job always writes. The check ignores fields that the row does not store.
 */

struct entry_check {
	const struct stored *index, *rows;
	struct entry_field *fields;
	size_t nfields;
	struct query_column *columns; /* columns of the main table's row that the check reads */
	size_t ncolumns;
	struct key_piece *of_entry, *of_row;
	struct buf bytes;
	struct field_scratch scratch;
	struct arena arena, values;
};

/*
 * Prepare *e, which borrows `index` and `rows`. `families` are the families of the table of `rows`.
 */
void entry_check_open(struct entry_check *e, const struct stored *index, const struct stored *rows,
		      const struct query_family *families, size_t nfamilies);
void entry_check_release(struct entry_check *e);
/*
 * Check an entry against its row. `cells` has the row's cells, including those of e->columns, with
 * the newest version of a column first. Returns false if a field of the row has another value or no
 * value.
 */
bool entry_check_row(struct entry_check *e, struct bytes entry, struct bytes row,
		     const struct cell *cells, size_t ncells);

/*
 * --- agree: compare two tables that the same events feed (pipeline/read/agree) ---
 *
 * The comparison turns the cells of the truth table back into events, and encodes these events for
 * the other table as a load does. It then compares the newest version of each column. An event has
 * the fields that the truth table stores. A cell of the other table that depends on a further field
 * is left out of the comparison, and the result counts it.
 */

enum agree_kind { AGREE_MISSING, AGREE_EXTRA, AGREE_DIFFERENT };
#define AGREE_KINDS (AGREE_DIFFERENT + 1)

/* A column that differs. `expected` is {0} if the cell is extra, and `found` if it is missing. */
struct agree_difference {
	enum agree_kind kind;
	struct cell expected, found;
};

struct agree_options {
	const struct job *job;
	size_t truth, other; /* indexes in job.tables */
	/* the truth table, and the other table; their files have the families of the job's tables */
	struct diff_side side[2];
	int64_t now_ms;	       /* current time, for TTL */
	size_t shown;	       /* most differences of `first` */
	struct budget *budget; /* memory of sorted events */
	const char *temp_dir;  /* folder for sorted events that do not fit */
	/*
	 * Receives each cell that repairs the other table: a Put, a Delete or a DeleteColumn. The
	 * cell is valid during the call. NULL means no repair. Return an error to stop.
	 */
	int (*repair)(void *ctx, const struct cell *c, struct error *err);
	void *ctx;
	bool delete_extra;	   /* also repair extra cells that older events may have written */
	struct progress *progress; /* may be NULL */
	struct listener listener;  /* as in struct live_options */
};

struct agree_result {
	/* events of the truth table; those whose row in the other table depends on lost fields */
	uint64_t events, unplaced;
	char unplaced_why[240]; /* the reason for the first of them */
	/* of the other table: rows and columns, and rows and columns with a difference */
	uint64_t rows, cells, differing_rows;
	uint64_t equal, count[AGREE_KINDS];
	/* cells of the other table that this comparison leaves out */
	uint64_t left_out;
	/* missing cells that a delete marker hides after the repair, until a major compaction */
	uint64_t hidden;
	/* the job's cells of the other table that no event of the truth table can give */
	struct agree_column {
		const char *column; /* such as "info:name" */
		const char *field;  /* the first field that the truth table lacks */
	} * columns;
	size_t ncolumns;
	/* why extra cells can be right, so that a repair keeps them; NULL if they are wrong */
	const char *extra_kept;
	struct agree_difference *first;
	size_t nfirst;
	struct arena arena;
};

/*
 * Compare the tables, in one pass over each. With `repair`, a second pass over the other table reads
 * delete markers, from the first row that lacks a cell or has a wrong one. Memory is the budget, and the cells of one row of each
 * table. Returns RC_CONFIG if the row key of the other table depends on a field that the truth table
 * lacks. Returns RC_DATA if the truth table has a row or value that the job does not write. Release
 * out->arena in any case.
 */
int agree_run(struct agree_result *out, const struct agree_options *o, struct error *err);

#endif
