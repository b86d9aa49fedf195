/*
 * view_weights.h - the points of a sketch as weights over keys
 */
#ifndef SALTMILL_SPLITTER_VIEW_WEIGHTS_H
#define SALTMILL_SPLITTER_VIEW_WEIGHTS_H

#include "splits.h"
#include "plan.h"

struct view_weights {
	const struct sketch_view *view;
	/*
	 * before[j] is the number of bytes of the points before j; there are view->count + 1
	 * entries
	 */
	uint64_t *before;
};

/*
 * Set *out to the weights of the view, which must stay open. These weights are exact for the
 * points. They differ from the true weights of the rows by at most sketch_error. Release the
 * weights with view_weights_close.
 */
void view_weights_open(struct view_weights *w, const struct sketch_view *view,
		       struct key_weights *out);
void view_weights_close(struct view_weights *w);

#endif
