/*
 * reference.h - prints the keys of the job file for a terminal, for conf/README.md and for man
 */
#ifndef SALTMILL_REFERENCE_H
#define SALTMILL_REFERENCE_H

#include "bytes.h"

/* Append all keys, indented as in a job file. */
void reference_text(struct buf *out);
/*
 * Append the keys that have this name, or whose path ends in it, such as "regions.count". Returns
 * the number of keys.
 */
size_t reference_key(struct buf *out, const char *name);
/* Return a key with a similar name, or NULL. The caller frees it by mem_free. */
char *reference_near(const char *name);
/* Append the page conf/README.md. */
void reference_markdown(struct buf *out);
/* Append the manual page saltmill-job(5), in macros of man. */
void reference_man(struct buf *out);
/* Append the names of all keys, one on each line, sorted by bytes. A name occurs once. */
void reference_names(struct buf *out);

/* Append text for troff. Escapes backslashes, and dots and quotes at the start of a line. */
void reference_roff(struct buf *out, const char *text);

#endif
