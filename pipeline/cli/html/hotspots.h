/* hotspots.h - draws the regions that events write over time */
#ifndef SALTMILL_PAGE_HOTSPOTS_H
#define SALTMILL_PAGE_HOTSPOTS_H

#include "bytes.h"
#include "cli/report_views.h"

/* Draw a heat map of regions and time for each replayed table, side by side. */
void part_hotspots(struct buf *out, const struct plan_table_view *tables, size_t n);

#endif
