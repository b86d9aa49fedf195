/*
 * folders.h - the folders of maps and reduces that a command is given
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
 * One with a report.json, or one of such: all that are whole.  "-" is taken as it is.  RC_DATA:
 * neither.
 */
int folders_add(struct folders *f, const char *path, struct error *err);
/* Whatever it is. */
void folders_add_plainly(struct folders *f, const char *path);
void folders_release(struct folders *f);

#endif
