/* hotspots.h - draws the regions that events write over time */
#ifndef SALTMILL_PAGE_HOTSPOTS_H
#define SALTMILL_PAGE_HOTSPOTS_H

#include "bytes.h"
#include "cli/report_views.h"

/* Begin and end heat maps that are side by side. `any` describes the windows of all of them. */
void part_hotspots_begin(struct buf *out, const struct plan_hotspot_view *any);
void part_hotspots_end(struct buf *out);
/* Words of a heat map: what it counts ("writes"), and the labels of its time axis. */
struct heat_words {
	const char *of, *table, *first, *last;
};
/* Draw a heat map without its caption. */
void part_heat_map(struct buf *out, const struct heat_words *words,
		   const struct plan_hotspot_view *h);
/* Draw the heat map of planned writes of a table. */
void part_hotspot(struct buf *out, const char *table, const struct plan_hotspot_view *h);
/* Draw a heat map of regions and time for each replayed table, side by side. */
void part_hotspots(struct buf *out, const struct plan_table_view *tables, size_t n);

#endif
