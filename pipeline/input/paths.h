/*
 * paths.h - the files that names, patterns and folders stand for
 */
#ifndef SALTMILL_SOURCE_PATHS_H
#define SALTMILL_SOURCE_PATHS_H

#include "error.h"
#include "mem.h"

/*
 * Each name is a file, "-", a folder (its files, not those of folders in it) or, if there is no
 * file of that name, a pattern of glob(7); what one name stands for is in the order of strcmp.
 * Names that begin with a point or an underscore are for a folder and a pattern none: a program
 * that writes there has hidden them.  RC_IO: nothing is there; RC_CONFIG: a file is meant twice.
 */
int paths_expand(struct arena *a, const char *const *names, size_t n, const char ***paths,
		 size_t *npaths, struct error *err);

#endif
