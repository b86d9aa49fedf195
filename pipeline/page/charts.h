/* charts.h - the page's drawings of a table */
#ifndef SALTMILL_PAGE_CHARTS_H
#define SALTMILL_PAGE_CHARTS_H

#include "extents.h"

/* Regions side by side, their bytes against the target and what was foreseen. */
void chart_regions(struct buf *out, const struct manifest_table *t);
/* First byte of the key (a salt's bucket) x what is behind it. */
void chart_keys(struct buf *out, const struct extents *p);
/* Bytes by the time of cells; nothing when all have one time. */
void chart_times(struct buf *out, const struct extents *p);
/* The same number of regions cut by HBase's own algorithms: a table's rows. */
void chart_rivals(struct buf *out, const struct manifest_table *t, const struct extents *p);

#endif
