/*
 * cmd_halves.h - what unite shares with map and reduce
 */
#ifndef SALTMILL_CMD_HALVES_H
#define SALTMILL_CMD_HALVES_H

#include "pass.h"
#include "load.h"

/* As command_fail, but EXIT_DATA for what the same input would bring again. */
int halves_fail(const char *name, const struct error *err);
/*
 * Before anything is reduced: do the maps have all of the input, and which time shall the files
 * tell?  Printed when they have; *status then says how that went.
 */
int maps_judge(const struct kept_plan *plan, const struct load_halves *halves, size_t nfiles,
	       bool json, int *status, struct error *err);

#endif
