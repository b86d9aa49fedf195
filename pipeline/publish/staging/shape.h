/*
 * shape.h - structs as JSON objects, written and read by one description, within this room
 *
 * A struct has a table of members: JSON key, kind, offset.  Writing and reading both walk the
 * tables, so they cannot disagree, and the order of a table is the order of the keys.
 *
 *   digests   lower-case hex
 *   row keys  \xHH form, as in splits.txt
 */
#ifndef SALTMILL_PUBLISH_SHAPE_H
#define SALTMILL_PUBLISH_SHAPE_H

#include <stddef.h>

#include "bytes.h"
#include "error.h"
#include "mem.h"

enum kind {
	RATIO,	   /* double, 0 or more */
	TEXT,	   /* const char * */
	COUNT,	   /* uint64_t */
	INDEX,	   /* size_t */
	FLAG,	   /* bool */
	MILLIS,	   /* int64_t */
	DIGEST,	   /* uint8_t[16] */
	PARTITION, /* int32_t */
	ROW_KEY,   /* struct bytes */
	PART,	   /* a struct of `items`; its first member tells whether it is there (bool) */
	LIST	   /* pointer to structs of `items`; how many: the size_t at count_at */
};

struct shape;
struct shape_member {
	const char *key;
	enum kind kind;
	size_t at;
	const struct shape *items;
	size_t count_at;
	bool optional; /* not written: NULL TEXT, INDEX 0, a PART that is not there, an empty LIST
			*/
};

struct shape {
	const struct shape_member *members;
	size_t count, bytes;
};

#define SHAPE(S, table)                                                                            \
	static const struct shape S##_shape = {table, sizeof table / sizeof *(table),              \
					       sizeof(struct S)}
/* The same for other files of the room. */
#define SHARED_SHAPE(S, table)                                                                     \
	const struct shape S##_shape = {table, sizeof table / sizeof *(table), sizeof(struct S)}
#define AT(S, name) offsetof(struct S, name)

/* Parts of the manifest that others have too. */
extern const struct shape manifest_file_shape, manifest_column_shape, manifest_tuning_shape,
	reject_reason_shape;

/* Append the JSON text, two spaces of indent, a final newline; nothing: out of memory. */
void shape_format(const struct shape *s, const void *object, unsigned real_digits, struct buf *out);
/* Write it to a file, durably. */
int shape_write(const struct shape *s, const void *object, unsigned real_digits, const char *path,
		struct error *err);
/*
 * Read such text; what has no member is left as it is, and every string and array lives in *a.
 * path is for messages, what: "a manifest".  RC_DATA when it is none.
 */
int shape_parse(const struct shape *s, void *object, struct bytes text, const char *path,
		const char *what, struct arena *a, struct error *err);
/* The same from the file. */
int shape_read(const struct shape *s, void *object, const char *path, const char *what,
	       struct arena *a, struct error *err);

#endif
