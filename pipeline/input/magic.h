/*
 * magic.h - files that are no text, by their first bytes, and what makes text of them
 */
#ifndef SALTMILL_SOURCE_MAGIC_H
#define SALTMILL_SOURCE_MAGIC_H

#include "bytes.h"
#include "error.h"

#define MAGIC_BYTES 16 /* as many as are looked at */

/* RC_DATA, with the way out, if head is the start of what is surely no delimited text. */
int magic_check(const char *name, struct bytes head, struct error *err);

#endif
