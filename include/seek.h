/*
 * seek.h - `saltmill seek`: positions set by hand, as far as can be told not to ones that cannot be
 */
#ifndef SALTMILL_SEEK_H
#define SALTMILL_SEEK_H

#include "kafka.h"
#include "state.h"

/* What became of one position. */
struct seek_step {
	const char *topic; /* NULL: the state's only one, or the one without a name */
	int32_t partition;
	bool was_set; /* there was a position before, `from` */
	int64_t from, to;
	uint64_t lost; /* of the offsets that are skipped: the topic has no more */
	/* Loads that have offsets which will be read again. */
	size_t nloads;
	const char *first, *last; /* the oldest and the newest of them; NULL: none */
};

struct seek_result {
	struct seek_step *steps; /* those that were taken, also when a later one failed */
	size_t n;
	char why_unasked[760]; /* the broker was not asked what it has; "": it was */
	struct arena arena;
};
void seek_result_release(struct seek_result *r);

/*
 * The job that the state's loads were made by, as their newest manifest names it; owned by the
 * caller, NULL when none tells.
 */
char *seek_job_path(const char *state_dir);

/*
 * Set positions (end of each range; by topic and partition, each once; of one topic they need no
 * topic, and lose it where the state's places name none).  RC_CONFIG, and nothing is set: no such
 * state, a partition or an offset that the topic has not.  The latter is asked of the brokers of
 * job; NULL, or none that answers soon: only what the state knows is checked.
 */
int seek_run(const char *state_dir, const struct job *job, struct offset_range *to, size_t n,
	     struct seek_result *result, struct error *err);

#endif
