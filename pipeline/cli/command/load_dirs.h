/* load_dirs.h - the loads that a query reads (inside this folder only) */
#ifndef SALTMILL_CMD_LOAD_DIRS_H
#define SALTMILL_CMD_LOAD_DIRS_H

#include <stddef.h>

#include "error.h"

enum load_dirs_kind { LOAD_DIRS_LOAD, LOAD_DIRS_STATE, LOAD_DIRS_OTHER };
/*
 * Find out whether the folder is a load or a state. A load contains manifest.json. A state contains
 * topic.json, shared.json or loads.
 */
int load_dirs_judge(const char *folder, enum load_dirs_kind *kind, struct error *err);

/* The loads' folders. {0} is an empty list. */
struct load_dirs {
	char **path;
	size_t n;
};

/*
 * Add a load's folder, or all published loads of a state folder (state.h), oldest first. Returns
 * RC_DATA if a load is missing or differs from the published one.
 */
int load_dirs_add(struct load_dirs *d, const char *path, struct error *err);
void load_dirs_release(struct load_dirs *d);

#endif
