/* page_parts.h - writes the parts that the pages of a load, a plan and a state share */
#ifndef SALTMILL_PAGE_PAGE_PARTS_H
#define SALTMILL_PAGE_PAGE_PARTS_H

#include "charts.h"
#include "extras.h"

#define LISTED 500 /* rows of a table at most; longer tables are sampled or cut */
#define FAIR   1.1 /* a table is balanced if its largest region is at most 1.1 times the target */

/*
 * Opens an item of the summary list; class: good, warn, bad, plain. Append its sentence, then call
 * part_verdict_end.
 */
void part_verdict(struct buf *out, const char *class, const char *word);
void part_verdict_end(struct buf *out);
/* Writes whether the largest region is near the target. */
void part_balance(struct buf *out, const char *table, size_t regions, double largest_over_target,
		  uint64_t target_bytes, const char *promise);

/* Begin and end a drawing; the caption is HTML. */
void part_figure(struct buf *out);
void part_figure_end(struct buf *out, const char *caption);

/* Appends any text as one shell word, quoted if necessary. tail needs no quotes. */
void part_shell_word(struct buf *out, const char *word, const char *tail);
/* Appends the commands that load a table of the load in dir into HBase. */
void part_bulk_load(struct buf *out, const char *dir, const char *table, bool create);

/* Draws the key heat map if there are at least two places. */
void part_keys(struct buf *out, const struct extents *p);

/* Writes the lint findings, if lint was run. */
void part_findings(struct buf *out, const struct extras *e);
void part_findings_verdict(struct buf *out, const struct extras *e);
/* Writes the phase times, if they were given. */
void part_timings(struct buf *out, const struct extras *e, uint64_t events);

/* Writes regions as a drawing and a table. achieved: bytes are measured, not only predicted. */
void part_regions(struct buf *out, const struct region_bar *r, size_t n, uint64_t target,
		  bool achieved);

#endif
