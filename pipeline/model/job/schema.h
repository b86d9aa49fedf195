/*
 * schema.h - from nodes to structs by tables of keys
 *
 * A part of the job file is a `struct schema`: its keys, for each the function that reads it and
 * the offset of what it fills.  read_mapping refuses unknown keys (with the near miss) and missing
 * ones, then reads in the order of the schema, not of the file: a later part may rely on an
 * earlier one.
 */
#ifndef SALTMILL_SCHEMA_H
#define SALTMILL_SCHEMA_H

#include <limits.h>

#include "job.h"
#include "tree.h"

struct reader {
	struct job *job;
	struct error *err;
	size_t field_room; /* job->fields has room for so many */
};

struct schema;

struct choice {
	const char *name;
	unsigned value;
};

/* What may stand behind a key. */
enum value_form {
	FORM_UNSAID, /* refused by a test: each key has words */
	FORM_TEXT,
	FORM_TEXTS, /* a list, or one */
	FORM_NUMBER,
	FORM_NUMBERS,
	FORM_RATIO,
	FORM_LEVEL,
	FORM_SIZE,
	FORM_DURATION,
	FORM_BOOL,
	FORM_CHOICE,
	FORM_TYPE,     /* of a field */
	FORM_ENCODING, /* of a part of a key, or a value */
	FORM_BYTE,
	FORM_SIGN,
	FORM_ESCAPED,
	FORM_HEX,
	FORM_QUESTION,
	FORM_FIELD,
	FORM_FIELDS,
	FORM_TABLE,
	FORM_CODES,	 /* a mapping of names to numbers, or a file */
	FORM_ATTRIBUTE,	 /* of HBase: a text that table_check knows */
	FORM_PROPERTIES, /* a mapping of any names to texts, or to mappings of `inner` */
	FORM_MAPPING,	 /* of the keys of `inner` */
	FORM_NAMED,	 /* a mapping of names to mappings of `inner` */
	FORM_LIST,	 /* of mappings of `inner` */
	FORM_EITHER,	 /* a scalar, or what `inner` has, or a list of both */
};

/* What a person is told of a key (job_words.h). */
struct key_words {
	enum value_form form;
	const char *standard; /* the default as one writes it; NULL: none */
	const char *sentence, *example;
};

struct key {
	const char *name;
	/* slot: the target plus offset */
	int (*read)(struct reader *r, const struct node *n, const struct key *key, void *slot);
	size_t offset;
	bool required;
	uint64_t min, max; /* read_number, read_size; max 0: no bound but the type's */
	const struct choice *choices;
	size_t nchoices;
	struct key_words words;
	const struct schema *const *inner; /* whose keys a mapping here has; ends with NULL */
};

/* An initialiser of struct key: WORDS(NUMBER, "0", "lines of each file above its header", "skip:
 * 2") */
#define WORDS(form_, standard_, sentence_, example_)                                               \
	.words = {.form = FORM_##form_,                                                            \
		  .standard = standard_,                                                           \
		  .sentence = sentence_,                                                           \
		  .example = example_}
#define INNER(...)                                                                                 \
	.inner = (const struct schema *const[])                                                    \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

#define CHOICES(list) .choices = (list), .nchoices = sizeof list / sizeof((list)[0])

struct schema {
	const char *what; /* "a field", for messages */
	const struct key *keys;
	size_t nkeys;
};

#define SCHEMA(what, keys)                                                                         \
	{                                                                                          \
		(what), (keys), sizeof keys / sizeof((keys)[0])                                    \
	}

/* RC_CONFIG with path:line:column in front. */
int fault(struct reader *r, struct pos at, const char *fmt, ...) ERROR_FORMAT(3, 4);
/* "key: found X, expected ..." */
int expected(struct reader *r, const struct node *n, const char *key, const char *what);
/* A name that is none of the list: the near miss, or the list; what: "key", "codec". */
int unknown_name(struct reader *r, struct pos at, const char *what, const char *name,
		 const char *const *known, size_t nknown);

int read_mapping(struct reader *r, const struct node *n, const struct schema *s, void *target);

/* Slot types: const char * (not empty). */
int read_text(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* const char *, may be "" when quoted. */
int read_any_text(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_bool(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* uint32_t within min..max. */
int read_number(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* uint64_t within min..max, "64K" too. */
int read_size(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* An enum (unsigned) by name. */
int read_choice(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* uint8_t: one byte, \xHH too. */
int read_byte(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* struct bytes: text with \xHH, and hex digits. */
int read_escaped(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_hex(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* A list of texts, or one text; in the arena.  empty: "" may be among them. */
int read_texts(struct reader *r, const struct node *n, const char *key, bool empty,
	       const char ***items, size_t *count);

#endif
