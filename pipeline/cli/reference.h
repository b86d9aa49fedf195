/*
 * reference.h - the job file's keys as pages: for a terminal, for conf/README.md, for man
 */
#ifndef SALTMILL_REFERENCE_H
#define SALTMILL_REFERENCE_H

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

#endif
