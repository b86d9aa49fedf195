/*
 * reference.h - the job file's keys as pages: for a terminal, for conf/README.md, for man
 */
#ifndef SALTMILL_REFERENCE_H
#define SALTMILL_REFERENCE_H

#include <stdbool.h>

#include "bytes.h"

/* All keys, indented as they stand in a file. */
void reference_text(struct buf *out);
/* The keys of that name, or whose path ends so ("regions.count"); returns how many. */
size_t reference_key(struct buf *out, const char *name);
/* The page conf/README.md. */
void reference_markdown(struct buf *out);
/* The manual page saltmill-job(5), in man's macros. */
void reference_man(struct buf *out);
/* The names of all keys, each once, a line each, in the order of their bytes. */
void reference_names(struct buf *out);

/* Append text for troff: backslashes, and dots and quotes that begin a line, stay what they are. */
void reference_roff(struct buf *out, const char *text);

/*
 * --- what the program writes and prints as JSON, as JSON Schemas
 *
 * A key's type and words stand once, in the tables of pipeline/show/schema_*.c; tests hold them to
 * what comes out: each key that is written is in its schema, each key of a schema is written.
 */

/* Append the names of all schemas, with what each is of, a line each. */
void schemas_list(struct buf *out);
/* Append the schema of that name (JSON Schema 2020-12); false: there is none. */
bool schema_json(struct buf *out, const char *name);

#endif
