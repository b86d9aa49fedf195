/* load_dirs.h - the loads that a command is asked to look into (inside pipeline/cli/command only) */
#ifndef SALTMILL_CMD_LOAD_DIRS_H
#define SALTMILL_CMD_LOAD_DIRS_H

#include <stddef.h>

#include "error.h"

/* {0} is empty. */
struct load_dirs {
	char **path;
	size_t n;
};

/*
 * A load's folder; or a state folder (state.h): all that it has published, as `saltmill loads`
 * lists them, oldest first.  RC_DATA: one of them is not there any more, or not what was published.
 */
int load_dirs_add(struct load_dirs *d, const char *path, struct error *err);
void load_dirs_release(struct load_dirs *d);

#endif
