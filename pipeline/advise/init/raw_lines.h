/* raw_lines.h - the lines of a file by iconv and line ends only (private to this folder) */
#ifndef SALTMILL_RAW_LINES_H
#define SALTMILL_RAW_LINES_H

#include <errno.h>

#include "bytes.h"

/*
 * Open a file. `encoding` is a name of iconv, or NULL for UTF-8. Returns NULL if the file is
 * compressed or cannot be opened.
 */
struct raw_lines;
struct raw_lines *raw_lines_open(const char *path, const char *encoding);
void raw_lines_close(struct raw_lines *r);
/*
 * Get the next line without its \n, valid until the next call. Returns false after the last line,
 * and after a failure.
 */
bool raw_lines_next(struct raw_lines *r, struct bytes *line);

#endif
