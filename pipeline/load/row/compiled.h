/*
 * compiled.h - a job compiled for one set of source columns (private to this folder)
 *
 *   binding    one used field: its columns, null spellings, time format
 *   cell_step  one cell, in the order in which row_cells returns them
 *
 * Bindings that every event needs come first, and row_encode decodes them together. conditional.c
 * decodes the other bindings on demand. If an event has no row in a table, or no such cell, nothing
 * checks the values for that row or cell.
 *
 * The compiler decides everything that does not depend on an event. The encoder of a row then reads
 * only flat arrays.
 */
#ifndef SALTMILL_COMPILED_H
#define SALTMILL_COMPILED_H

#include "field.h"
#include "key.h"
#include "row.h"

#include <locale.h>

/* The strictest use of a field, which decides the reason for a null. */
enum need { NEED_NOTHING, NEED_CELL, NEED_TIMESTAMP, NEED_KEY };
struct demand {
	enum need need;
	const char *table; /* the table that needs the value, NULL if none */
};

/*
 * Texts that quick.c can check at once. QUICK_NUMBER is digits up to quick_max, QUICK_TEXT is
 * ASCII, and QUICK_SLOW is any other text.
 */
enum quick { QUICK_SLOW, QUICK_NUMBER, QUICK_TEXT };

struct binding {
	enum quick quick;
	uint32_t null_max; /* length of the longest null spelling without quotes */
	size_t column;	   /* equals columns[0] */
	uint64_t quick_max;
	uint64_t quick_scale; /* factor for the number */
	size_t ncolumns;
	struct field_form form;
	size_t *columns; /* indexes of the event's columns */
	/* the origin of each column, and its name; `columns` has no index if it is not in the event */
	enum origin *origins;
	const char *const *names;
	/* the value comes from several texts or from a transform, not from one column */
	bool computed;
	struct bytes *glue; /* texts around and between the columns */
	struct bytes *nulls;
	size_t nnulls;
	/* bit n is 1 if a null spelling has n bytes, bit 63 for 63 or more */
	uint64_t null_lengths;
	bool quoted_nulls;
	/*
	 * the value that replaces a null, followed by spare bytes; `ptr` is NULL if there is no
	 * such value
	 */
	struct bytes fallback;
	struct demand demand;
};

/* Indexes of bindings or of steps. */
struct slots {
	size_t *of;
	size_t n;
};

struct cell_step {
	uint32_t family, column;
	uint8_t type; /* enum cell_type */
	struct bytes family_name;
	struct bytes qualifier;	 /* constant */
	struct key_schema parts; /* computed */
	bool computed;
	bool constant;	      /* the value is constant, and records do not contain it */
	bool plain;	      /* text of a field with a constant qualifier, as in most cells */
	struct bytes value;   /* constant value; `ptr` is NULL if the value comes from a field */
	struct layout layout; /* layout of the value */
	bool optional;
	/* the cell refers to a row of another table, which may be absent */
	bool refers;
	bool key_value;		      /* if `refers` is true, the value is the key of that row */
	struct slots qualifier_slots; /* the computed qualifier's bindings, for the null test */
	const struct predicate *when; /* NULL if the cell has no condition */
	struct slots covers; /* for a Put, the markers that delete the Put (conditional.c) */
	struct bytes tags;   /* constant tags */
	/* the record has `tags` and the TTL of `ttl_slot`, or neither; 0 means constant tags */
	int64_t ttl_unit_ms;
	size_t ttl_slot;
	/* KeyValue bytes without the row key and without the bytes that the record stores */
	size_t weight;
};

/* The parts of a step with a constant qualifier that row_cells needs. */
struct cell_frame {
	uint32_t family, column;
	struct bytes family_name, qualifier;
	struct bytes value; /* `ptr` is NULL if the record has the value */
};

/* A cell of a short text or a number, which quick.c writes without a branch on its kind. */
struct quick_cell {
	bool text;
	uint32_t width; /* bytes of the number */
	size_t column;	/* index of the text in the event */
	size_t slot;
	uint64_t bias, span, flip;
};

/* A column of whole numbers, and a column of texts. */
struct quick_number {
	size_t column, slot;
	uint64_t max, scale;
};
struct quick_text {
	size_t column;
	uint64_t null_lengths;
	const struct binding *binding;
};

enum ts_source { TS_CONSTANT, TS_KEY, TS_MINOR };

struct table_plan {
	const struct job_table *table;
	struct key_schema key;
	const struct predicate *when; /* NULL if the table takes every event */
	bool conditional;	      /* conditions or markers choose the cells of an event */
	bool markers;		      /* the table has delete markers */
	struct slots key_slots;	      /* bindings of the key, only if `conditional` */
	enum ts_source ts;
	int64_t ts_constant;
	size_t ts_slot;
	const struct field *ts_spec;
	size_t ts_offset; /* offset in the key, only for TS_KEY */
	uint64_t ts_flip; /* only for TS_KEY */
	struct cell_step *cells;
	struct cell_frame *frames; /* the frames of the cells, if constant_columns */
	size_t ncells;
	bool constant_columns; /* no qualifier is computed, and no cell has tags */
	bool constant_values;  /* a cell has the same value in all rows */
	/* weight of a record without absent cells and without long slices */
	struct usual_weight usual;
	struct quick_cell *quick_cells; /* the cells that are not constant */
	size_t nquick_cells;
	size_t quick_bytes;  /* bytes of a payload without its texts */
	size_t quick_copies; /* largest number of copies of one text in a payload */
};

struct row_plan {
	const struct job *job;
	struct binding *bindings;
	size_t nbindings, nalways; /* every event uses the first `nalways` */
	bool conditional;	   /* the job has a condition */
	const struct predicate *where;
	const struct predicate **expects; /* by expectation of the job; NULL for a pattern */
	size_t *slots;			  /* binding of each field, by index in job.fields */
	size_t ncolumns;		  /* smallest number of columns of an event */
	struct table_plan *tables;
	size_t ntables;
	struct key_maker maker;
	locale_t c_locale; /* for strtod_l */
	locale_t letters;  /* for transforms; (locale_t)0 if none changes letters */
	bool quick;	   /* true if quick.c can encode the job's rows */
	uint8_t *uses;	   /* enum column_use, by column */
	struct quick_number *quick_numbers;
	struct quick_text *quick_texts;
	size_t nquick_numbers, nquick_texts;
	struct arena arena;
};

struct row_encoder;
typedef int decode_values(struct row_encoder *e, const struct event *ev, struct reject *why);
/*
 * Convert and scale a column into `u`, which has EVENT_BATCH numbers. Return false if a text may
 * not be a number of 1 to 16 digits, or if the number is too large.
 */
typedef bool take_numbers(const struct quick_number *q, const struct event_rows *rows, uint64_t *u);

struct row_encoder {
	const struct row_plan *plan;
	decode_values *decode_roomy;
	int64_t newest_ms; /* newest timestamp of all records so far */
	struct finer_times finer;
	uint64_t finer_now, finer_field; /* such times of this event, and the field of the first */
	bool *known;			 /* by binding, true if the value belongs to this event */
	bool *marked; /* by step of the table, true if the event has this marker */
	/* quick.c */
	take_numbers *take_numbers;
	uint64_t *numbers; /* by binding, EVENT_BATCH each */
	unsigned wait, pause;
	struct key_scratch keys;
	struct value *values; /* by binding */
	struct bytes *rows;   /* by table, this event's row key, empty if the event has no row */
	struct binding_scratch {
		struct buf joined, origin;
		struct transform_scratch transform;
		struct field_scratch read;
		const char *file; /* file name for read.file_day */
	} * scratch;		  /* by binding */
	struct buf qualifier;
	struct unique_set
		*unique;       /* by expectation (unique_values.c); NULL before the first value */
	struct budget *budget; /* memory of the sets; NULL means no limit */
	struct pattern_scratch match; /* memory for matching, shared by all patterns of an event */
	struct table_output {
		struct buf key, payload;
		uint8_t secondary[8];
	} * out; /* by table */
};

/* compile.c */
int table_compile(struct row_plan *p, struct table_plan *t, const struct job_table *table,
		  const struct field_forms *forms, struct error *err);

/* bind.c */
int fields_bind(struct row_plan *p, const struct job *job, const char *const *columns,
		size_t ncolumns, struct error *err);

/* Decode all used fields of an event into `e->values` (values.c). */
decode_values values_decode;
/*
 * Decode one field into `e->values`. The demand, not the binding, decides whether a null is an
 * error.
 */
int value_decode(struct row_encoder *e, const struct binding *b, struct demand d,
		 const struct event *ev, struct reject *why);
/* Return RC_CONFIG if a default is not a value of its field. */
int defaults_check(const struct row_plan *p, struct error *err);
/* Return the fastest function for events with spare bytes after their texts. */
decode_values *choose_decode(void);

/* pack.c */
int table_encode_key(struct row_encoder *e, size_t table, struct reject *why);
int cell_encode(struct row_encoder *e, const struct table_plan *t, const struct cell_step *s,
		struct buf *out, bool *any, struct reject *why);

/*
 * The two parts of row_encode for jobs with conditions (conditional.c) are the start of an event
 * and the step for one table.
 */
int conditional_start(struct row_encoder *e, const struct event *ev, bool *taken,
		      struct reject *why);
/*
 * Set `*any` to true if the row has a cell. In this case, `e->out` has the key and payload of the
 * row.
 */
int conditional_table(struct row_encoder *e, size_t table, const struct event *ev, bool *any,
		      struct reject *why);

/*
 * unique_values.c. Add the value to the set of the expectation. Return RC_DATA if an earlier event has the
 * value, and RC_LIMIT, with the sentence in why->detail, if there is no memory for it.
 */
int note_unique(struct row_encoder *e, size_t expectation, const struct value *v,
		struct reject *why);
void unique_release(struct row_encoder *e);

/* quick.c */
/* Compile the fast path. `ncolumns` is the number of columns of the source. */
void quick_compile(struct row_plan *p, size_t ncolumns);
void quick_start(struct row_encoder *e);

/* quick_numbers.c */
#define QUICK_WAYS 3
/* List the functions that this CPU supports, the fastest last. Return their number. */
size_t quick_ways(take_numbers *ways[QUICK_WAYS]);

#endif
