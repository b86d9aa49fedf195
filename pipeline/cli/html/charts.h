/* charts.h - draws the charts of the pages */
#ifndef SALTMILL_PAGE_CHARTS_H
#define SALTMILL_PAGE_CHARTS_H

#include "extents.h"

struct region_bar {
	const char *start; /* first row key in HBase's \xHH form; "": the first region */
	uint64_t rows;
	uint64_t bytes, foreseen; /* on disk; equal in a plan */
};

/* Draws a bar per region: its bytes, the predicted bytes and the target. */
void chart_regions(struct buf *out, const struct region_bar *r, size_t n, uint64_t target);
/* Draws a heat map of the keys: first byte (the salt) by the bytes after it. */
void chart_keys(struct buf *out, const struct extents *p);
/*
 * Returns the bytes of the fullest first byte divided by the mean; *n: the number of first bytes.
 * Returns 0 if too many bytes lie in places that span several first bytes.
 */
double chart_keys_balance(const struct extents *p, size_t *n);
/* Draws bytes by cell timestamp. Draws nothing if all cells have the same timestamp. */
void chart_times(struct buf *out, const struct extents *p);
/*
 * Draws each timed place as a dot: timestamp by key space, in bytes. Draws nothing if all
 * timestamps are equal.
 */
void chart_times_of_keys(struct buf *out, const struct extents *p);
/* Appends table rows: how HBase's split algorithms would cut the same number of regions. */
void chart_rivals(struct buf *out, const struct manifest_table *t, const struct extents *p);

/* One load of a stream. */
struct load_bar {
	int64_t ms; /* publication time */
	uint64_t events;
	bool waiting; /* not given to HBase */
};
/* Returns whether the publication times differ. */
bool chart_loads_differ(const struct load_bar *l, size_t n);
/*
 * Draws events by publication time of their load, for loads in any order. Draws nothing if all
 * times are equal.
 */
void chart_loads(struct buf *out, const struct load_bar *l, size_t n);

#endif
