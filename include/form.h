/*
 * form.h - JSON forms: one description gives the writer, the reader and the schema
 *
 *   form_write, form_read                 files
 *   form_put, form_open, form_parse       texts
 *   form_schema                           `saltmill help schema`
 *
 * A form is a table of members. Each member has a key, a kind, the place of its value in a C
 * struct, and a sentence. All functions walk the table, so what the program writes, what it reads
 * and what `saltmill help schema` prints cannot disagree. The order of the table is the order of
 * the keys.
 */
#ifndef SALTMILL_FORM_H
#define SALTMILL_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "bytes.h"
#include "error.h"
#include "mem.h"

enum form_kind {
	FORM_TEXT,	/* const char *; bytes that are not UTF-8 are written as \xHH */
	FORM_CHARS,	/* char[count_at], NUL-terminated */
	FORM_BYTES,	/* struct bytes, written like FORM_TEXT */
	FORM_BASE64,	/* struct bytes; if it is not UTF-8, base64 under the key NAME_base64 */
	FORM_KEY,	/* struct bytes, in HBase's \xHH form */
	FORM_DIGEST,	/* uint8_t[16], in lower-case hex */
	FORM_COUNT,	/* uint64_t */
	FORM_SIZE,	/* size_t */
	FORM_UINT,	/* uint32_t */
	FORM_INT,	/* int64_t */
	FORM_INT32,	/* int32_t, 0 or more */
	FORM_RATIO,	/* double, 0 or more */
	FORM_REAL,	/* double */
	FORM_FLAG,	/* bool */
	FORM_CHOICE,	/* an enum whose values are the indexes of choices */
	FORM_CELL_TYPE, /* uint8_t, an enum cell_type */
	FORM_JSON,	/* struct bytes: a JSON value, already written on one line */
	FORM_OBJECT,	/* the same; the value is an object with keys from the data */
	FORM_PART,  /* a struct of `items`; with FORM_IF_ANY its first member is a bool: present */
	FORM_LIST,  /* pointer to structs of `items`, as many as the size_t at count_at */
	FORM_MAP,   /* the same as an object; the first member of each struct becomes the key */
	FORM_TEXTS, /* const char *const *, as many as the size_t at count_at */
	FORM_KEYS,  /* struct bytes *, as many as the size_t at count_at */
	FORM_INTS,  /* int64_t *, as many as the size_t at count_at */
};

enum form_presence {
	FORM_ALWAYS,
	FORM_IF_ANY,  /* left out if empty: NULL, "", 0, false, no items, a part not present */
	FORM_IF,      /* left out unless the bool at if_at is true */
	FORM_OR_NULL, /* null if empty */
	FORM_NULL_IF, /* null if the bool at if_at is true */
	FORM_EITHER,  /* as FORM_IF; if it is left out, the next member has the same key */
};

struct form;

struct form_member {
	const char *key;
	enum form_kind kind;
	size_t at;
	const char *words; /* a sentence for the schema; units */
	enum form_presence presence;
	const struct form *items;
	size_t count_at, if_at;
	const char *const *choices; /* ends with NULL; for FORM_TEXT: the texts that occur */
};

struct form {
	const struct form_member *members;
	size_t count, bytes; /* of members; of the struct */
	const char *name;    /* in `help schema`; NULL: a part of other forms */
	const char *title;   /* the output that has this form */
	unsigned digits;     /* digits of real numbers; 0: 17, which read back exactly */
	bool is_list;	     /* the output is a list of these */
};

/* The rest of a member's line, after its kind: the place of the value in struct S. */
#define IN(S, member)	  .at = offsetof(struct S, member)
#define IF(S, member)	  .if_at = offsetof(struct S, member)
#define COUNT_AT(S, n)	  .count_at = offsetof(struct S, n)
#define ITEMS(S, form, n) .items = &(form), COUNT_AT(S, n)
#define FORM(S, table)                                                                             \
	{                                                                                          \
		.members = (table), sizeof table / sizeof *(table), sizeof(struct S)               \
	}
/* The same with more members of struct form: name, title and others. */
#define NAMED_FORM(S, table, ...)                                                                  \
	{                                                                                          \
		.members = (table), sizeof table / sizeof *(table), sizeof(struct S), __VA_ARGS__  \
	}

/* The layout of the text. For a terminal, controls and marks of direction become \uHHHH. */
enum form_style {
	FORM_FILE,	/* two spaces of indent, a final newline */
	FORM_REPORT,	/* the same for a terminal */
	FORM_FILE_LINE, /* one line without blanks, a final newline */
	FORM_LINE,	/* the same for a terminal */
	FORM_SPACED,	/* one line with blanks for a terminal; no final newline */
};

/* Append the object, or n objects as a list. */
void form_put(struct buf *out, const struct form *f, const void *object, enum form_style style);
void form_put_list(struct buf *out, const struct form *f, const void *items, size_t n,
		   enum form_style style);
/*
 * Append the object up to its last member, whose list or object stays open: the caller appends its
 * items, separated by ", ", and closes it.
 */
void form_open(struct buf *out, const struct form *f, const void *object, enum form_style style);
/* Append `,` and one key of an indented object; the caller appends the value. */
void form_put_key(struct buf *out, const struct form *f, const char *key);
/* Append a value as text without quotes; false: it is left out or null. */
bool form_plain(struct buf *out, const struct form_member *m, const void *object);
bool form_is_integer(const struct form_member *m);
/* Write the object to a file in the style FORM_FILE, durably. */
int form_write(const struct form *f, const void *object, const char *path, struct error *err);

/*
 * Read the JSON text of an object. Members that are left out keep their value, unknown keys are
 * ignored, and all texts and lists are allocated in *a. path is for messages; what names the form:
 * "a manifest". RC_DATA: the text does not have this form.
 */
int form_parse(const struct form *f, void *object, struct bytes text, const char *path,
	       const char *what, struct arena *a, struct error *err);
/* Do the same with a file. */
int form_read(const struct form *f, void *object, const char *path, const char *what,
	      struct arena *a, struct error *err);

/* Append the form as a JSON Schema (2020-12). */
void form_schema(struct buf *out, const struct form *f);

#endif
