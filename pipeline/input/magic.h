/* magic.h - recognize non-text files by their first bytes, and suggest a conversion */
#ifndef SALTMILL_SOURCE_MAGIC_H
#define SALTMILL_SOURCE_MAGIC_H

#include "bytes.h"
#include "error.h"

#define MAGIC_BYTES 16 /* bytes that magic_check examines */

/*
 * Check that `head` may start delimited text. Return RC_DATA if it cannot. The error contains a
 * command that converts the file.
 */
int magic_check(const char *name, struct bytes head, struct error *err);

#endif
