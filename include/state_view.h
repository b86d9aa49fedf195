/*
 * state_view.h - a state folder as people look at it: one state, or one a partition
 * (shared_state.h)
 */
#ifndef SALTMILL_STATE_VIEW_H
#define SALTMILL_STATE_VIEW_H

#include "shared_state.h"

struct state_view {
	bool is_shared;
	struct shared shared;
	struct state **states;
	char **prefixes; /* of the loads' names: "p00003/", or "" */
	size_t n;
};

#define VIEW_ALL (-1)
/*
 * Open all that is in the folder, or of a shared one only that partition.  write: as state_open.
 * state_view_close is due whatever the result.
 */
int state_view_open(struct state_view *v, const char *dir, int32_t only, bool write,
		    struct error *err);
void state_view_close(struct state_view *v);

/* As `saltmill loads` lists it. */
struct state_view_load {
	const char *prefix;
	const struct state_load *load;
};
/* Oldest first; *out is owned by the caller whatever the result. */
int state_view_loads(const struct state_view *v, struct state_view_load **out, size_t *n,
		     struct error *err);

#endif
