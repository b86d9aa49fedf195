/* magic.h - recognize non-text files by their first bytes, and say how to convert them */
#ifndef SALTMILL_SOURCE_MAGIC_H
#define SALTMILL_SOURCE_MAGIC_H

#include "bytes.h"
#include "error.h"

#define MAGIC_BYTES 16 /* bytes that magic_check examines */

/*
 * Check that head may start delimited text. RC_DATA: it surely does not; the error gives a command.
 */
int magic_check(const char *name, struct bytes head, struct error *err);

#endif
