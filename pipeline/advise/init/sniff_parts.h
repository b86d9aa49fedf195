/*
 * sniff_parts.h - the steps that inspect a file, and their results (private to this folder)
 *
 *   lines_read      reads the lines of the text, decompressed and decoded
 *   shape_find      finds the lines that are rows, and the delimiter of their values
 *   columns_look finds the types that fit all values of a column, and counts distinct values
 *   job_write writes the job, with a row key
 */
#ifndef SALTMILL_SNIFF_PARTS_H
#define SALTMILL_SNIFF_PARTS_H

#include <locale.h>

#include "hash.h"
#include "field.h"
#include "mem.h"
#include "advise/yaml_text.h"
#include "first_rows.h"

#define SNIFF_BYTES    (UINT64_C(64) << 20)
#define HIVE_DELIMITER 0x01
#define NO_QUOTE       0x02 /* quotes are text */
#define COLUMNS_MOST   4096 /* columns of JSON */
#define ALSO_MOST      6    /* encodings that a doubt names, and NULL */

/* lines.c */
struct lines {
	struct buf text;
	struct line {
		size_t at, len;
		bool crlf; /* a carriage return is before the line feed; false for a file's last line */
	} * line;	   /* all lines, including blank lines */
	size_t n, nblank;
	bool whole;	      /* true if the sniffer has read the file to its end */
	const char *now;      /* file of the last line; private to lines.c */
	size_t base;	      /* lines before this file; private to lines.c */
	uint64_t next;	      /* offset of the last line's end; private to lines.c */
	size_t *file, nfiles; /* the first line of each file of a folder */
	const char *encoding; /* NULL for UTF-8 */
	struct encoding_found {
		const char *name, *next; /* the best and the second encoding; `next` may be NULL */
		double score, next_score;
		const char *also[ALSO_MOST]; /* further ones, with NULL after the last */
		bool doubtful;
	} found; /* how sure the encoding is; `name` is NULL if the bytes show it */
};
int lines_read(struct lines *l, const char *file, struct error *err);
void lines_release(struct lines *l);
/* Find the encoding of lines that are not UTF-8 (encoding_of.c). */
int encoding_of(const struct lines *l, struct encoding_found *found, struct error *err);
static inline struct bytes line_text(const struct lines *l, size_t i)
{
	return bytes_of(l->text.ptr + l->line[i].at, l->line[i].len);
}

#define HEADINGS_MOST 6

/* dialect.c and row_lines.c */
bool is_blank(struct bytes t);
bool has_digit(struct bytes t);
/* Return the text without spaces and tabs around it. */
struct bytes without_blanks(struct bytes t);
/* Return true for a line such as -----+-----, which separates a header from the rows. */
bool line_is_ruler(struct bytes t);
/* Return true for a directive of a plot, such as `@ title "Energy"`, and for the & that ends its rows. */
bool line_is_directive(struct bytes t);
/* Return true for a line such as (2 rows). */
bool line_is_count(struct bytes t);
/*
 * The kind of a value by its bytes alone (evidence.c). A null is a word of null_words. A time is any
 * date, time or address.
 */
enum text_kind { KIND_EMPTY, KIND_NULL, KIND_NUMBER, KIND_TIME, KIND_TEXT, KINDS };
enum text_kind kind_of_text(struct bytes t);
/* Return true for an infinite number, such as -inf. */
bool is_infinite(struct bytes t);

/* Columns in which the first row differs from the others, and in which it is one of them. */
struct header_evidence {
	size_t names, values, numbered; /* `numbered`: the first row has numbers in order */
	size_t typed; /* columns of numbers or times below a value of the first row */
	bool differ;  /* these values of the first row are not all equal */
};
/* How sure the delimiter is (confidence.c). All are 0 if the form of the rows has no such measure. */
struct confidence {
	double share; /* share of the rows that have as many values as the first one */
	uint8_t next; /* the second delimiter, or 0, and its share of rows with equally many */
	double next_share;
};
struct sniffed_shape {
	uint8_t delimiter, quote;
	bool lenient;	   /* a quote that is not around a whole value is text */
	bool comments;	   /* lines that begin with # are not rows */
	bool header;	   /* true if the first row contains names */
	bool repeats;	   /* true if two names are equal, or a name is empty */
	bool missing;	   /* true if some rows have fewer values */
	bool extra;	   /* true if some rows have additional empty values */
	size_t widest;	   /* values in the longest row; 0 if no row is longer than the first */
	size_t first, end; /* lines of the rows, with the header */
	size_t footer;	   /* number of lines after the rows that are not blank */
	size_t ncolumns;
	bool one; /* true if every line is one value */
	/* a delimiter of several bytes that begins with `delimiter`, as in a||b and a~|~b; or NULL */
	const char *several;
	bool blanks;	/* runs of blanks are between the values (blank_rows.c) */
	bool in_quotes; /* blanks: some values are in quotes */
	bool rest;	/* the last column has the rest of the line */
	bool named;	/* the first row has names for certain */
	bool own_names; /* the header has other columns than the rows, so the job has the names */
	bool row_names; /* the header has no name for the first column */
	/* lines between the rows that are not rows; the job skips them by a pattern */
	bool rulers, counts, headers, directives;
	size_t header_line;
	size_t heading[HEADINGS_MOST], nheadings; /* headings of pages; other digits may differ */
	bool names_first;			  /* the first row may be names */
	struct header_evidence evidence;
	struct confidence confidence;
	bool fields;	/* the comment `header_line` has the names, as #Fields of web servers */
	bool commented; /* the comment directly before the rows has the names */
	size_t under;	/* lines of units or other names below the names, which `header_line` has */
	bool by_name;	/* the files have other headers */
	const char *known; /* the preset that names the columns, or NULL */
	/* only if `special`: how the load splits rows, because row_split cannot (text_forms.c) */
	bool special;
	struct csv_source form;
	const char *doubt; /* what is not certain about the form, or NULL */
};

/* The values of a row, borrowed until the next row. */
struct sniffed_row {
	struct bytes *value;
	bool *quoted;
	size_t n, room;
	struct buf text;
};
void row_release(struct sniffed_row *r);
/* Split the row that begins in this line, which is before `end`. Return the line after the row. */
size_t row_split(const struct sniffed_shape *s, const struct lines *l, size_t line, size_t end,
		 struct sniffed_row *r);
/* Return true if the line is neither blank nor a comment. */
bool line_counts(const struct sniffed_shape *s, const struct lines *l, size_t line);
/*
 * Return the first line, at or after this line, that is neither blank nor a comment. Return `end`
 * of the shape if there is none.
 */
size_t next_row(const struct sniffed_shape *s, const struct lines *l, size_t line);
void shape_find(struct sniffed_shape *s, const struct lines *l);
/* Note a doubt if a line above the rows has values for most columns. */
void preamble_doubt(struct sniffed_shape *s, const struct lines *l);
/* Note a doubt if rows between commas have another delimiter equally often: the comma may be decimal. */
void delimiter_doubt(struct sniffed_shape *s, const struct lines *l);
/* Note what contradicts the choice of lines (shape_doubts.c). Call this after all other steps. */
void shape_doubts(struct sniffed_shape *s, const struct lines *l);
/* Count the values that are not blank. */
size_t row_count_values(const struct sniffed_row *r);
/* Return true if all values are names. One of three or more values may be empty (row_lines.c). */
bool row_is_names(const struct sniffed_row *r);
/* Return true if value `from` and all later ones are blank. */
bool row_is_empty_from(const struct sniffed_row *r, size_t from);

/* not_rows.c */
/* Words such as Total: none, as the first word of a text, or as the only one. */
enum total_word { TOTAL_NONE, TOTAL_FIRST, TOTAL_WORD };
enum total_word total_word(struct bytes t);
/* Return true for a sentence or a title, which is no identifier. */
bool is_note(struct bytes t);
/* Return true if the lines differ at most in their numbers. */
bool line_like(struct bytes a, struct bytes b);
/* Find totals and notes after the rows. Changes the end of the shape. */
void footer_find(struct sniffed_shape *s, const struct lines *l);
/* Find repeated headers, headings of pages, and rows with more or fewer values. */
void headings_find(struct sniffed_shape *s, const struct lines *l);
/* Compare the first row of the shape with the rows below it (evidence.c). */
struct header_evidence evidence_of(const struct sniffed_shape *s, const struct lines *l);
/* Compare the row in this line with those from the line `rows` on. */
struct header_evidence evidence_between(const struct sniffed_shape *s, const struct lines *l,
					size_t line, size_t rows);
/*
 * Find names that are one less than the values of each row (names_line.c): the job names the first
 * column.
 */
void row_names_find(struct sniffed_shape *s, const struct lines *l);
struct columns;
/*
 * Find lines of units, types or other names below the header (names_line.c). The shape then begins
 * with the row below them.
 */
void under_header_find(struct sniffed_shape *s, const struct lines *l);
/* Do so for a line of types only. The values may have backslash escapes. */
void types_find(struct sniffed_shape *s, const struct lines *l);
void names_above_types(const struct sniffed_shape *s, const struct lines *l, struct columns *c);
/*
 * Return true if the text can be the name of a column. A name contains a letter and is no number.
 */
bool is_name(struct bytes t);

/*
 * Find names in a comment #Fields, or in a first row between single blanks (first_row.c). Return
 * false if the lines are not such rows.
 */
bool shape_of_words(struct sniffed_shape *s, const struct lines *l);
/*
 * Find columns with runs of blanks between them, as `ps aux` prints them (blank_rows.c). Return false
 * if the lines are not such rows. tabs_are_blanks does so for a shape whose delimiter is a tab, and
 * notes a doubt if only a column has such values.
 */
bool shape_of_blanks(struct sniffed_shape *s, const struct lines *l);
void tabs_are_blanks(struct sniffed_shape *s, const struct lines *l);
/* Return a sentence if two columns between blanks may be one of a fixed width. Otherwise return NULL. */
const char *blanks_doubt(const struct sniffed_shape *s, const struct lines *l);
/*
 * Return true if the comment directly before the rows has a name for each column, as `#id,name`. A
 * first row with names must be excluded before.
 */
bool comment_has_names(const struct sniffed_shape *s, const struct lines *l);
/* Add the columns that a comment names: #Fields, or the one before the rows. */
void fields_names(const struct sniffed_shape *s, const struct lines *l, struct columns *c);
/*
 * Find rows whose columns a preset names, and set `s->known` (known_rows.c). Return false if a row
 * is none of them. known_names adds the columns.
 */
bool shape_of_known(struct sniffed_shape *s, const struct lines *l);
void known_names(const struct sniffed_shape *s, struct columns *c);
/* Return a sentence if nothing shows whether the first row has names. Otherwise return NULL. */
const char *header_doubt(const struct columns *c, const struct sniffed_shape *s,
			 const struct lines *l);

/* The signs in the text of numbers (signs.c). */
#define SIGN_PAIRS 8
struct signs {
	const char *decimal, *thousands; /* NULL for a decimal point, and for no separator */
};
extern const struct signs sign_pairs[SIGN_PAIRS];

/* The forms of time to try, with NULL after the last (time_forms.c). */
extern const char *const time_forms[];
#define TIME_FORMS_MOST 64
/* Texts that may mean "no value", in addition to "". */
extern const char *const null_words[];
#define NULL_WORDS_MOST 24
#define NULL_WORD_MOST	6 /* bytes of the longest word */
/* Return the index of the word that the text is, or that of the NULL after the last (null_words.c). */
size_t null_word(struct bytes t);

struct numbers {
	/* `fits`: all values are numbers; `real`: some numbers have a point or an exponent */
	bool fits, real;
	bool exponent, negative;
	bool plus;		/* some numbers begin with + */
	bool grouped;		/* some numbers have the thousands sign */
	uint32_t whole, places; /* largest number of digits */
	uint32_t places_least;	/* the least of the numbers with a point */
	uint64_t points;	/* numbers with a point */
	bool zero_first;	/* a fraction of two digits or more begins with 0, as in 1.05 */
	uint32_t ungrouped;	/* the same of numbers without the thousands sign */
	uint64_t least, most;	/* bounds of whole numbers >= 0 */
};

struct sniffed {
	const char *name;
	uint64_t values, nulls; /* `nulls` includes "" and missing values */
	uint64_t words[NULL_WORDS_MOST];
	uint64_t wrapped;  /* values between two quotes, which the job loads */
	uint64_t quoted;   /* values in quotes that are not part of them; all texts of JSON */
	uint64_t codes;	   /* values such as 3E57, which may be numbers */
	uint64_t infinite; /* values such as -inf */
	bool quoted_words, blanks, quoted_blanks;
	struct padding {
		uint32_t least, most; /* bounds of the length with blanks, in characters */
		uint64_t n, with,
			before; /* unquoted values, with blanks, with blanks before them */
	} padding;
	/* until `signed_numbers`, all values are plain digits, and only the first item counts them */
	struct numbers numbers[SIGN_PAIRS];
	bool signed_numbers;
	uint64_t commas, points; /* numbers with a comma, and with a point */
	/* values that begin with two numbers, and those that both orders of day and month fit */
	uint64_t ordered, swappable;
	uint64_t times; /* bit i is 1 if all values fit time_forms[i] */
	bool list;	/* some values are JSON lists, or too deep in objects */
	/* lists of objects: records with one, their items, items of other kinds, names of times */
	struct {
		uint64_t records, items;
		bool other, timed;
	} objects;
	const char *either[2]; /* the value is at the first of these paths that has one; or NULL */
	bool dropped;	       /* all values are null, and other records have an object here */
	bool plus;	       /* some values are +, so - may be a value too */
	bool marked;	       /* some values have other characters than digits */
	bool flags;	       /* all values are the words true and false */
	bool uuids;	       /* all values are UUIDs */
	bool ips, ipv4;	       /* all values are IP addresses, and all of them IPv4 */
	bool ip_like;	       /* a number in an IPv4 address is too large for a version */
	/* values that no earlier value exceeds (undercuts); for whole numbers and UUIDs */
	uint64_t rising, falling, ranked;
	uint64_t highest, lowest;
	bool trailing; /* some values end with a minus sign */
	int64_t oldest[TIME_FORMS_MOST];
	/* the largest steps forward from one value to the next, in ms; `days`: steps to another day */
	struct time_steps {
		uint64_t n, days;
		int64_t last, newest, within, across;
		bool back;
	} steps[TIME_FORMS_MOST];
	struct distinct distinct;
	/* columns_decide sets the members below */
	enum field_type type;
	const char *format, *unit;
	/* type and scale of the schema; `local` is true for a time without a zone */
	enum field_type own;
	uint32_t own_scale;
	bool local;
	const char *note; /* a note about the uncertainty, or NULL */
	uint32_t scale;
	bool has_nulls;
	int64_t oldest_ms;
};

/* Return true if some times are before 1970. Milliseconds since 1970 have no form for them. */
static inline bool time_is_early(const struct sniffed *s)
{
	return s->type == FIELD_TIME && s->oldest_ms < 0;
}

struct columns {
	struct sniffed *column;
	size_t n;
	struct name_index names; /* number: position in `column` + 1 */
	uint64_t rows;
	size_t signs;	     /* index of the pair of signs that types the most columns */
	size_t signs_other;  /* a pair with other values for as many columns; or `signs` */
	const char *listed;  /* a column of numbers such as 1,2, which may be lists; or NULL */
	bool point_too;	     /* listed: another column has numbers such as 1.5 */
	const char *grouped; /* a column of numbers such as 1,234 only, which may be fractions */
	/* columns that are numbers with `signs`, the pair with the next most, and its columns */
	size_t signs_typed, signs_next, signs_next_typed;
	bool trailing;	       /* some numbers end with a minus sign */
	bool null_word;	       /* NULL is no text */
	bool dash_null;	       /* - is no text */
	bool slash_null;       /* \N is no text */
	const char *preset;    /* of the program that wrote the file, or NULL */
	bool json;	       /* true if values have paths, as in JSON or a schema */
	const char *schema;    /* "avro" or "arrow" if types come from a schema; otherwise NULL */
	size_t left_out;       /* number of the schema's values that the job omits */
	struct json_form form; /* JSON: how the file stores the records */
	/* JSON: paths with {} in some records, and members whose names no path can have */
	struct name_index empty;
	uint64_t unnamed;
	/* members of a document beside the list of records, for a comment; "" if there are none */
	struct buf members;
	struct name_index beside; /* the names in `members` */
	bool words[NULL_WORDS_MOST], quoted_words, blanks, quoted_blanks;
	const struct hive_folders *folders; /* whose names are columns, or NULL */
	struct field_form *times;	    /* one item for each item of time_forms */
	struct field_form flag, uuid, ip, number[SIGN_PAIRS];
	struct field *fields;
	struct job *jobs;
	struct field_scratch scratch;
	locale_t c_locale;
	struct arena arena;
};
int columns_open(struct columns *c, struct error *err);
void columns_close(struct columns *c);
/* Return the column with this name. Adds the column if there is none. */
struct sniffed *columns_add(struct columns *c, struct bytes name);
/*
 * Return true if the column's values come in order, or if this is unknown, as for texts. Then rows
 * whose key begins with this column go to one region after another.
 */
bool column_in_order(const struct sniffed *s);
/* Return the number of values that are words of null_words. */
uint64_t words_count(const struct sniffed *s);

/* signs.c: count a value as a number with each pair of signs. */
void numbers_try(struct columns *c, struct sniffed *s, struct bytes text);
/* Return true if the text consists of 1 to 18 digits. digits_value returns their number. */
bool text_is_digits(struct bytes t);
uint64_t digits_value(struct bytes digits);
/* Give each pair of signs its own numbers. Call this before the numbers are judged. */
void numbers_part(struct sniffed *s);
/* Return true if all values are numbers with this pair of signs. */
bool number_fits(const struct sniffed *s, size_t pair);
/* Choose the pair of signs that makes the most columns numbers. */
void signs_choose(struct columns *c);
/* Set the type of a column of numbers. */
void number_decide(struct sniffed *s, const struct numbers *n);

/* time_forms.c: the number of forms; count a value as a time in each form; set the form of the column. */
size_t times_count(void);
void times_try(struct columns *c, struct sniffed *s, struct bytes text);
void time_decide(struct sniffed *s);
/* Return the unit of numbers since 1970, or NULL. Their size, name and order decide. */
const char *epoch_unit(const struct sniffed *s, const struct numbers *n);
/* Return true for numbers such as 20260103. */
bool is_day_number(const struct sniffed *s, const struct numbers *n);
/* Return true if the name contains one of these words, which end with NULL. */
bool name_contains(const char *name, const char *const *words);
/* Return true for names such as created_at, eventTime, ts and ts_ms. */
bool name_is_time(const char *name);
/* Return true for names of ids, numbers and codes (key.c). */
bool name_is_id(const char *name);
/* Return true if the name ends in this word, as created_at and createdAt end in `at`. */
bool name_ends_in(const char *name, const char *word);
/*
 * Count a value that begins with two numbers, and whether both orders of day and month fit
 * (row_lines.c).
 */
void count_order(struct sniffed *s, struct bytes text);
void column_see(struct columns *c, struct sniffed *s, struct bytes text, bool quoted);
/* Decide the types, the nulls and the signs. Call this function after the last value. */
void columns_decide(struct columns *c);

/* Forget all columns and rows, to read the file in another form. */
void columns_restart(struct columns *c);

/* Add the columns of a JSON object (json_rows.c). */
struct json_t;
void json_see(struct columns *c, const struct json_t *object);
/* Return the value in an object such as {"$oid": "5f"}, or the value itself (json_rows.c). */
const struct json_t *json_typed_value(const struct json_t *v);
/* Forget columns that are null wherever other records have an object (json_rows.c). */
void json_drop_nulls(struct columns *c);
/*
 * json_record.c: json_parse returns an object or a list, which the caller releases, or NULL. Its
 * whole numbers of more than 63 bits are texts. json_record does the same for the record in the
 * text: a pair of bulk requests is one object. json_record_find also sets `form->hex_escapes` if
 * only they make the text JSON.
 */
struct json_t *json_parse(struct bytes text);
struct json_t *json_record(const struct json_form *form, struct bytes text);
struct json_t *json_record_find(struct json_form *form, struct bytes text);
/* Return the record in an envelope, or the record itself. */
const struct json_t *json_body(const struct json_form *form, const struct json_t *record);
bool json_is_envelope(const struct json_t *record);
/* Return the row that an event of Debezium changes, or NULL. */
const struct json_t *json_changed_row(const struct json_t *body);
/* Note a member of the document or envelope that the job does not load. */
void json_note_member(struct columns *c, const char *name);
/* Count the objects in a list. */
void json_count_items(struct sniffed *s, const struct json_t *list);
/*
 * Return true if the only list of objects is clearly a list of events, and set `form.explode`. The
 * caller then reads all records again.
 */
bool json_events_find(struct columns *c);
/*
 * Return true if the lines are JSON objects. All of their values are then in the columns
 * (json_rows.c).
 */
bool json_look(struct columns *c, const struct lines *l);
/*
 * Find JSON in lines, documents or bulk requests (json_forms.c). Sets `c->json`, and the columns
 * have all values. Returns RC_DATA for JSON whose records no job finds.
 */
int json_find(struct columns *c, struct lines *l, const char *file, const char *name,
	      struct error *err);

/*
 * Return true if `file` is Avro or Arrow. The columns then contain all values (schema_rows.c). Call
 * schema_decide after columns_decide to set their types.
 */
bool schema_known(const char *file);
int schema_look(struct columns *c, const char *file, bool *whole, struct error *err);
void schema_decide(struct columns *c);

/* The indexes of the key's columns. An index is SIZE_MAX if the key has no such column (key.c). */
struct sniffed_key {
	size_t entity, time, unique;
	bool hash;	/* true if the key also needs a hash of all columns without nulls */
	bool all;	/* the hash also needs the columns with nulls */
	bool rest;	/* `unique` has different values only together with entity and time */
	uint64_t equal; /* rows that equal an earlier one; the hash then needs file and line too */
	/* the columns of the salt; nsalt is 0 if the rows do not come in the order of the key */
	size_t salt[2], nsalt;
	/* the columns that the user gives, in place of entity, time and unique */
	size_t *given, ngiven;
};
#define SALTS 16
/*
 * Choose the key from the measured numbers of different values and from the order of the rows.
 * `names` are columns that the user gives, with commas between them, or NULL. Returns RC_CONFIG for
 * names that are not columns.
 */
int key_choose(struct sniffed_key *k, struct columns *c, const struct sniffed_shape *s,
	       const struct lines *l, const char *names, struct error *err);

/*
 * Find rows with escapes, a delimiter of several bytes, pairs or columns of a fixed width. Set
 * `s->special` and add the names of pairs and of columns without names (text_forms.c).
 */
void special_find(struct sniffed_shape *s, const struct lines *l, struct columns *c);
/* Read all rows in the form of `s` as a load does. Return the error of the load's reader. */
int special_look(struct columns *c, const struct sniffed_shape *s, const struct lines *l,
		 const char *file, struct error *err);
/* Count key=value pairs whose keys are names (row_lines.c). */
size_t count_pairs(struct bytes t);

/*
 * Write the job of a log whose lines are not rows (logs.c). If some lines are `equal`, the row key
 * also has their place. Return false if the log is unknown.
 */
bool log_write(const struct lines *l, const char *file, const char *name, bool equal,
	       struct buf *out);

/*
 * Return RC_DATA, with the reason and a fix, for a file that no job reads correctly (refuse.c).
 * text_refuse: delimited text. files_refuse: a folder.
 */
int text_refuse(const struct sniffed_shape *s, const struct lines *l, const char *name,
		struct error *err);
/* Set `s->by_name` if the files of a folder have other headers with common names (refuse.c). */
void files_match(struct sniffed_shape *s, const struct lines *l);
int files_refuse(const struct sniffed_shape *s, const struct lines *l, const char *name,
		 struct error *err);

/*
 * row_fit.c: rows of a job that do not look like the other rows. The names must live as long as the
 * result. row_fit_judge returns the number of such rows, and the line of the first.
 */
struct row_fit;
struct event;
struct row_fit *row_fit_new(const char *const *names, size_t n, const struct csv_source *csv);
void row_fit_free(struct row_fit *f);
void row_fit_see(struct row_fit *f, const struct event *ev);
uint64_t row_fit_judge(const struct row_fit *f, uint64_t *line);

/*
 * confidence.c: measure how sure the shape is, and write the figures as comments. confidence_put
 * writes lines, and the others write the end of a line.
 */
void confidence_measure(struct sniffed_shape *s, const struct lines *l);
void confidence_put(const struct sniffed_shape *s, struct buf *out);
void confidence_put_signs(const struct columns *c, struct buf *out);
void confidence_put_time(const struct columns *c, const struct sniffed *s, struct buf *out);

/*
 * preset_of.c: set the preset of the program that wrote the file. preset_fits returns true if the
 * values of the columns allow it; call it after columns_decide.
 */
void preset_find(struct columns *c, const struct sniffed_shape *s, const struct lines *l);
bool preset_fits(const struct columns *c);

/*
 * hive_folders.c: add the columns of folders NAME=VALUE. hive_folders_put writes `partitions:`. `f` may be NULL.
 */
int hive_folders_see(struct columns *c, const struct hive_folders *f, const char *file,
		     struct error *err);
void hive_folders_put(const struct columns *c, struct buf *out);

/* write.c */
void job_write(const struct columns *c, const struct sniffed_shape *s, const struct lines *l,
	       const struct sniffed_key *k, const char *name, struct buf *out);
/* Append the pattern of lines between rows that are not rows. Appends nothing if there are none. */
void skip_pattern(const struct sniffed_shape *s, const struct lines *l, struct buf *out);
/* write_key.c: write `rowkey:`, and the fields that only the key needs. */
void key_put(const struct columns *c, const struct sniffed_key *k, struct buf *out);
void key_put_fields(const struct columns *c, const struct sniffed_key *k, struct buf *out);

#endif
