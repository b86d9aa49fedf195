/*
 * avro_schema.h - parse an Avro schema and resolve its names
 *
 * Avro 1.11 specification, "Schema Declaration". A type that refers to itself points to itself, so
 * code that walks types must limit its depth.
 */
#ifndef SALTMILL_SOURCE_AVRO_SCHEMA_H
#define SALTMILL_SOURCE_AVRO_SCHEMA_H

#include "bytes.h"
#include "error.h"
#include "mem.h"

enum avro_kind {
	AVRO_NULL,
	AVRO_BOOLEAN,
	AVRO_INT,
	AVRO_LONG,
	AVRO_FLOAT,
	AVRO_DOUBLE,
	AVRO_BYTES,
	AVRO_STRING,
	AVRO_RECORD,
	AVRO_ENUM,
	AVRO_ARRAY,
	AVRO_MAP,
	AVRO_UNION,
	AVRO_FIXED
};

enum avro_logical {
	AVRO_PLAIN,
	AVRO_DECIMAL,
	AVRO_DATE,
	AVRO_TIME,  /* of day */
	AVRO_STAMP, /* an instant */
	AVRO_LOCAL_STAMP,
	AVRO_UUID
};

struct avro_type {
	enum avro_kind kind;
	/* unknown or unfitting ones are ignored, as the specification requires */
	enum avro_logical logical;
	int scale;	       /* AVRO_DECIMAL */
	int64_t parts;	       /* per second: AVRO_TIME, the stamps */
	size_t size;	       /* AVRO_FIXED */
	struct bytes *names;   /* AVRO_RECORD: field names; AVRO_ENUM: symbols */
	struct avro_type **of; /* fields, branches, or [0]: the items of an array or map */
	size_t n;
	uint64_t least; /* bytes of the shortest value, at most AVRO_LEAST_MAX */
};
#define AVRO_LEAST_MAX 1024

/*
 * Parse text as a schema; *out lives in the arena. RC_DATA: text is not a schema; the error says
 * where and why, but does not name the file.
 */
int avro_schema_read(const struct avro_type **out, struct arena *a, struct bytes text,
		     struct error *err);
/*
 * Parse a schema that refers to others. names contains the types of the schemas read with it
 * before; the types of this one are added. All of them share one arena.
 */
struct avro_names;
struct avro_names *avro_names_new(struct arena *a);
int avro_schema_read_with(const struct avro_type **out, struct arena *a, struct bytes text,
			  struct avro_names *names, struct error *err);
/* "a record", "timestamp-millis" */
const char *avro_type_name(const struct avro_type *t);

#endif
