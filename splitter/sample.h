/*
 * sample.h - what a sample holds; for sample.c and the planner
 */
#ifndef SALTMILL_SPLITTER_SAMPLE_H
#define SALTMILL_SPLITTER_SAMPLE_H

#include "plan.h"

/* Prefixes are counted through the first parts only: salt, entity, and one more. */
#define SAMPLE_PREFIXES 3

struct sample {
	struct key_shape shape;
	struct sketch *sketch;
	struct heavy *rows;
	struct heavy *prefixes[SAMPLE_PREFIXES]; /* through part 0, 1, ...; NULL if there is none */
};

#endif
