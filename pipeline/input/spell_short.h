/*
 * spell_short.h - numbers as short texts, many at once: those of spell_u64 and spell_f64
 */
#ifndef SALTMILL_SOURCE_SPELL_SHORT_H
#define SALTMILL_SOURCE_SPELL_SHORT_H

#include "event.h"

/* n up to EVENT_BATCH; false: some may not be short, and nothing is known of `to`. */
bool spell_short_u64(struct short_text *to, const uint64_t *v, size_t n);
/* Those with up to two digits behind the point and up to five in front of it. */
bool spell_short_f64(struct short_text *to, const double *v, size_t n);

/* What they choose from, by what the processor can; each gives the same texts. */
struct spell_way {
	bool (*u64)(struct short_text *to, const uint64_t *v, size_t n);
	bool (*f64)(struct short_text *to, const double *v, size_t n);
};
#define SPELL_WAYS 2
size_t spell_ways(struct spell_way ways[SPELL_WAYS]);

#endif
