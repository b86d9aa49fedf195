/* page_parts.h - what the pages of a load, a plan and a state have in common */
#ifndef SALTMILL_PAGE_PAGE_PARTS_H
#define SALTMILL_PAGE_PAGE_PARTS_H

#include "charts.h"
#include "extras.h"

#define LISTED 500 /* rows of a table, of more some are left out */
#define FAIR   1.1 /* a largest region of up to so many times the target is balanced */

/* An item of the list at the top; class: good, warn, bad, plain.  Its sentence stands between both.
 */
void part_verdict(struct buf *out, const char *class, const char *word);
void part_verdict_end(struct buf *out);
/* Is the largest region near the target? */
void part_balance(struct buf *out, const char *table, size_t regions, double largest_over_target,
		  uint64_t target_bytes, const char *promise);

/* Begin and end a drawing; the caption is HTML. */
void part_figure(struct buf *out);
void part_figure_end(struct buf *out, const char *caption);

/* A word of a shell's command, whatever is in it, with a tail that needs no quotes. */
void part_shell_word(struct buf *out, const char *word, const char *tail);
/* The lines that bring a table of the load in dir into HBase. */
void part_bulk_load(struct buf *out, const char *dir, const char *table, bool create);

/* Where the keys lie, if there are two places at least. */
void part_keys(struct buf *out, const struct extents *p);

/* What lint found, where it was asked. */
void part_findings(struct buf *out, const struct extras *e);
void part_findings_verdict(struct buf *out, const struct extras *e);
/* The seconds of the run, where they were told. */
void part_timings(struct buf *out, const struct extras *e, uint64_t events);

/* Regions as a drawing and a table; achieved: their bytes are not only foreseen. */
void part_regions(struct buf *out, const struct region_bar *r, size_t n, uint64_t target,
		  bool achieved);

#endif
