/*
 * view_weights.h - the points of a sketch as weights over keys
 */
#ifndef SALTMILL_SPLITTER_VIEW_WEIGHTS_H
#define SALTMILL_SPLITTER_VIEW_WEIGHTS_H

#include "splits.h"
#include "plan.h"

struct view_weights {
	const struct sketch_view *view;
	uint64_t *before; /* before[j]: bytes of the points before j; view->count + 1 of them */
};

/*
 * *out answers from the view, which stays open: as exactly as the points are, and off the rows by
 * sketch_error at most.  Release with view_weights_close.
 */
void view_weights_open(struct view_weights *w, const struct sketch_view *view,
		       struct key_weights *out);
void view_weights_close(struct view_weights *w);

#endif
