/* live_regions.h - the regions of a job's tables in a live HBase */
#ifndef SALTMILL_PASS_LIVE_REGIONS_H
#define SALTMILL_PASS_LIVE_REGIONS_H

#include "pass.h"

/*
 * Read the regions of all existing tables into l->tables and l->given; errors as
 * existing_regions_read.
 */
int live_regions_read(struct existing_regions *l, const struct job *job, struct error *err);

#endif
