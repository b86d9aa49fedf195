/*
 * cmd_halves.h - functions that unite shares with map and reduce (inside this room only)
 */
#ifndef SALTMILL_CMD_HALVES_H
#define SALTMILL_CMD_HALVES_H

#include "pass.h"
#include "load.h"

/* As command_fail, but return EXIT_DATA if the same input would fail again. */
int halves_fail(const char *name, const struct error *err);
/*
 * Check that the maps have all of the input, and print the creation time for the reduces.
 * *status: the exit status of the printing.
 */
int maps_judge(const struct kept_plan *plan, const struct load_halves *halves, size_t nfiles,
	       bool json, int *status, struct error *err);

#endif
