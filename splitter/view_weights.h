/*
 * view_weights.h - the points of a sketch as weights over keys
 */
#ifndef SALTMILL_SPLITTER_VIEW_WEIGHTS_H
#define SALTMILL_SPLITTER_VIEW_WEIGHTS_H

#include "splits.h"
#include "plan.h"

struct view_weights {
	const struct sketch_view *view;
	uint64_t *before; /* before[j]: bytes of the points before j; view->count + 1 entries */
};

/*
 * Make *out answer from the view, which stays open. The answers are exact for the points, and
 * differ from the rows by at most sketch_error. Release with view_weights_close.
 */
void view_weights_open(struct view_weights *w, const struct sketch_view *view,
		       struct key_weights *out);
void view_weights_close(struct view_weights *w);

#endif
