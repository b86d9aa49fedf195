/*
 * schemas.h - what the program writes and prints as JSON, as JSON Schemas
 *
 * A key's type and words stand once, in the tables of pipeline/show/schema_*.c; tests hold them to
 * what comes out: each key that is written is in its schema, each key of a schema is written.
 */
#ifndef SALTMILL_SCHEMAS_H
#define SALTMILL_SCHEMAS_H

#include <stdbool.h>

#include "bytes.h"

/* Append the names of all schemas, with what each is of, a line each. */
void schemas_list(struct buf *out);
/* Append the schema of that name (JSON Schema 2020-12); false: there is none. */
bool schema_json(struct buf *out, const char *name);

#endif
