/*
 * sniff_parts.h - what is known of a file, step by step (inside pipeline/advise/init only)
 *
 *   lines_read      its text, line by line, whatever it is packed and encoded in
 *   shape_find      which lines are rows, and what is between the values
 *   columns_look    what all values of a column can be read as, and how many differ
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
	} * line; /* blank ones too */
	size_t n, room;
	bool whole;	      /* to the end of the file */
	const char *encoding; /* NULL: UTF-8 */
};
int lines_read(struct lines *l, const char *file, struct error *err);
void lines_release(struct lines *l);
static inline struct bytes line_text(const struct lines *l, size_t i)
{
	return bytes_of(l->text.ptr + l->line[i].at, l->line[i].len);
}

/* dialect.c */
struct shape {
	uint8_t delimiter, quote;
	bool comments;	   /* lines that begin with # are no rows */
	bool header;	   /* the first row has names */
	bool repeats;	   /* two names are the same, or one is empty */
	bool missing;	   /* rows with fewer values */
	bool extra;	   /* rows with more, all of them empty */
	size_t widest;	   /* values of the longest row, if it is longer than the first; or 0 */
	size_t first, end; /* lines of the rows, header included */
	size_t footer;	   /* lines behind them that are not blank */
	size_t ncolumns;
	bool one; /* every line is one value */
};

/* A row's values: borrowed until the next. */
struct row {
	struct bytes *value;
	bool *quoted;
	size_t n, room;
	struct buf text;
};
void row_release(struct row *r);
/* The row that begins in this line, which is before end; returns the line behind it. */
size_t row_split(const struct shape *s, const struct lines *l, size_t line, size_t end,
		 struct row *r);
/* Neither blank nor a comment. */
bool line_counts(const struct shape *s, const struct lines *l, size_t line);
/* The first line that is one and not before this one; end: there is none. */
size_t next_row(const struct shape *s, const struct lines *l, size_t line);
void shape_find(struct shape *s, const struct lines *l);
/* A text that may be a column's name: it has a letter and is no number. */
bool is_name(struct bytes t);

/* columns.c: how numbers are written. */
#define SIGN_PAIRS 8
struct signs {
	const char *decimal, *thousands; /* NULL: a point, none */
};
extern const struct signs sign_pairs[SIGN_PAIRS];

/* Forms of time, in which each is tried; NULL behind the last. */
extern const char *const time_forms[];
#define TIME_FORMS_MOST 64
/* Texts that may mean that there is no value, apart from "". */
extern const char *const null_words[];
#define NULL_WORDS_MOST 16

struct numbers {
	bool fits, real; /* of all values; some have a point or an exponent */
	bool exponent, negative;
	uint32_t whole, places; /* digits, at most */
	uint64_t least, most;	/* of whole numbers that are not negative */
};

struct sniffed {
	const char *name;
	uint64_t values, nulls; /* nulls: "" and absent ones */
	uint64_t words[NULL_WORDS_MOST];
	bool quoted_words, blanks, quoted_blanks;
	struct numbers numbers[SIGN_PAIRS];
	uint64_t times; /* bit i: all are of time_forms[i] */
	bool flags;	/* true and false */
	int64_t oldest[TIME_FORMS_MOST];
	struct distinct distinct;
	/* decided at the end */
	enum field_type type;
	const char *format, *unit;
	enum field_type own; /* by the schema, with own_scale; local: a time without a zone */
	uint32_t own_scale;
	bool local;
	const char *note; /* what could not be told */
	uint32_t scale;
	bool has_nulls;
	int64_t oldest_ms;
};

struct columns {
	struct sniffed *column;
	size_t n, room;
	uint64_t rows;
	size_t signs; /* index of the pair that types the most */
	bool signs_doubtful;
	bool json;	    /* values have paths, also those of a schema: */
	const char *schema; /* "avro" or "arrow": types are its own; NULL: there is none */
	size_t left_out;    /* of its values */
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
/* A new column, or the one of that name. */
struct sniffed *columns_add(struct columns *c, struct bytes name);
void column_see(struct columns *c, struct sniffed *s, struct bytes text, bool quoted);
/* Types, nulls and signs, after all values were seen. */
void columns_decide(struct columns *c);

/* json_rows.c: whether the lines are JSON objects; then all of them are in the columns. */
bool json_look(struct columns *c, const struct lines *l);

/*
 * schema_rows.c: whether file is Avro's or Arrow's.  Then all values are in the columns, which have
 * their types once schema_decide has followed columns_decide.
 */
bool schema_known(const char *file);
int schema_look(struct columns *c, const char *file, bool *whole, struct error *err);
void schema_decide(struct columns *c);

/* key.c: columns of the key, indices; SIZE_MAX: none. */
struct key_plan {
	size_t entity, time, unique;
	bool hash; /* of all columns without nulls is needed too */
};
void key_choose(struct key_plan *k, const struct columns *c, const struct shape *s,
		const struct lines *l);

/*
 * logs.c: the job of a log whose lines are no rows.  false: it is none that is
 * known.
 */
bool log_write(const struct lines *l, const char *file, const char *name, struct buf *out);

/* write.c */
void job_write(const struct columns *c, const struct shape *s, const struct lines *l,
	       const struct key_plan *k, const char *name, struct buf *out);
/* As a YAML scalar: plain where that is safe. */
void put_yaml(struct buf *out, struct bytes text);

#endif
