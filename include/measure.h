/*
 * measure.h - what a table's cells take on disk, from a small part of them
 */
#ifndef SALTMILL_MEASURE_H
#define SALTMILL_MEASURE_H

#include "cell_sample.h"

/*
 * Disk bytes per byte of uncompressed cells, HFILE_TRAILER_BYTES a file left aside, from a sample
 * that is written with the table's own codec and encoding in work_dir, a folder that is made and
 * removed.  1 if there are no cells.
 */
int measure_disk_ratio(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		       const struct cell_sample *sample, const char *work_dir, double *ratio,
		       struct error *err);

#endif
