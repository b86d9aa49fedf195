/*
 * schema.h - tables of keys that turn nodes into structs
 *
 * Each part of the job file has a `struct schema`, which lists the part's keys. Each key has a
 * function that reads the key's value, and the offset of the member to fill. read_mapping rejects
 * missing keys and unknown keys, and suggests similar names. Then it reads the keys in the order of
 * the schema, not of the file. So the reader of a later key can use the result of an earlier key.
 */
#ifndef SALTMILL_SCHEMA_H
#define SALTMILL_SCHEMA_H

#include <limits.h>

#include "job.h"
#include "tree.h"

struct reader {
	struct job *job;
	struct error *err;
};

struct schema;

struct choice {
	const char *name;
	unsigned value;
};

/* The form of a key's value. */
enum value_form {
	FORM_UNSAID, /* no value; a test checks that no key has this form */
	FORM_TEXT,
	FORM_TEXTS, /* a list of texts, or one text */
	FORM_NUMBER,
	FORM_NUMBERS,
	FORM_RATIO,
	FORM_LEVEL,
	FORM_SIZE,
	FORM_DURATION,
	FORM_BOOL,
	FORM_CHOICE,
	FORM_TYPE,     /* the type of a field */
	FORM_ENCODING, /* the encoding of a key part or value */
	FORM_BYTE,
	FORM_SIGN,
	FORM_ESCAPED,
	FORM_HEX,
	FORM_QUESTION,
	FORM_FIELD,
	FORM_FIELDS,
	FORM_TABLE,
	FORM_CODES,	 /* a mapping of names to numbers, or a file */
	FORM_ATTRIBUTE,	 /* an HBase attribute, which table_check checks */
	FORM_PROPERTIES, /* a mapping of any names to texts, or to mappings of `inner` */
	FORM_MAPPING,	 /* a mapping with the keys of `inner` */
	FORM_NAMED,	 /* a mapping of names to mappings of `inner` */
	FORM_LIST,	 /* a list of mappings of `inner` */
	FORM_EITHER,	 /* a scalar, a mapping of `inner`, or a list of both */
};

/* The help text of a key (job_words.h). */
struct key_words {
	enum value_form form;
	const char *standard; /* the default, as a job file has it; NULL means none */
	const char *sentence, *example;
};

struct key {
	const char *name;
	/* Read the value of the key. `slot` is the address of the target plus `offset`. */
	int (*read)(struct reader *r, const struct node *n, const struct key *key, void *slot);
	size_t offset;
	bool required;
	uint64_t min, max; /* limits of read_number and read_size; max 0 means the type's limit */
	const struct choice *choices;
	size_t nchoices;
	struct key_words words;
	const struct schema *const *inner; /* the schemas of a mapping's keys; ends with NULL */
};

/* Initialise a struct key: WORDS(NUMBER, "0", "lines of each file above its header", "skip: 2") */
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
	const char *what; /* name for messages, such as "a field" */
	const struct key *keys;
	size_t nkeys;
};

#define SCHEMA(what, keys)                                                                         \
	{                                                                                          \
		(what), (keys), sizeof keys / sizeof((keys)[0])                                    \
	}

/* Set the message, with path:line:column before the text. Returns RC_CONFIG. */
int fault(struct reader *r, struct pos at, const char *fmt, ...) ERROR_FORMAT(3, 4);
/* Set the message "key: found X, expected ...". Returns RC_CONFIG. */
int expected(struct reader *r, const struct node *n, const char *key, const char *what);
/*
 * Set the message for a name that is not in the list. The message suggests a similar name or lists
 * all names. `what` is the kind of name, such as "key" or "codec". Returns RC_CONFIG.
 */
int unknown_name(struct reader *r, struct pos at, const char *what, const char *name,
		 const char *const *known, size_t nknown);

/*
 * Return our name for a name of another system, such as text for varchar(20), or else a name with
 * a similar spelling (near_miss). Return NULL if the list contains neither.
 */
const char *other_name(const char *name, const char *const *known, size_t nknown);
/*
 * Return the text to write in the job instead of this value of the key, such as `header: false` for
 * `no`. Return NULL if the value is unknown.
 */
const char *value_fix(const char *key, const char *value);
/*
 * Append the format of strptime for a format such as yyyy-MM-dd (Java) or YYYY-MM-DD HH24:MI
 * (Oracle), with a NUL. Return false if `format` is no such format. The caller releases `to` in
 * both cases.
 */
bool strptime_of_java(struct buf *to, const char *format);

int read_mapping(struct reader *r, const struct node *n, const struct schema *s, void *target);

/* Slot: const char *, not empty. */
int read_text(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Slot: const char *, "" only if quoted. */
int read_any_text(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_bool(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Slot: uint32_t within min..max. */
int read_number(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Slot: uint64_t within min..max; accepts "64K". */
int read_size(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Slot: an enum (unsigned), written by name. */
int read_choice(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Slot: uint8_t, one byte; accepts \xHH. */
int read_byte(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Slot: struct bytes. read_escaped takes text with \xHH, and read_hex takes hex digits. */
int read_escaped(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_hex(struct reader *r, const struct node *n, const struct key *key, void *slot);

/*
 * Read a list of texts, or one text, into the arena. The array has room for one more text. If
 * `empty` is true, the list may contain "".
 */
int read_texts(struct reader *r, const struct node *n, const char *key, bool empty,
	       const char ***items, size_t *count);

#endif
