/*
 * compiled.h - a job compiled for one set of source columns (inside pipeline/load/row only)
 *
 *   binding    one used field: its columns, null spellings, time format
 *   cell_step  one cell, in the order in which row_cells returns them
 *
 * Bindings that every event needs come first and are decoded together. The others are decoded on
 * demand (chosen.c): if an event has no part in a table or cell, its values for it are not judged.
 *
 * Everything that does not depend on an event is decided here. Encoding a row is then a walk over
 * flat arrays.
 */
#ifndef SALTMILL_COMPILED_H
#define SALTMILL_COMPILED_H

#include "field.h"
#include "key.h"
#include "row.h"

#include <locale.h>

/* Which use rejects a null; the strictest use wins. */
enum need { NEED_NOTHING, NEED_CELL, NEED_TIMESTAMP, NEED_KEY };
struct demand {
	enum need need;
	const char *table; /* the table that needs the value; NULL: none */
};

/* Texts that quick.c can judge at one look: digits up to quick_max, or ASCII. SLOW: all others. */
enum quick { QUICK_SLOW, QUICK_NUMBER, QUICK_TEXT };

struct binding {
	enum quick quick;
	uint32_t null_max; /* a longer unquoted text is no null spelling */
	size_t column;	   /* columns[0] */
	uint64_t quick_max;
	uint64_t quick_scale; /* factor for the number */
	size_t ncolumns;
	struct field_form form;
	size_t *columns;    /* indexes in the event */
	bool computed;	    /* joined or transformed, not the text of one column */
	struct bytes *glue; /* texts around and between the columns */
	struct bytes *nulls;
	size_t nnulls;
	uint64_t null_lengths; /* bit n: a null spelling has n bytes; bit 63: 63 or more */
	bool quoted_nulls;
	struct bytes fallback; /* replaces a null, with room after it; ptr NULL: none */
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
	bool constant;	      /* the value is constant and in no record */
	bool plain;	      /* text of a field with a constant qualifier: most cells */
	struct bytes value;   /* constant; ptr NULL: from a field */
	struct layout layout; /* of the value */
	bool optional;
	bool refers;		      /* to the row of another table, which may be absent */
	bool key_value;		      /* if refers: its key is the value */
	struct slots qualifier_slots; /* the computed qualifier's bindings, for the null test */
	const struct predicate *when; /* NULL: always */
	struct slots covers;	      /* of a Put: the steps of markers that hide it (chosen.c) */
	size_t weight; /* KeyValue bytes without the row key and without what the record stores */
};

/* What row_cells needs of a step with a constant qualifier. */
struct cell_frame {
	uint32_t family, column;
	struct bytes family_name, qualifier;
	struct bytes value; /* ptr NULL: in the record */
};

/* A cell that quick.c writes without a branch on its kind: a short text or a number. */
struct quick_cell {
	bool text;
	uint32_t width; /* of the number */
	size_t column;	/* of the text, in the event */
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
	const struct predicate *when; /* NULL: every event */
	bool chosen;		      /* conditions or markers choose the cells of an event */
	bool markers;		      /* the table has delete markers */
	struct slots key_slots;	      /* if chosen: bindings of the key */
	enum ts_source ts;
	int64_t ts_constant;
	size_t ts_slot;
	const struct field *ts_spec;
	size_t ts_offset; /* TS_KEY: offset in the key */
	uint64_t ts_flip; /* TS_KEY */
	struct cell_step *cells;
	struct cell_frame *frames; /* of the cells, with constant_columns */
	size_t ncells;
	bool constant_columns;
	/* weight of a record without absent cells and without long slices */
	struct usual_weight usual;
	struct quick_cell *quick_cells; /* without constant cells */
	size_t nquick_cells;
	size_t quick_bytes;  /* bytes of a payload without its texts */
	size_t quick_copies; /* the most copies of one text in a payload */
};

struct row_plan {
	const struct job *job;
	struct binding *bindings;
	size_t nbindings, nalways; /* the first nalways are used by every event */
	bool chosen;		   /* the job has a condition */
	const struct predicate *where;
	size_t *slots;	 /* binding of a field, by index in job.fields */
	size_t ncolumns; /* the fewest columns of an event */
	struct table_plan *tables;
	size_t ntables;
	struct key_maker maker;
	locale_t c_locale; /* for strtod_l */
	locale_t letters;  /* for transforms; (locale_t)0: none changes letters */
	bool quick;	   /* quick.c can encode the job's rows: */
	uint8_t *uses;	   /* enum column_use, by column */
	struct quick_number *quick_numbers;
	struct quick_text *quick_texts;
	size_t nquick_numbers, nquick_texts;
	struct arena arena;
};

struct row_encoder;
typedef int decode_values(struct row_encoder *e, const struct event *ev, struct reject *why);
/*
 * Convert and scale a column into u[EVENT_BATCH]. false: a text may not be a number of 1..16
 * digits, or is too large.
 */
typedef bool take_numbers(const struct quick_number *q, const struct event_rows *rows, uint64_t *u);

struct row_encoder {
	const struct row_plan *plan;
	decode_values *decode_roomy;
	int64_t newest_ms; /* of all records so far */
	bool *known;	   /* by binding: the value belongs to this event */
	bool *marked;	   /* by step of the table: the event has this marker */
	/* quick.c */
	take_numbers *take_numbers;
	uint64_t *numbers; /* by binding, EVENT_BATCH each */
	unsigned wait, pause;
	struct key_scratch keys;
	struct value *values; /* by binding */
	struct bytes *rows;   /* by table: this event's row key; len 0: none */
	struct binding_scratch {
		struct buf joined;
		struct transform_scratch transform;
		struct field_scratch read;
		const char *file; /* of read.file_day */
	} * scratch;		  /* by binding */
	struct buf qualifier;
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

/* values.c: decode all used fields of an event into e->values */
decode_values values_decode;
/*
 * Decode one field into e->values. The demand decides whether a null is refused, not the binding.
 */
int value_decode(struct row_encoder *e, const struct binding *b, struct demand d,
		 const struct event *ev, struct reject *why);
/* RC_CONFIG: a default is not a value of its field; err names it. */
int defaults_check(const struct row_plan *p, struct error *err);
/* Return the fastest function for events with room after their texts. */
decode_values *choose_decode(void);

/* pack.c */
int table_encode_key(struct row_encoder *e, size_t table, struct reject *why);
int cell_encode(struct row_encoder *e, const struct table_plan *t, const struct cell_step *s,
		struct buf *out, bool *any, struct reject *why);

/* chosen.c: row_encode for jobs with conditions, and the step for each table. */
int chosen_start(struct row_encoder *e, const struct event *ev, bool *taken, struct reject *why);
/* *any: the row has a cell; e->out then holds its key and payload. */
int chosen_table(struct row_encoder *e, size_t table, const struct event *ev, bool *any,
		 struct reject *why);

/* quick.c */
/* ncolumns: columns of the source. */
void quick_compile(struct row_plan *p, size_t ncolumns);
void quick_start(struct row_encoder *e);

/* quick_numbers.c */
#define QUICK_WAYS 3
/* List the functions that this CPU supports, the fastest last. Returns their number. */
size_t quick_ways(take_numbers *ways[QUICK_WAYS]);

#endif
