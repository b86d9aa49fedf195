/* paths.h - expand names, patterns and folders to files */
#ifndef SALTMILL_SOURCE_PATHS_H
#define SALTMILL_SOURCE_PATHS_H

#include "error.h"
#include "mem.h"

/*
 * Expand each name. It is a file, "-", a folder, or, if no such file exists, a pattern of glob(7).
 * A folder gives its own files, not those of its subfolders. The files of a name are in strcmp
 * order. Patterns and folders skip names that begin with . or _, because a writing program hid
 * them. RC_IO: nothing found. RC_CONFIG: a file was found twice.
 */
int paths_expand(struct arena *a, const char *const *names, size_t n, const char ***paths,
		 size_t *npaths, struct error *err);

#endif
