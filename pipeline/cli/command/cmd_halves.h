/*
 * cmd_halves.h - functions that unite shares with map and reduce (inside this folder only)
 */
#ifndef SALTMILL_CMD_HALVES_H
#define SALTMILL_CMD_HALVES_H

#include "pass.h"
#include "load.h"

/*
 * Print the failure as command_fail does. Returns EXIT_DATA if a retry with the same input would
 * fail too.
 */
int halves_fail(const char *name, const struct error *err);
/*
 * Check that the maps contain all of the input. Print their counts and the creation time for the
 * reduces. *status receives the exit status of the print.
 */
int maps_judge(const struct kept_plan *plan, const struct load_halves *halves, size_t nfiles,
	       bool json, int *status, struct error *err);

#endif
