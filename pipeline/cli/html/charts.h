/* charts.h - draws the charts of the pages */
#ifndef SALTMILL_PAGE_CHARTS_H
#define SALTMILL_PAGE_CHARTS_H

#include "extents.h"

struct region_bar {
	struct bytes start; /* first row key; empty for the first region */
	uint64_t rows;
	uint64_t bytes, foreseen; /* bytes on disk, and predicted bytes; both are equal in a plan */
};

/* Draws a bar for each region, with its bytes, its predicted bytes and the target. */
void chart_regions(struct buf *out, const struct region_bar *r, size_t n, uint64_t target);
/*
 * Draws a heat map of the keys. One axis is the first byte (the salt), the other the bytes after
 * it.
 */
void chart_keys(struct buf *out, const struct extents *p);
/*
 * Returns the bytes of the fullest first byte divided by the mean, and sets *n to the number of
 * first bytes. Returns 0 if too many bytes are in places that span several first bytes.
 */
double chart_keys_balance(const struct extents *p, size_t *n);
/* Draws bytes by cell timestamp. Draws nothing if all cells have the same timestamp. */
void chart_times(struct buf *out, const struct extents *p);
/*
 * Draws each timed place as a dot. One axis is the timestamp, the other the key space in bytes.
 * Draws nothing if all timestamps are equal.
 */
void chart_times_of_keys(struct buf *out, const struct extents *p);
/* Appends table rows with the regions that HBase's split algorithms would give. */
void chart_rivals(struct buf *out, const struct manifest_table *t, const struct extents *p);

/* One load of a stream. */
struct load_bar {
	int64_t ms; /* publication time */
	uint64_t events;
	bool waiting; /* true if the load is not in HBase yet */
};
/* Returns true if the publication times differ. */
bool chart_loads_differ(const struct load_bar *l, size_t n);
/*
 * Draws the events of each load at its publication time. The loads may be in any order. Draws
 * nothing if all times are equal.
 */
void chart_loads(struct buf *out, const struct load_bar *l, size_t n);

#endif
