/*
 * form.h - JSON forms; one description gives the writer, the reader and the schema
 *
 *   form_write, form_read                 files
 *   form_put, form_open, form_parse       texts
 *   form_schema                           `saltmill help schema`
 *
 * A form is a table of members. Each member has a key, a kind, the place of its value in a C
 * struct, and a description. The reader, the writer and `saltmill help schema` use the same table,
 * so they always agree. The keys have the order of the table.
 */
#ifndef SALTMILL_FORM_H
#define SALTMILL_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "bytes.h"
#include "error.h"
#include "mem.h"

enum form_kind {
	FORM_TEXT,  /* const char *; the writer replaces bytes that are not UTF-8 by \xHH */
	FORM_CHARS, /* char[count_at], NUL-terminated */
	FORM_BYTES, /* struct bytes, written like FORM_TEXT */
	/*
	 * struct bytes; if they are not UTF-8, the writer encodes them as base64 under the key
	 * NAME_base64
	 */
	FORM_BASE64,
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
	FORM_JSON,	/* struct bytes: a JSON value, already formatted on one line */
	FORM_OBJECT,	/* as FORM_JSON, for an object whose keys come from the data */
	/*
	 * a struct of `items`; with FORM_IF_ANY, its first member is a bool that is true if the
	 * part is present
	 */
	FORM_PART,
	FORM_LIST, /* pointer to structs of `items`; the size_t at count_at is their number */
	/* as FORM_LIST, written as an object; the first member of each struct is the key */
	FORM_MAP,
	FORM_TEXTS, /* const char *const *; the size_t at count_at is the number of texts */
	FORM_KEYS,  /* struct bytes *; the size_t at count_at is the number of keys */
	FORM_INTS,  /* int64_t *; the size_t at count_at is the number of integers */
};

enum form_presence {
	FORM_ALWAYS,
	/* left out if the value is NULL, "", 0, false, an empty list or an absent part */
	FORM_IF_ANY,
	FORM_IF,      /* left out unless the bool at if_at is true */
	FORM_OR_NULL, /* null if empty; readers also accept a file without this member */
	FORM_NULL_IF, /* null if the bool at if_at is true */
	/*
	 * as FORM_IF; if the writer omits this member, it writes the next member, which has the
	 * same key
	 */
	FORM_EITHER,
	FORM_NEWER, /* in every new file; files of older versions lack this member */
};

/*
 * A sealed object ends with the member `digest`. The digest is XXH3-128, in hex, of the other
 * members as JSON without spaces and with sorted keys. So it does not depend on the layout of the
 * file.
 */
enum form_seal {
	FORM_UNSEALED,
	FORM_SEALED,
	FORM_SEALED_LATER, /* files of older versions have no digest */
};

struct form;

struct form_member {
	const char *key;
	enum form_kind kind;
	size_t at;
	const char *words; /* description in the schema, with units */
	enum form_presence presence;
	const struct form *items;
	size_t count_at, if_at;
	/* names of the choices, ended by NULL; for FORM_TEXT, the possible texts */
	const char *const *choices;
};

struct form {
	const struct form_member *members;
	size_t count, bytes; /* number of members; size of the struct */
	const char *name;    /* name in `help schema`; NULL if only other forms use this form */
	const char *title;   /* the output that has this form */
	/*
	 * significant digits of real numbers; 0 means 17, so that readers get exactly the same
	 * number
	 */
	unsigned digits;
	bool is_list; /* the output is a list of these structs */
	enum form_seal seal;
};

/* Macros for the place of a member's value in struct S. */
#define IN(S, member)	  .at = offsetof(struct S, member)
#define IF(S, member)	  .if_at = offsetof(struct S, member)
#define COUNT_AT(S, n)	  .count_at = offsetof(struct S, n)
#define ITEMS(S, form, n) .items = &(form), COUNT_AT(S, n)
#define FORM(S, table)                                                                             \
	{                                                                                          \
		.members = (table), sizeof table / sizeof *(table), sizeof(struct S)               \
	}
/* The same, but it also sets more members of struct form, such as `name` and `title`. */
#define NAMED_FORM(S, table, ...)                                                                  \
	{                                                                                          \
		.members = (table), sizeof table / sizeof *(table), sizeof(struct S), __VA_ARGS__  \
	}

/*
 * The layout of the text. For a terminal, control characters and marks of direction become \uHHHH.
 */
enum form_style {
	FORM_FILE,	/* two spaces of indent, a final newline */
	FORM_REPORT,	/* as FORM_FILE, but for a terminal */
	FORM_NARROW,	/* one space of indent, a final newline */
	FORM_FILE_LINE, /* one line without spaces, a final newline */
	FORM_LINE,	/* as FORM_FILE_LINE, but for a terminal */
	FORM_SPACED,	/* one line with spaces, for a terminal; no final newline */
};

/* Append the object, or `n` objects as a list. */
void form_put(struct buf *out, const struct form *f, const void *object, enum form_style style);
void form_put_list(struct buf *out, const struct form *f, const void *items, size_t n,
		   enum form_style style);
/*
 * Append the object up to its last member, and leave the list or object of that member open. The
 * caller appends the items, separated by ", ", and closes the list or object.
 */
void form_open(struct buf *out, const struct form *f, const void *object, enum form_style style);
/* Append `,` and a key of an indented object. The caller appends the value. */
void form_put_key(struct buf *out, const struct form *f, const char *key);
/* Append a value as text without quotes. Returns false if the value is absent or null. */
bool form_plain(struct buf *out, const struct form_member *m, const void *object);
bool form_is_integer(const struct form_member *m);
/* Write the object to a file in the style FORM_FILE, durably. */
int form_write(const struct form *f, const void *object, const char *path, struct error *err);

/*
 * Read the JSON text of an object. Absent members keep their value. The function ignores unknown
 * keys. The function allocates all texts and lists in *a. `path` is for messages. `what` is the
 * form's name in messages, such as "a manifest". Returns RC_DATA if the text does not have this
 * form.
 */
int form_parse(const struct form *f, void *object, struct bytes text, const char *path,
	       const char *what, struct arena *a, struct error *err);
/* Read a list of objects, as form_parse reads one object. *items becomes an array of *n structs in
 * *a. */
int form_parse_list(const struct form *f, void **items, size_t *n, struct bytes text,
		    const char *path, const char *what, struct arena *a, struct error *err);
/* Read an object from the file `path`, as form_parse reads a text. */
int form_read(const struct form *f, void *object, const char *path, const char *what,
	      struct arena *a, struct error *err);

/* Append the form as a JSON Schema (2020-12). */
void form_schema(struct buf *out, const struct form *f);

#endif
