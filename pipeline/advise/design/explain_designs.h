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

#endif
