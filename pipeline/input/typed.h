/*
 * typed.h - columns whose types the source's schema gives
 *
 * A source with a schema also passes its values on as text (spell.h), so that all sources share one
 * path. If all fields that read a time column have type time without a format, the text is
 * milliseconds since 1970, which is fastest to read; otherwise it is ISO 8601.
 */
#ifndef SALTMILL_SOURCE_TYPED_H
#define SALTMILL_SOURCE_TYPED_H

#include "error.h"
#include "job.h"
#include "json_paths.h"

enum typed_as { TYPED_TEXT, TYPED_MS, TYPED_MS_OF_INSTANTS };

/* The paths that the fields name, with the uses of each. */
struct typed_columns {
	const struct job *job;
	const char *const *names;
	const struct json_paths *paths;
	bool may_lack; /* a column missing in the schema is null: a topic has several schemas */
};

/* The kind of a column, from its schema. */
enum typed_kind {
	KIND_TEXT,   /* taken unchanged */
	KIND_NUMBER, /* without a unit */
	KIND_TIME,   /* an instant, a local time or a day */
	KIND_OTHER   /* only fields of type text or bytes accept it */
};

/* RC_CONFIG: a field of the job needs another kind. is: "a timestamp", in the schema's words. */
int typed_check(const struct typed_columns *c, size_t column, enum typed_kind kind, const char *is,
		struct error *err);
/* Choose how to write the times of a column. */
enum typed_as typed_form(const struct typed_columns *c, size_t column);
/* Return RC_CONFIG: the schema has no such column. has: the names in its outermost record. */
int typed_missing(const struct typed_columns *c, size_t column, const struct bytes *has, size_t n,
		  struct error *err);

#endif
