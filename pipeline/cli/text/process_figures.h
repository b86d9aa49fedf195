/* process_figures.h - figures of this process, with the names of Prometheus's client libraries */
#ifndef SALTMILL_PROCESS_FIGURES_H
#define SALTMILL_PROCESS_FIGURES_H

#include "bytes.h"

/*
 * Append memory, processor time, start time and open files in the text format of Prometheus. The
 * output omits figures that /proc does not give.
 */
void process_figures(struct buf *b);

#endif
