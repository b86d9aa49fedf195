/* load_dirs.h - the loads that a query reads (inside this room only) */
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
 * Add a load's folder, or all published loads of a state folder (state.h), oldest first.  RC_DATA:
 * one of them is gone, or differs from what was published.
 */
int load_dirs_add(struct load_dirs *d, const char *path, struct error *err);
void load_dirs_release(struct load_dirs *d);

#endif
