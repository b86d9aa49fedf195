/*
 * digest.h - compares the cells of two loads, written by any programs and in any files
 */
#ifndef SALTMILL_BENCH_DIGEST_H
#define SALTMILL_BENCH_DIGEST_H

#include <stddef.h>

#include "error.h"

/*
 * Prints the number of rows, the number of cells, and a digest. The digest is the sum of the hashes
 * of each cell's row, qualifier, value and timestamp. It omits the first `skip` bytes of the row,
 * because each program computes the salt in its own way.
 */
int digest_files(char **files, size_t nfiles, size_t skip, struct error *err);

#endif
