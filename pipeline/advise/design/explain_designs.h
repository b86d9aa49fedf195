/* explain_designs.h - the result of a design run, with its sentences (inside this folder only) */
#ifndef SALTMILL_DESIGN_EXPLAIN_DESIGNS_H
#define SALTMILL_DESIGN_EXPLAIN_DESIGNS_H

#include "designs.h"

/* Fill out->list with the tables of the job as one design. */
void design_describe_job(struct design_result *out, const struct designer *d,
			 const struct draws *draws);
/*
 * Fill out->list with the recommended design, the next best ones and the obvious ones, and
 * out->notes. `all` is ranked.
 */
void design_describe(struct design_result *out, const struct designer *d,
		     const struct combinations *all, const struct draws *draws);

/*
 * --- settings of the families (families.c) ---
 *
 * Choose the Bloom filter and the block size of a table, with the reason.
 */
void families_advise(const struct designer *d, const struct combination *c, const struct design *g,
		     size_t t, struct arena *a);
/* Append notes about TTL, versions and families, one a line, each with a figure. */
void families_note(const struct designer *d, struct buf *out);
/* Return the age in seconds of the oldest event that a question may read, or 0 if any. */
double families_window(const struct designer *d);

#endif
