/*
 * key_weights.h - what a decider of regions asks about the rows: how much of them is below a key
 *
 * The sorter answers exactly (sorter_weights), a sample as well as its sketch can (plan.h). Weights
 * are bytes, or whatever else the regions are to share evenly; every row has some.  A place is
 * known by the weight below it: there are rows between any two.
 */
#ifndef SALTMILL_KEY_WEIGHTS_H
#define SALTMILL_KEY_WEIGHTS_H

#include "bytes.h"
#include "error.h"

/* A place between two row keys. */
struct split_point {
	struct buf below;      /* the row key just below; empty (len 0) when key is the first */
	struct buf key;	       /* the first row key at or above; empty when there are no rows */
	uint64_t weight_below; /* of all rows with a smaller key */
};
void split_point_release(struct split_point *p);

/*
 * Which place near a target: of those whose weight_below differs from it by `slack` at most the
 * least deep one, of these the nearest, of these the smaller.  There being none, the nearest of
 * all.
 */
struct split_choice {
	uint64_t slack; /* 0: the nearest */
	unsigned (*depth)(const void *ctx, struct bytes below, struct bytes key);
	const void *ctx;
};

struct key_weights {
	void *self;
	uint64_t total;
	/*
	 * For each target the place that choice (NULL: the nearest) means.  Targets in any order;
	 * several may get the same place.  out has n entries, {0} before; the caller releases them.
	 */
	int (*select)(void *self, const uint64_t *targets, size_t n,
		      const struct split_choice *choice, struct split_point *out,
		      struct error *err);
	/*
	 * The weight below a key, whether or not a row has it, lies in [*least, *most].  Without
	 * `exact` what is known without reading a row; with it both are the same.
	 */
	int (*below)(void *self, struct bytes key, bool exact, uint64_t *least, uint64_t *most,
		     struct error *err);
};

#endif
