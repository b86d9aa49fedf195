/*
 * compiled.h - a job compiled for one set of source columns (inside pipeline/row only)
 *
 * binding   one used field: its columns, null spellings, time format
 * op        how one decoded value is laid down in a key, a qualifier or a value
 * parts     the ops of a row key or a computed qualifier, and the salts and hashes over them
 * cell_step one cell, in the order in which row_cells gives them
 *
 * Everything that can be decided without an event is decided here, so that encoding a row is a
 * walk over flat arrays.
 */
#ifndef SALTMILL_COMPILED_H
#define SALTMILL_COMPILED_H

#include "row.h"
#include "timefmt.h"

#include <locale.h>

/*
 * A decoded value; which member of the union counts follows from the field's type.  32 bytes, so
 * that its address is a shift away from its number.
 */
struct value {
	struct bytes text; /* as it came; joined columns: the joined text; ptr NULL: null */
	union {
		uint64_t u; /* integers (two's complement), time in ms, bool as FF or 00 */
		double f;
		struct bytes bytes; /* FIELD_HEX: decoded */
	};
};

/* What refuses a null; the strictest use wins. */
enum need { NEED_NOTHING, NEED_CELL, NEED_TIMESTAMP, NEED_KEY };

/* Texts that need no more than one look: digits up to quick_max, ASCII.  Others are SLOW. */
enum quick { QUICK_SLOW, QUICK_NUMBER, QUICK_TEXT };

struct binding {
	enum quick quick;
	uint32_t null_max; /* a longer unquoted text is no null spelling */
	size_t column;	   /* columns[0] */
	uint64_t quick_max;
	uint64_t quick_scale; /* what a number is multiplied by */
	size_t ncolumns;
	const struct field *field;
	size_t *columns; /* in the event */
	struct bytes join;
	struct bytes *nulls;
	size_t nnulls;
	uint64_t null_lengths; /* bit n: some null spelling has n bytes; bit 63: 63 or more */
	bool quoted_nulls;
	enum need need;
	const char *needed_by; /* table name */
	struct time_format *format;
};

enum op_kind { OP_NUMBER, OP_F64, OP_F32, OP_TEXT, OP_BYTES, OP_REVERSED, OP_CONST, OP_DERIVED };

/*
 * OP_NUMBER: value u is in range if u - bias <= span (unsigned), and is stored as the low width
 * bytes of u ^ flip, big-endian.  One form serves all integers, bool, millis (flip 0) and
 * reversed millis (flip Long.MAX_VALUE, as MAX - ms == MAX ^ ms for ms >= 0).
 */
struct op {
	enum op_kind kind;
	uint32_t width; /* bytes laid down; 0: as long as the value */
	size_t slot;	/* of the value: index of the field's binding */
	uint64_t bias, span, flip;
	size_t at;    /* in the key, if all parts before it have fixed widths */
	bool ordered; /* OP_F64, OP_F32: bits changed so that memcmp order is numeric order */
	enum field_type from;
	enum encode_as as;
	int terminator;
	uint8_t pad;
	bool pad_left;
	struct bytes constant;
	const struct field *spec; /* for messages */
};

/* Where a part stands in the bytes being built. */
struct span {
	size_t at, len;
};

/* A salt or hash part: computed when all other parts stand. */
struct derived {
	const struct key_part *part;
	size_t at; /* its op */
	uint32_t width;
	struct hash_input {
		bool in_parts; /* the bytes of op number `part`, else `natural` of the value */
		size_t part;
		struct op natural;
	} * of;
	size_t nof;	   /* 0: all bytes behind this part */
	bool byte_of_part; /* the usual salt: one byte, murmur3 over one part */
	uint64_t keep; /* then, if the part has 1..8 bytes: which bits of a word it is, else 0 */
	size_t of_at, of_bytes, to; /* then: where the part stands, and where the salt goes */
	size_t number;		    /* of its struct salted */
};

struct parts {
	struct op *ops;
	size_t nops;
	struct derived *derived; /* in the order of their parts */
	size_t nderived;
	size_t fixed;	    /* bytes of all parts whose length is known, and terminators */
	bool simple;	    /* nothing but numbers and derived parts: spans never change */
	struct span *spans; /* then */
	struct number {	    /* then: OP_NUMBER in few words */
		uint64_t bias, span, flip;
		uint32_t slot;
		uint16_t at;
		uint16_t shift;
	} * numbers;
	size_t nnumbers;
	bool one_salt; /* then: one derived part, with keep */
};

struct cell_step {
	size_t family, column;
	struct bytes qualifier; /* constant */
	struct parts parts;	/* computed */
	bool computed;
	bool constant;
	bool plain;	    /* text of a field behind a constant qualifier: most cells */
	struct bytes value; /* constant */
	struct op op;
	bool optional;
	size_t *qualifier_slots; /* of a computed qualifier, for the null test */
	size_t nqualifier_slots;
	size_t weight; /* KeyValue bytes without row key and what the record stores */
};

/* What row_cells needs of a step with a constant qualifier. */
struct cell_frame {
	size_t family, column;
	struct bytes qualifier;
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
	struct parts key;
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
	size_t nbindings;
	size_t *slots;	 /* by index in job.fields: its binding */
	size_t ncolumns; /* an event has at least so many */
	struct table_plan *tables;
	size_t ntables;
	size_t max_ops;
	size_t nsalts;
	locale_t c_locale; /* for strtod_l */
	bool quick;	   /* all of it can go through quick.c: */
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

/* The input and the result of a salt, kept: the next row has often the same. */
struct salted {
	uint64_t input;
	uint8_t salt;
	bool known;
};

struct row_encoder {
	const struct row_plan *plan;
	decode_values *decode_roomy;
	int64_t newest_ms; /* of the records so far */
	/* quick.c */
	take_numbers *take_numbers;
	uint64_t *numbers; /* by binding, EVENT_BATCH each */
	unsigned wait, pause;
	struct salted *salted; /* [nsalts] */
	struct value *values;  /* by binding */
	struct field_scratch {
		struct buf joined, hex;
	} * scratch;	    /* by binding */
	struct span *spans; /* by op of the parts being built */
	struct buf hash_input, qualifier, number;
	struct table_output {
		struct buf key, payload;
		uint8_t secondary[8];
	} * out; /* by table */
};

/* compile.c */
int op_compile(struct op *op, const struct row_plan *p, size_t field, enum encode_as as,
	       bool ordered, struct pos pos, struct error *err);
int parts_compile(struct row_plan *p, struct parts *out, const struct key_part *part, size_t n,
		  struct error *err);
int table_compile(struct row_plan *p, struct table_plan *t, const struct job_table *table,
		  struct error *err);

/* bind.c */
int fields_bind(struct row_plan *p, const struct job *job, const char *const *columns,
		size_t ncolumns, struct error *err);

/* values.c: all used fields of an event into e->values */
decode_values values_decode;
/* The best one for events with room behind their texts. */
decode_values *choose_decode(void);

/* quick.c */
void quick_compile(struct row_plan *p);
void quick_start(struct row_encoder *e);
#define QUICK_WAYS 3
/* All ways that this CPU can go, the best last: the one that is taken. */
size_t quick_ways(take_numbers *ways[QUICK_WAYS]);

/* key.c */
int parts_build(struct row_encoder *e, const struct parts *parts, struct buf *out,
		struct reject *why);
/* Lay down one value behind out's content. */
int op_put(const struct op *op, const struct value *v, struct buf *out, struct reject *why);

static inline uint8_t *buf_room(struct buf *b, size_t extra)
{
	return b->cap - b->len >= extra ? b->ptr + b->len : buf_reserve(b, extra);
}

#endif
