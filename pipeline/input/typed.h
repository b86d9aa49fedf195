/*
 * typed.h - columns whose types the source's schema knows
 *
 * A source with a schema hands its values on as text too (spell.h), so that they go the way of
 * all others.  A time that only fields of type time read, each without a form of its own, is the
 * number of milliseconds since 1970, which is read fastest; otherwise ISO 8601.
 */
#ifndef SALTMILL_SOURCE_TYPED_H
#define SALTMILL_SOURCE_TYPED_H

#include "error.h"
#include "job.h"
#include "json_paths.h"

enum typed_as { TYPED_TEXT, TYPED_MS, TYPED_MS_OF_INSTANTS };

/* Paths that the fields name, and for what. */
struct typed_columns {
	const struct job *job;
	const char *const *names;
	const struct json_paths *paths;
	bool may_lack; /* what a schema has not is null: one of many that a topic has */
};

/* What a column is by its schema. */
enum typed_kind {
	KIND_TEXT,   /* as it stands */
	KIND_NUMBER, /* without a unit */
	KIND_TIME,   /* an instant, a local time or a day */
	KIND_OTHER   /* what no field of a type but text and bytes can be */
};

/* RC_CONFIG: a field of the job asks for something else; is: "a timestamp", the schema's word. */
int typed_check(const struct typed_columns *c, size_t column, enum typed_kind kind, const char *is,
		struct error *err);
/* How to write the times of a column. */
enum typed_as typed_form(const struct typed_columns *c, size_t column);
/* RC_CONFIG: the schema has no such column; has: names that are there, of its outermost record. */
int typed_missing(const struct typed_columns *c, size_t column, const struct bytes *has, size_t n,
		  struct error *err);

#endif
