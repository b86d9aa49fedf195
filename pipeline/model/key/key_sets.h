/*
 * key_sets.h - sets of byte strings as intervals (inside pipeline/model/key only)
 *
 * An interval holds the strings from lo to before hi, in the order of bytes_cmp; a null hi is
 * without end.  A set's intervals rise, and none touches the next.
 */
#ifndef SALTMILL_KEY_SETS_H
#define SALTMILL_KEY_SETS_H

#include "bytes.h"
#include "mem.h"

struct interval {
	struct bytes lo, hi;
};

struct key_set {
	struct interval *item;
	size_t n;
};

/* The first string behind all that begin with b; null: there is none. */
struct bytes bytes_behind(struct arena *a, struct bytes b);
/* The same, as long as b: of a part of fixed width it is the next number. */
struct bytes bytes_next(struct arena *a, struct bytes b);
struct bytes bytes_join(struct arena *a, struct bytes front, struct bytes back);

struct key_set set_all(struct arena *a);
struct key_set set_of(struct arena *a, struct bytes lo, struct bytes hi);
struct key_set set_not(struct arena *a, struct key_set s);
struct key_set set_and(struct arena *a, struct key_set s, struct key_set t);
struct key_set set_or(struct arena *a, struct key_set s, struct key_set t);
/* Any intervals, in any order, to a set. */
struct key_set set_tidy(struct interval *item, size_t n);

#endif
