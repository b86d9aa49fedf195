/* infer.h - the parts of an unknown row key and the types of unknown columns (inside this folder) */
#ifndef SALTMILL_INFER_H
#define SALTMILL_INFER_H

#include "encoding.h"
#include "first_rows.h"
#include "job.h"

#define GUESS_PARTS 24	/* most parts of a key */
#define GUESS_KEYS  512 /* most keys that decide the parts */
#define GUESS_BYTES 256 /* first bytes of a key that init divides into parts */
#define DRAWN_LEAST 20	/* fewest keys for a part that only its distribution shows */
#define SEAM_POINTS 3	/* a text loses them at a seam (seams.c) */
#define YEAR_MS	    INT64_C(31556952000)
#define TIME_FIRST  (25 * YEAR_MS) /* times of tables are from 1995 to 2045 */
#define TIME_LAST   (75 * YEAR_MS)
/* Times in 4 bytes are until 2036, because of the sign bit of later ones. */
#define SECONDS_LAST UINT64_C(2083000000)

enum guess_kind { GUESS_FIELD, GUESS_CONST, GUESS_SALT, GUESS_HASH };

/* A part of a key, or a value of a column, and its form in the job. */
struct guess {
	enum guess_kind kind;
	enum field_type type;
	enum encode_as as;
	uint32_t width;	     /* bytes in the key; 0: the length varies */
	bool padded;	     /* the text has `width` bytes, so the job needs `width` */
	bool zeros;	     /* bytes 00 pad it */
	bool alike;	     /* all sampled texts begin with the same word */
	int terminator;	     /* or NO_TERMINATOR */
	const char *unit;    /* of a time: "ms" or "s" */
	const char *format;  /* of a time as text */
	const char *what;    /* comment */
	const char *stem;    /* the field's name, before a number makes it unique */
	const char *name;    /* the field's name */
	double points;	     /* how much better than bytes the part explains the keys */
	unsigned confidence; /* percent */
	bool backwards;	     /* a later time is a smaller number */
	bool opaque;	     /* the bytes have no known form */
	bool widened;	     /* the proof failed, so the part is bytes */
	bool text;	     /* the value is printable, so it may be of any length */
	enum hash_kind hash;
	bool drawn;	   /* no known hash gives the salt */
	bool derived;	   /* a known function of other parts gives the part */
	const char *doubt; /* another reading of the part, or NULL */
	uint32_t buckets;
	size_t of[GUESS_PARTS];
	size_t nof;
};

/* The parts of a set of keys, which all have the same form. */
struct guesses {
	struct guess part[GUESS_PARTS];
	size_t n;
	bool understood;  /* no part is opaque */
	const char *note; /* a comment on the whole key, or NULL */
};

/* The keys from one offset of each key on (anchor.c). */
struct key_anchor {
	const struct bytes *keys;
	size_t n;
	uint32_t *at;	    /* offset in each key */
	size_t least, most; /* bytes after the offset */
	size_t columns;	    /* columns that all keys have, at most GUESS_BYTES */
	struct key_column {
		uint8_t low, high; /* smallest and greatest byte */
		uint16_t different;
		double entropy; /* bits */
		bool print, digit, alpha, hex, same;
	} * column;
	struct key_best {
		bool known;
		double points;
		struct guess part;
		size_t next, at; /* the anchor and the column after the part */
	} * best;
};
void anchor_make(struct key_anchor *a, struct arena *arena, const struct bytes *keys, size_t n,
		 const uint32_t *at);
/* Return the address of byte `column` of key number `k`. */
static inline const uint8_t *anchor_ptr(const struct key_anchor *a, size_t k, size_t column)
{
	return a->keys[k].ptr + a->at[k] + column;
}
/* Return the number of columns from `from` on in which all keys have the same byte. */
size_t anchor_same(const struct key_anchor *a, size_t from);

/* Big-endian numbers of up to 8 bytes. */
uint64_t guess_number(const uint8_t *p, size_t width);
/* Return true if the number has at most so many significant digits, as measured values have. */
bool guess_short_real(double d, unsigned digits);
/* Receives a part that may begin at a column. */
typedef void guess_found(void *ctx, const struct guess *g);
/* Pass each part that may begin at the column and has a fixed number of bytes. */
void forms_times(const struct key_anchor *a, size_t column, guess_found *found, void *ctx);
void forms_texts(const struct key_anchor *a, size_t column, guess_found *found, void *ctx);
void forms_zero_padded(const struct key_anchor *a, size_t column, guess_found *found, void *ctx);
void forms_numbers(const struct key_anchor *a, size_t column, guess_found *found, void *ctx);
/*
 * Describe texts: the form of a time, a UUID, digits, hex digits or any text. `*g` gets type,
 * format, comment, confidence and the points of a byte. Returns false if a text is not
 * printable.
 */
bool guess_texts(const struct bytes *texts, size_t n, struct guess *g);

/* Return true if the text is not empty, and ASCII of the class, such as isdigit. */
bool guess_has_class(struct bytes t, int (*is)(int));

/*
 * If all parts are texts and constants of text, make them one text. Constants such as http:// would
 * only exclude later keys. Numbers in a path or URL belong to its text. `only_paths` leaves all other
 * keys.
 */
void guess_unite_texts(struct guesses *g, const struct bytes *keys, size_t n, bool only_paths);

/* Divide the keys into parts. `salted` allows a salt as the first part (key_parse.c). */
void guess_keys(struct guesses *out, const struct bytes *keys, size_t n, bool salted,
		struct arena *arena);
/* Recognize row keys of OpenTSDB, without the function of their salt (opentsdb.c). */
bool guess_opentsdb(struct guesses *g, const struct bytes *keys, size_t n);
/* Find the function of a salt or of a hash at the start of the keys (salts.c). */
bool guess_whole_salt(const struct bytes *keys, size_t n, struct guess *g);
void guess_derived(struct guesses *g, const struct bytes *keys, size_t n, struct arena *arena);
/* Return true if the bytes show that a text ends before this column of the text from `from` on. */
bool seam_at(const struct key_anchor *a, size_t from, size_t column);
/* Return the number of such columns in a text of `width` bytes. */
size_t seams_in(const struct key_anchor *a, size_t from, size_t width);
/*
 * Unite a constant with the text after it if no byte separates them, such as u and 00003699. The
 * constant may be a part of each text. In a row key, make a constant word with a separator after it,
 * such as prod!, a field, because later rows may have another word (unite_texts.c).
 */
void guess_unite_constants(struct guesses *g, struct bytes key, bool row_key);
/*
 * Unite four bytes of a time that counts backwards with bytes of unknown form after it. They are
 * rather bytes of the same unknown form, such as the place of GeoMesa.
 */
void guess_unite_unknown(struct guesses *g);
/* Name digits that may be two fields without a byte between them (seams.c). */
void guess_seams(struct guesses *g, const struct bytes *keys, size_t n, struct arena *arena);
/* Split a key into the parts. Returns false if the key does not have the form. */
bool guess_split(const struct guesses *g, struct bytes key, struct bytes *parts);

/* Describe the values of a column (guess_values.c). */
void guess_values(struct guess *g, const struct bytes *values, size_t n);

/* A column of the table, or the columns of a family whose qualifiers have a form. */
struct guess_column {
	struct bytes family, qualifier;
	bool wide;
	struct guesses qualifiers; /* of a wide family */
	struct bytes *values;
	size_t nvalues, rows;
	struct guess value;
	const char *name; /* the field's name */
	/* first column of a family: why its qualifiers may be values, as the end of a sentence */
	const char *open;
};
struct guess_table {
	const struct sampled_table *sample;
	struct guesses key;
	struct guess_column *columns;
	size_t ncolumns;
	bool time_is_key; /* the timestamps of cells are those of the key's time */
	size_t time_part;
	struct arena arena;
};
/* Find the columns of the sample (table_columns.c). */
void guess_columns(struct guess_table *t);
/* Give each field a name of its own (table_columns.c). */
void guess_names(struct guess_table *t);
/* Write the job (write_job.c). */
void guess_write(const struct guess_table *t, struct inferred *out);
/*
 * Decode each sampled key and value by the job, and encode it again. If the bytes differ, the
 * function changes that part to bytes, sets *changed and returns RC_OK (prove_table.c).
 */
int guess_prove(struct guess_table *t, struct bytes yaml, bool *changed, struct error *err);

#endif
