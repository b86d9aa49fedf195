/*
 * sniff_parts.h - what is known about a file, step by step (inside pipeline/advise/init only)
 *
 *   lines_read      its text, line by line, unpacked and decoded
 *   shape_find      the lines that are rows, and the delimiter of their values
 *   columns_look    the types that all values of a column fit, and how many values differ
 *   job_write       the job, with a key
 */
#ifndef SALTMILL_SNIFF_PARTS_H
#define SALTMILL_SNIFF_PARTS_H

#include <locale.h>

#include "hash.h"
#include "field.h"
#include "mem.h"
#include "sniff.h"

#define SNIFF_BYTES (UINT64_C(64) << 20)

/* lines.c */
struct lines {
	struct buf text;
	struct line {
		size_t at, len;
	} * line; /* blank lines too */
	size_t n;
	bool whole;	      /* read to the end of the file */
	const char *encoding; /* NULL: UTF-8 */
};
int lines_read(struct lines *l, const char *file, struct error *err);
void lines_release(struct lines *l);
static inline struct bytes line_text(const struct lines *l, size_t i)
{
	return bytes_of(l->text.ptr + l->line[i].at, l->line[i].len);
}

/* dialect.c */
struct sniffed_shape {
	uint8_t delimiter, quote;
	bool comments;	   /* lines that begin with # are not rows */
	bool header;	   /* the first row has names */
	bool repeats;	   /* two names are equal, or one is empty */
	bool missing;	   /* some rows have fewer values */
	bool extra;	   /* some rows have more values, all of them empty */
	size_t widest;	   /* values of the longest row, if longer than the first; or 0 */
	size_t first, end; /* lines of the rows, with the header */
	size_t footer;	   /* lines after them that are not blank */
	size_t ncolumns;
	bool one; /* every line is one value */
};

/* The values of a row, borrowed until the next row. */
struct sniffed_row {
	struct bytes *value;
	bool *quoted;
	size_t n, room;
	struct buf text;
};
void row_release(struct sniffed_row *r);
/* Split the row that begins in this line, which is before end. Returns the line after it. */
size_t row_split(const struct sniffed_shape *s, const struct lines *l, size_t line, size_t end,
		 struct sniffed_row *r);
/* Is the line neither blank nor a comment? */
bool line_counts(const struct sniffed_shape *s, const struct lines *l, size_t line);
/* The first such line at or after this one; end: there is none. */
size_t next_row(const struct sniffed_shape *s, const struct lines *l, size_t line);
void shape_find(struct sniffed_shape *s, const struct lines *l);
/* Can the text be the name of a column? It has a letter and is not a number. */
bool is_name(struct bytes t);

/* columns.c: how numbers are written. */
#define SIGN_PAIRS 8
struct signs {
	const char *decimal, *thousands; /* NULL: a point, and no separator */
};
extern const struct signs sign_pairs[SIGN_PAIRS];

/* Forms of time that are tried; NULL after the last. */
extern const char *const time_forms[];
#define TIME_FORMS_MOST 64
/* Texts that may mean "no value", besides "". */
extern const char *const null_words[];
#define NULL_WORDS_MOST 16

struct numbers {
	bool fits, real; /* fits: all values; real: some have a point or an exponent */
	bool exponent, negative;
	uint32_t whole, places; /* most digits */
	uint64_t least, most;	/* of whole numbers >= 0 */
};

struct sniffed {
	const char *name;
	uint64_t values, nulls; /* nulls: "" and missing ones */
	uint64_t words[NULL_WORDS_MOST];
	bool quoted_words, blanks, quoted_blanks;
	struct numbers numbers[SIGN_PAIRS];
	uint64_t times; /* bit i: all values fit time_forms[i] */
	bool flags;	/* all values are true or false */
	int64_t oldest[TIME_FORMS_MOST];
	struct distinct distinct;
	/* decided at the end */
	enum field_type type;
	const char *format, *unit;
	enum field_type own; /* the schema's type, with own_scale; local: a time without a zone */
	uint32_t own_scale;
	bool local;
	const char *note; /* what is uncertain */
	uint32_t scale;
	bool has_nulls;
	int64_t oldest_ms;
};

struct columns {
	struct sniffed *column;
	size_t n;
	uint64_t rows;
	size_t signs; /* index of the pair of signs that types the most columns */
	bool signs_doubtful;
	bool json;	    /* values have paths, also those of a schema */
	const char *schema; /* "avro" or "arrow": types come from the schema; NULL: no schema */
	size_t left_out;    /* values of the schema that are left out */
	bool words[NULL_WORDS_MOST], quoted_words, blanks, quoted_blanks;
	struct field_form *times; /* by time_forms */
	struct field_form flag, number[SIGN_PAIRS];
	struct field *fields;
	struct job *jobs;
	struct field_scratch scratch;
	locale_t c_locale;
	struct arena arena;
};
int columns_open(struct columns *c, struct error *err);
void columns_close(struct columns *c);
/* Add a column, or return the one with that name. */
struct sniffed *columns_add(struct columns *c, struct bytes name);
void column_see(struct columns *c, struct sniffed *s, struct bytes text, bool quoted);
/* After all values: decide types, nulls and signs. */
void columns_decide(struct columns *c);

/* json_rows.c: returns whether the lines are JSON objects; then adds all of them to the columns. */
bool json_look(struct columns *c, const struct lines *l);

/*
 * schema_rows.c: returns whether file is Avro or Arrow. Then all values are in the columns. Call
 * schema_decide after columns_decide to set their types.
 */
bool schema_known(const char *file);
int schema_look(struct columns *c, const char *file, bool *whole, struct error *err);
void schema_decide(struct columns *c);

/* key.c: indexes of the key's columns; SIZE_MAX: none. */
struct sniffed_key {
	size_t entity, time, unique;
	bool hash; /* the key also needs a hash of all columns without nulls */
};
void key_choose(struct sniffed_key *k, const struct columns *c, const struct sniffed_shape *s,
		const struct lines *l);

/* logs.c: write the job of a log whose lines are not rows. false: the log is unknown. */
bool log_write(const struct lines *l, const char *file, const char *name, struct buf *out);

/* write.c */
void job_write(const struct columns *c, const struct sniffed_shape *s, const struct lines *l,
	       const struct sniffed_key *k, const char *name, struct buf *out);
/* Write text as a YAML scalar: plain if that is safe. */
void put_yaml(struct buf *out, struct bytes text);

#endif
