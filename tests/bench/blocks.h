/* blocks.h - measures the minimum work of reading HFiles, which is to decompress and decode their
 * blocks */
#ifndef SALTMILL_BENCH_BLOCKS_H
#define SALTMILL_BENCH_BLOCKS_H

#include "error.h"

/* Prints a line of JSON with the number of data blocks, their plain bytes, and the CPU time of this
 * thread. */
int decode_blocks(char **files, size_t nfiles, struct error *err);

#endif
