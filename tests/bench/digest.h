/*
 * digest.h - are the cells of two loads the same, whoever wrote them and however they are cut?
 */
#ifndef SALTMILL_BENCH_DIGEST_H
#define SALTMILL_BENCH_DIGEST_H

#include <stddef.h>

#include "error.h"

/*
 * Print rows, cells and the sum over all cells of a hash of their row, qualifier, value and
 * timestamp, without the first `skip` bytes of the row: a salt, which each program makes its own
 * way.
 */
int digest_files(char **files, size_t nfiles, size_t skip, struct error *err);

#endif
