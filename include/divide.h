/*
 * divide.h - the one place that decides how many regions a table gets and where they are cut
 *
 * Implemented in splitter/, and asked by load, plan and drift.
 */
#ifndef SALTMILL_DIVIDE_H
#define SALTMILL_DIVIDE_H

#include "key_shape.h"
#include "key_weights.h"
#include "splits.h"

/* hbase.hregion.max.filesize: where HBase splits a region, and what one is planned for. */
#define REGION_BYTES (UINT64_C(10) << 30)

/* What is asked of a table's regions; zero is not given. */
struct region_rule {
	/* how many: the first of these that is given, else size_bytes of REGION_BYTES */
	uint32_t count;
	uint64_t size_bytes;	      /* of a region on disk */
	uint32_t servers, per_server; /* per_server 0: 10, as HBase's reference guide advises */
	uint32_t min, max;	      /* bounds on the number */
	double headroom;	      /* with size_bytes: 0.5 leaves room for half as much again */
	double tolerance;	      /* largest region / target that is still fine */
	bool align_salt;	      /* a border at each salt bucket */
};

/* The number of regions if the rule says it without the data; 0: it takes their size. */
uint32_t region_rule_stated(const struct region_rule *r);
/* The number of regions for rows of so many bytes on disk; at least 1. */
uint32_t region_rule_count(const struct region_rule *r, double disk_bytes);

struct division {
	const struct key_shape *shape; /* NULL: nothing is known of the keys */
	struct bytes start, end;       /* what is cut; empty: from the first, to the last row */
	size_t regions;		       /* that it should become */
	bool align_salt;
};

/*
 * Append to *out the split keys inside [start, end), rising, as short as they can be.
 *
 * Borders lie where the weight below is an even share; or at a salt bucket's first possible key,
 * when that would leave less than 2 % of a region on its other side (the borders around it share
 * what it costs); or, at the cost of 1 % of a region (it has two ends), where fewer parts of the
 * key are cut through: between two entities rather than inside one.  A row heavier than a region
 * takes several borders, which fall together, so there may be fewer regions than asked.
 *
 * align_salt, for salted keys without start and end: a border at each bucket, and the other regions
 * go to the buckets by what they hold; as many regions as buckets at least.
 */
int divide(const struct key_weights *w, const struct division *d, struct splits *out,
	   struct error *err);

#endif
