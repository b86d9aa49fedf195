/*
 * heavy_state.h - for sample.c
 */
#ifndef SALTMILL_SPLITTER_HEAVY_STATE_H
#define SALTMILL_SPLITTER_HEAVY_STATE_H

#include "heavy.h"

/* heavy_load of what *file starts with; *file gets what follows. */
int heavy_take(struct heavy **out, const char *name, struct bytes *file, struct error *err);

#endif
