/* live_regions.h - read the regions of a job's tables from a live HBase */
#ifndef SALTMILL_PASS_LIVE_REGIONS_H
#define SALTMILL_PASS_LIVE_REGIONS_H

#include "pass.h"

/*
 * Read the regions of all existing tables into `l->tables` and `l->given`. Return the errors of
 * existing_regions_read.
 */
int live_regions_read(struct existing_regions *l, struct job *job, struct error *err);

#endif
