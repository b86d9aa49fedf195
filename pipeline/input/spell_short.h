/* spell_short.h - write many numbers as short texts at once, like spell_u64 and spell_f64 */
#ifndef SALTMILL_SOURCE_SPELL_SHORT_H
#define SALTMILL_SOURCE_SPELL_SHORT_H

#include "event.h"

/*
 * Write `n` numbers, at most EVENT_BATCH, as short texts. Return false if some texts may not be
 * short. The contents of `to` are undefined after this.
 */
bool spell_short_u64(struct short_text *to, const uint64_t *v, size_t n);
/*
 * Write numbers with at most five digits before the point and two digits after the point. The
 * result is as in spell_short_u64.
 */
bool spell_short_f64(struct short_text *to, const double *v, size_t n);

/* An implementation for some CPUs. All implementations write the same texts. */
struct spell_way {
	bool (*u64)(struct short_text *to, const uint64_t *v, size_t n);
	bool (*f64)(struct short_text *to, const double *v, size_t n);
};
#define SPELL_WAYS 2
size_t spell_ways(struct spell_way ways[SPELL_WAYS]);

#endif
