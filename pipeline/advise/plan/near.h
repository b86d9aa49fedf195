/*
 * near.h - neighbourhoods, which are rows whose keys begin alike (inside pipeline/advise/plan only)
 */
#ifndef SALTMILL_PLAN_NEAR_H
#define SALTMILL_PLAN_NEAR_H

#include "splits.h"

/* The rule that decides whether two rows of a table are neighbours. */
struct near {
	const struct key_shape *shape;
	size_t bytes; /* number of first bytes that neighbours share; 0 if this number varies */
};
/* Return the rule for a shape. The result borrows `shape`. */
struct near near_of(const struct key_shape *shape);
/* Hash a row's neighbourhood. The function is fast, because it runs for each row of the input. */
uint64_t near_hash(const struct near *n, struct bytes key);

#endif
