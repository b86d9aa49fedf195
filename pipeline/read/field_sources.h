/* field_sources.h - the places of a table that have the values of fields (inside pipeline/read only) */
#ifndef SALTMILL_READ_FIELD_SOURCES_H
#define SALTMILL_READ_FIELD_SOURCES_H

#include "by_field.h"

/* The place from which a field is taken. Earlier kinds are better. */
enum source_place { FROM_KEY, FROM_QUALIFIER, FROM_TIMESTAMP, FROM_VALUE, FROM_NOWHERE };

/* The precision of a time. */
enum precision { IN_SECONDS, IN_MILLIS, IN_MICROS };

struct field_source {
	enum source_place place;
	size_t column; /* FROM_QUALIFIER, FROM_VALUE: index of the table's cell */
	size_t part;   /* FROM_KEY, FROM_QUALIFIER: index of the part */
	bool is_text;  /* the place has the text of the source */
	enum precision precision;
	struct layout layout; /* FROM_VALUE */
};

/*
 * Find the best place of each field of the job, in the cells of an event or in a row. A row has its key
 * and the newest values of its columns with constant names. The result, by field, is in the arena.
 */
struct field_source *sources_of_event(const struct stored *stored, struct arena *a);
struct field_source *sources_of_row(const struct stored *stored, struct arena *a);
/*
 * Return true if the place has the whole value of the field, as conditions, salts and hashes need it.
 */
bool source_has(const struct field *f, const struct field_source *s);
/* Return true if the value at the place gives the bytes of `as`. */
bool source_gives(const struct field *f, const struct field_source *s, enum encode_as as);

#endif
