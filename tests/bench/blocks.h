/* blocks.h - what reading HFiles takes at the least: their blocks, decompressed and decoded */
#ifndef SALTMILL_BENCH_BLOCKS_H
#define SALTMILL_BENCH_BLOCKS_H

#include "error.h"

/* Print a line of JSON: data blocks, their plain bytes, and the CPU time of this thread. */
int decode_blocks(char **files, size_t nfiles, struct error *err);

#endif
