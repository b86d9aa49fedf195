/* unite_checks.h - compare the rows of maps and reduces (private to this folder) */
#ifndef SALTMILL_UNITE_CHECKS_H
#define SALTMILL_UNITE_CHECKS_H

#include "half_reports.h"
#include "load_state.h"

/*
 * Sum the rows of each region over all maps into l->totals, or read the sums from the file of
 * --totals. Returns RC_DATA if the file does not fit the plan.
 */
int unite_find_totals(struct load *l, struct error *err);
/*
 * Check that the rows of the region are those that the maps reported. Compare each slice if both
 * reports have slices, else the sum of all slices. Returns RC_DATA if they differ.
 */
int unite_check_region(const struct load *l, size_t table, const struct reduce_region *r,
		       const char *folder, struct error *err);
/* Check that reduces have handled each region with rows. `seen` is [tables][regions]. */
int unite_check_seen(const struct load *l, bool *const *seen, struct error *err);

#endif
