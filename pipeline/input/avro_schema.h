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
	AVRO_TIME,  /* time of day */
	AVRO_STAMP, /* point in time */
	AVRO_LOCAL_STAMP,
	AVRO_UUID
};

struct avro_type {
	enum avro_kind kind;
	/* ignore unknown or invalid logical types, as the specification requires */
	enum avro_logical logical;
	int scale;	     /* AVRO_DECIMAL */
	int64_t parts;	     /* units per second of AVRO_TIME and the stamps */
	size_t size;	     /* AVRO_FIXED */
	struct bytes *names; /* AVRO_RECORD: field names; AVRO_ENUM: symbols */
	/* types of fields or branches, or in [0] the type of an array's or map's items */
	struct avro_type **of;
	size_t n;
	uint64_t least; /* bytes of the shortest value, at most AVRO_LEAST_MAX */
	/*
	 * no value has bytes; false for a record that contains itself, which may have 2^depth
	 * fields
	 */
	bool empty;
};
#define AVRO_LEAST_MAX 1024

/*
 * Parse a text as a schema. The arena owns `*out`. Return RC_DATA if the text is not a schema. The
 * error contains the place and the reason, but not the file's name.
 */
int avro_schema_read(const struct avro_type **out, struct arena *a, struct bytes text,
		     struct error *err);
/*
 * Parse a schema that refers to other schemas. `names` contains the types of the earlier schemas,
 * and the call adds the types of this schema. All these schemas share one arena.
 */
struct avro_names;
struct avro_names *avro_names_new(struct arena *a);
int avro_schema_read_with(const struct avro_type **out, struct arena *a, struct bytes text,
			  struct avro_names *names, struct error *err);
/* Return the type's name for messages, such as "a record" or "timestamp-millis". */
const char *avro_type_name(const struct avro_type *t);

#endif
