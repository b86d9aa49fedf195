/*
 * divide.h - where to cut a sketch's points into regions
 */
#ifndef SALTMILL_SPLITTER_DIVIDE_H
#define SALTMILL_SPLITTER_DIVIDE_H

#include "plan.h"

/* The points of a sketch with the sums that cutting needs. */
struct divider {
	const struct sketch_view *view;
	const struct key_shape *shape;
	uint64_t *below;   /* below[j]: bytes of the points before j; view->count + 1 of them */
	double target;	   /* bytes a region should have */
	size_t *bucket_at; /* first point of each salt bucket, and count; NULL if not salted */
	size_t nbuckets;
};

void divider_open(struct divider *c, const struct sketch_view *view, const struct key_shape *shape,
		  double target);
void divider_close(struct divider *c);
/* At most `regions` regions over all points. */
int divide_freely(struct divider *c, size_t regions, struct splits *out, struct error *err);
/* A boundary at each salt bucket; `regions` or the number of buckets, whichever is more. */
int divide_aligned(struct divider *c, size_t regions, struct splits *out, struct error *err);

#endif
