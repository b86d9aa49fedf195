/* sample.h - the members of a sample, for sample.c and the planner */
#ifndef SALTMILL_SPLITTER_SAMPLE_H
#define SALTMILL_SPLITTER_SAMPLE_H

#include "plan.h"

struct sample {
	struct key_shape shape;
	struct sketch *sketch;
};

#endif
