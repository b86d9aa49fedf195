/*
 * typed.h - choose the text form of columns whose types are in the source's schema
 *
 * A source with a schema passes its values as text (spell.h), so that all sources use the same
 * code. Times are milliseconds since 1970 if all fields of the column have type time without a
 * format, because that text is fastest to read. All other times are ISO 8601.
 */
#ifndef SALTMILL_SOURCE_TYPED_H
#define SALTMILL_SOURCE_TYPED_H

#include "error.h"
#include "job.h"
#include "json_paths.h"

enum typed_as { TYPED_TEXT, TYPED_MS, TYPED_MS_OF_INSTANTS };

/* The paths of the fields, with the uses of each. */
struct typed_columns {
	const struct job *job;
	const char *const *names;
	const struct json_paths *paths;
	/*
	 * if true, a column that is missing in the schema is null, because a topic may have several
	 * schemas
	 */
	bool may_lack;
};

/* The kind of a column, from its schema. */
enum typed_kind {
	KIND_TEXT,   /* passed unchanged */
	KIND_NUMBER, /* a number without a unit */
	KIND_TIME,   /* a time with or without a zone, or a day */
	KIND_OTHER   /* only fields of type text or bytes accept this kind */
};

/*
 * Return RC_CONFIG if a field of the job needs another kind. `is` describes the kind in the
 * schema's words, such as "a timestamp".
 */
int typed_check(const struct typed_columns *c, size_t column, enum typed_kind kind, const char *is,
		struct error *err);
/* Choose the text form of the times of a column. */
enum typed_as typed_form(const struct typed_columns *c, size_t column);
/*
 * Set the error for a column that the schema lacks. `has` lists the names in the schema's outermost
 * record. Return RC_CONFIG.
 */
int typed_missing(const struct typed_columns *c, size_t column, const struct bytes *has, size_t n,
		  struct error *err);

#endif
