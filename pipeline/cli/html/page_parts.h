/* page_parts.h - writes the parts that the pages of a load, a plan and a state share */
#ifndef SALTMILL_PAGE_PAGE_PARTS_H
#define SALTMILL_PAGE_PAGE_PARTS_H

#include "charts.h"
#include "extras.h"

#define LISTED 500 /* largest number of rows in a table; the page omits further rows */
#define FAIR   1.1 /* largest region of a balanced table, as a multiple of the target */

/*
 * Opens an item of the summary list. `class` is good, warn, bad or plain. Append the item's
 * sentence, then call part_verdict_end.
 */
void part_verdict(struct buf *out, const char *class, const char *word);
void part_verdict_end(struct buf *out);
/* Writes whether the largest region is near the target. */
void part_balance(struct buf *out, const char *table, size_t regions, double largest_over_target,
		  uint64_t target_bytes, const char *promise);

/* Begin and end a drawing. The caption is HTML. */
void part_figure(struct buf *out);
void part_figure_end(struct buf *out, const char *caption);

/* Appends a text as one shell word, quoted if necessary. Then appends `tail` without quotes. */
void part_shell_word(struct buf *out, const char *word, const char *tail);
/* Appends the commands that bulk load a table into HBase from the load in `dir`. */
void part_bulk_load(struct buf *out, const char *dir, const char *table, bool create);

/* Draws the key heat map if there are at least two places. */
void part_keys(struct buf *out, const struct extents *p);

/* Writes the findings of lint if the caller passes them. */
void part_findings(struct buf *out, const struct extras *e);
void part_findings_verdict(struct buf *out, const struct extras *e);
/* Writes the phase times, if the user passed them. */
void part_timings(struct buf *out, const struct extras *e, uint64_t events);

/*
 * Writes regions as a drawing and a table. `achieved` is true for measured bytes, and false for
 * predicted bytes.
 */
void part_regions(struct buf *out, const struct region_bar *r, size_t n, uint64_t target,
		  bool achieved);

#endif
