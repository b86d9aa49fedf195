/*
 * compiled.h - a job compiled for one set of source columns (inside pipeline/load/row only)
 *
 * binding   one used field: its columns, null spellings, time format
 * cell_step one cell, in the order in which row_cells gives them
 *
 * Bindings that are used whatever the conditions of a job say come first; they are read together.
 * The others are read when they are asked for (chosen.c): of an event that a table or cell does not
 * take nothing is judged that only they use.
 *
 * Everything that can be decided without an event is decided here, so that encoding a row is a
 * walk over flat arrays.
 */
#ifndef SALTMILL_COMPILED_H
#define SALTMILL_COMPILED_H

#include "field.h"
#include "key.h"
#include "row.h"

#include <locale.h>

/* What refuses a null; the strictest use wins. */
enum need { NEED_NOTHING, NEED_CELL, NEED_TIMESTAMP, NEED_KEY };
struct demand {
	enum need need;
	const char *table; /* whose; NULL: nobody's */
};

/* Texts that need no more than one look: digits up to quick_max, ASCII.  Others are SLOW. */
enum quick { QUICK_SLOW, QUICK_NUMBER, QUICK_TEXT };

struct binding {
	enum quick quick;
	uint32_t null_max; /* a longer unquoted text is no null spelling */
	size_t column;	   /* columns[0] */
	uint64_t quick_max;
	uint64_t quick_scale; /* what a number is multiplied by */
	size_t ncolumns;
	struct field_form form;
	size_t *columns;    /* in the event */
	bool computed;	    /* not one column's text as it is */
	struct bytes *glue; /* around and between the columns */
	struct bytes *nulls;
	size_t nnulls;
	uint64_t null_lengths; /* bit n: some null spelling has n bytes; bit 63: 63 or more */
	bool quoted_nulls;
	struct bytes fallback; /* for a null, with room behind it; ptr NULL: none */
	struct demand demand;
};

/* Numbers of bindings, or of steps. */
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
	bool constant;	      /* the value, which no record holds */
	bool plain;	      /* text of a field behind a constant qualifier: most cells */
	struct bytes value;   /* constant; ptr NULL: of a field */
	struct layout layout; /* of the value */
	bool optional;
	bool refers;		      /* to the row of another table, which may not be there */
	bool key_value;		      /* then: its key is the value */
	struct slots qualifier_slots; /* of a computed qualifier, for the null test */
	const struct predicate *when; /* NULL: always */
	struct slots covers;	      /* of a Put: the steps of markers that hide it (chosen.c) */
	size_t weight; /* KeyValue bytes without row key and what the record stores */
};

/* What row_cells needs of a step with a constant qualifier. */
struct cell_frame {
	uint32_t family, column;
	struct bytes family_name, qualifier;
	struct bytes value; /* ptr NULL: in the record */
};

/* A cell that is laid down without a look at its kind: short text, or a number. */
struct quick_cell {
	bool text;
	uint32_t width; /* of the number */
	size_t column;	/* of the text, in the event */
	size_t slot;
	uint64_t bias, span, flip;
};

/* A column of whole numbers, and one of texts. */
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
	bool chosen;		      /* conditions or markers say what of an event it gets */
	bool markers;		      /* it has some */
	struct slots key_slots;	      /* then: of the key */
	enum ts_source ts;
	int64_t ts_constant;
	size_t ts_slot;
	const struct field *ts_spec;
	size_t ts_offset; /* TS_KEY: in the key */
	uint64_t ts_flip; /* TS_KEY */
	struct cell_step *cells;
	struct cell_frame *frames; /* of the cells, with constant_columns */
	size_t ncells;
	bool constant_columns;
	struct usual_weight usual;	/* of a record without absent cells and long slices */
	struct quick_cell *quick_cells; /* without the constant ones */
	size_t nquick_cells;
	size_t quick_bytes;  /* of a payload, without the texts */
	size_t quick_copies; /* of one text in it, at most */
};

struct row_plan {
	const struct job *job;
	struct binding *bindings;
	size_t nbindings, nalways; /* the first ones are always used */
	bool chosen;		   /* the job has a condition */
	const struct predicate *where;
	size_t *slots;	 /* by index in job.fields: its binding */
	size_t ncolumns; /* an event has at least so many */
	struct table_plan *tables;
	size_t ntables;
	struct key_maker maker;
	locale_t c_locale; /* for strtod_l */
	locale_t letters;  /* of transforms; (locale_t)0: none changes letters */
	bool quick;	   /* all of it can go through quick.c: */
	uint8_t *uses;	   /* by column */
	struct quick_number *quick_numbers;
	struct quick_text *quick_texts;
	size_t nquick_numbers, nquick_texts;
	struct arena arena;
};

struct row_encoder;
typedef int decode_values(struct row_encoder *e, const struct event *ev, struct reject *why);
/*
 * A column's numbers, scaled, into u, which has EVENT_BATCH; false: some may be no number of 1..16
 * digits, or too large.
 */
typedef bool take_numbers(const struct quick_number *q, const struct event_rows *rows, uint64_t *u);

struct row_encoder {
	const struct row_plan *plan;
	decode_values *decode_roomy;
	int64_t newest_ms; /* of the records so far */
	bool *known;	   /* by binding: its value is of this event */
	bool *marked;	   /* by step of the table: a marker that this event has */
	/* quick.c */
	take_numbers *take_numbers;
	uint64_t *numbers; /* by binding, EVENT_BATCH each */
	unsigned wait, pause;
	struct key_scratch keys;
	struct value *values; /* by binding */
	struct bytes *rows;   /* by table: its row key of this event; len 0: it has none */
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

/* values.c: all used fields of an event into e->values */
decode_values values_decode;
/* One field into e->values; a null is refused if the demand says so, not the binding's own. */
int value_decode(struct row_encoder *e, const struct binding *b, struct demand d,
		 const struct event *ev, struct reject *why);
/* Every default is a value of its field: RC_CONFIG names one that is not. */
int defaults_check(const struct row_plan *p, struct error *err);
/* The best one for events with room behind their texts. */
decode_values *choose_decode(void);

/* pack.c */
int table_encode_key(struct row_encoder *e, size_t table, struct reject *why);
int cell_encode(struct row_encoder *e, const struct table_plan *t, const struct cell_step *s,
		struct buf *out, bool *any, struct reject *why);

/* chosen.c: row_encode of a job with conditions, with what pack.c does for each table. */
int chosen_start(struct row_encoder *e, const struct event *ev, bool *taken, struct reject *why);
/* *any: a cell is there; key and payload are in e->out then. */
int chosen_table(struct row_encoder *e, size_t table, const struct event *ev, bool *any,
		 struct reject *why);

/* quick.c */
/* ncolumns: of the source. */
void quick_compile(struct row_plan *p, size_t ncolumns);
void quick_start(struct row_encoder *e);

/* quick_numbers.c */
#define QUICK_WAYS 3
/* All ways that this CPU can go, the best last: the one that is taken. */
size_t quick_ways(take_numbers *ways[QUICK_WAYS]);

#endif
