/*
 * folders.h - lists of folders in options and operands
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
 * Add the folder if it contains report.json. If it does not, add all complete folders in it that
 * contain report.json. Add "-" unchanged. Returns RC_DATA if there is no report.json.
 */
int folders_add(struct folders *f, const char *path, struct error *err);
/* Add the path without checks. */
void folders_add_plainly(struct folders *f, const char *path);
void folders_release(struct folders *f);

#endif
