/*
 * avro_schema.h - an Avro schema, read and resolved
 *
 * Avro 1.11 specification, "Schema Declaration".  Names are resolved: a type that names itself
 * points to itself, so what walks types must bound its depth.
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
	enum avro_logical logical; /* one that is unknown or does not fit is none, as it must be */
	int scale;		   /* AVRO_DECIMAL */
	int64_t parts;		   /* of a second: AVRO_TIME, the stamps */
	size_t size;		   /* AVRO_FIXED */
	struct bytes *names;	   /* AVRO_RECORD: of fields; AVRO_ENUM: symbols */
	struct avro_type **of;	   /* fields, branches, or [0]: the items of an array or a map */
	size_t n;
	uint64_t least; /* bytes of the shortest value, at most AVRO_LEAST_MAX */
};
#define AVRO_LEAST_MAX 1024

/*
 * *out lives in the arena.  RC_DATA: text is no schema; the sentence says where and why, without
 * the file.
 */
int avro_schema_read(const struct avro_type **out, struct arena *a, struct bytes text,
		     struct error *err);
/*
 * The same of a schema that refers to others: names has the types that were read with it before,
 * and those of this one behind.  In the same arena, all of them.
 */
struct avro_names;
struct avro_names *avro_names_new(struct arena *a);
int avro_schema_read_with(const struct avro_type **out, struct arena *a, struct bytes text,
			  struct avro_names *names, struct error *err);
/* "a record", "timestamp-millis" */
const char *avro_type_name(const struct avro_type *t);

#endif
