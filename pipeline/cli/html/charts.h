/* charts.h - the page's drawings */
#ifndef SALTMILL_PAGE_CHARTS_H
#define SALTMILL_PAGE_CHARTS_H

#include "extents.h"

struct region_bar {
	const char *start; /* its first key in HBase's \xHH form; "": from the begin */
	uint64_t rows;
	uint64_t bytes, foreseen; /* on disk; of a plan both are the same */
};

/* Regions side by side, their bytes against the target and what was foreseen. */
void chart_regions(struct buf *out, const struct region_bar *r, size_t n, uint64_t target);
/* First byte of the key (a salt's bucket) x what is behind it. */
void chart_keys(struct buf *out, const struct extents *p);
/*
 * The fullest first byte's bytes over the mean of those that there are; *n: how many there are.
 * 0: too much lies in places that reach over several of them to tell.
 */
double chart_keys_balance(const struct extents *p, size_t *n);
/* Bytes by the time of cells; nothing when all have one time. */
void chart_times(struct buf *out, const struct extents *p);
/* Timed places as dots: time x key space, measured in bytes; nothing when all have one time. */
void chart_times_of_keys(struct buf *out, const struct extents *p);
/* The same number of regions cut by HBase's own algorithms: a table's rows. */
void chart_rivals(struct buf *out, const struct manifest_table *t, const struct extents *p);

/* A load of a stream. */
struct load_bar {
	int64_t ms; /* when it was published */
	uint64_t events;
	bool waiting; /* not given to HBase */
};
/* Were they published at times that differ? */
bool chart_loads_differ(const struct load_bar *l, size_t n);
/* Events by the time at which their load was published, in any order; nothing when all have one. */
void chart_loads(struct buf *out, const struct load_bar *l, size_t n);

#endif
