/* schema_values.h - list the values of a schema that a job's fields can name */
#ifndef SALTMILL_SOURCE_SCHEMA_VALUES_H
#define SALTMILL_SOURCE_SCHEMA_VALUES_H

#include "mem.h"
#include "source.h"

#define SCHEMA_DEEPEST 16   /* records in records */
#define SCHEMA_MOST    4096 /* values; the rest is left out */

struct schema_values {
	struct arena *arena;
	struct schema_value *item;
	size_t n, left_out;
	struct buf path; /* of the current value */
};

/* Add the value at the current path. */
void schema_values_add(struct schema_values *v, enum field_type type, int scale, bool local);

struct avro_type;
struct arrow_schema;
void avro_values(struct schema_values *v, const struct avro_type *schema);
void arrow_values(struct schema_values *v, const struct arrow_schema *schema);

#endif
