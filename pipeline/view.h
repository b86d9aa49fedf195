/*
 * view.h - a state folder as people look at it: one state, or one a partition (state/shared.h)
 */
#ifndef SALTMILL_VIEW_H
#define SALTMILL_VIEW_H

#include "state/shared.h"

struct view {
	bool is_shared;
	struct shared shared;
	struct state **states;
	char **prefixes; /* of the loads' names: "p00003/", or "" */
	size_t n;
};

#define VIEW_ALL (-1)
/*
 * Open all that is in the folder, or of a shared one only that partition.  write: as state_open.
 * view_close is due whatever the result.
 */
int view_open(struct view *v, const char *dir, int32_t only, bool write, struct error *err);
void view_close(struct view *v);

/* As `saltmill loads` lists it. */
struct view_load {
	const char *prefix;
	const struct state_load *load;
};
/* Oldest first; owned by the caller. */
struct view_load *view_loads(const struct view *v, size_t *n);

#endif
