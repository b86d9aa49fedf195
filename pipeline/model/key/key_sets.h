/*
 * key_sets.h - sets of byte strings as intervals (inside pipeline/model/key only)
 *
 * An interval contains the strings from `lo` up to, but without, `hi`, in the order of bytes_cmp.
 * If hi.ptr is NULL, there is no upper bound. A set's intervals are in rising order and do not
 * touch.
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

/*
 * Return the first string after all strings that begin with `b`. The result's ptr is NULL if there
 * is no such string.
 */
struct bytes bytes_behind(struct arena *a, struct bytes b);
/*
 * Return the first string of the length of `b` after all strings that begin with `b`. For a number
 * of fixed width, this is the next number.
 */
struct bytes bytes_next(struct arena *a, struct bytes b);
struct bytes bytes_join(struct arena *a, struct bytes front, struct bytes back);

struct key_set set_all(struct arena *a);
struct key_set set_of(struct arena *a, struct bytes lo, struct bytes hi);
struct key_set set_not(struct arena *a, struct key_set s);
struct key_set set_and(struct arena *a, struct key_set s, struct key_set t);
struct key_set set_or(struct arena *a, struct key_set s, struct key_set t);
/* Make a set from any intervals in any order. */
struct key_set set_tidy(struct interval *item, size_t n);

#endif
