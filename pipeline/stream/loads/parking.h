/*
 * parking.h - put aside a shared partition that cannot continue, so that the others can
 *
 * A fault of one partition (too many bad messages, lost offsets, a group that is ahead, a damaged
 * state) must not stop the others, nor the instance: its partitions would stop the next instance
 * too. The partition stays with its instance, but the lock of its state is released. So it can be
 * repaired (`saltmill seek`) while all others run.
 */
#ifndef SALTMILL_PARKING_H
#define SALTMILL_PARKING_H

#include "stream.h"

struct parking {
	bool parked;	  /* true until it has continued successfully */
	int64_t position; /* at its last look; -1: not known */
	int64_t try_ms, delay_ms;
	int64_t changed_ns; /* time of its last record when it was parked */
};

/* Report whether the error concerns only this partition. */
bool parking_is_for(int rc);
/*
 * Park the partition: report it to the listener and in its status, and close its ingest. dir: its
 * state.
 */
void parking_put(struct parking *p, struct stream *s, const char *dir, int32_t id, const char *why);
/* Report whether to retry, because the delay is over or its state has changed. */
bool parking_may_try(struct parking *p, const char *dir);
/* Record that the partition continues. */
void parking_end(struct parking *p, struct stream *s, int32_t id);

#endif
