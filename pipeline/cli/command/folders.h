/*
 * folders.h - lists of folders that options and operands name
 */
#ifndef SALTMILL_CMD_FOLDERS_H
#define SALTMILL_CMD_FOLDERS_H

#include <stddef.h>

#include "error.h"

struct folders {
	char **path;
	size_t n;
};

/*
 * Add the folder if it contains report.json, else all complete folders inside that do.  Add "-" as
 * it is.  RC_DATA: there is no report.json.
 */
int folders_add(struct folders *f, const char *path, struct error *err);
/* Add it without a look. */
void folders_add_plainly(struct folders *f, const char *path);
void folders_release(struct folders *f);

#endif
