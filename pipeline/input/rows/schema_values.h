/* schema_values.h - list the values of a schema that a job's fields can name */
#ifndef SALTMILL_SOURCE_SCHEMA_VALUES_H
#define SALTMILL_SOURCE_SCHEMA_VALUES_H

#include "mem.h"
#include "source.h"

#define SCHEMA_DEEPEST 16   /* deepest nesting of records */
#define SCHEMA_MOST    4096 /* most values; the list omits more */
/* most fields to visit; a record that contains its own type twice has 2^depth fields */
#define SCHEMA_VISITED (1u << 18)

struct schema_values {
	struct arena *arena;
	struct schema_value *item;
	size_t n, left_out, visited;
	struct buf path; /* path of the current value */
};

/* Add the value at the current path. */
void schema_values_add(struct schema_values *v, enum field_type type, int scale, bool local);

struct avro_type;
struct arrow_schema;
void avro_values(struct schema_values *v, const struct avro_type *schema);
void arrow_values(struct schema_values *v, const struct arrow_schema *schema);

#endif
