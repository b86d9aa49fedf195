/*
 * parking.h - a shared partition that cannot go on is put aside, and the others go on
 *
 * Too many bad messages, lost offsets, a group that is ahead, a damaged state: what is wrong with
 * one partition is no reason to stop the others, nor the instance, whose partitions would then stop
 * the next one.  It stays with its instance, but its state's lock is let go, so that it can be
 * mended (`saltmill seek`) while all others run.
 */
#ifndef SALTMILL_PARKING_H
#define SALTMILL_PARKING_H

#include "stream.h"

struct parking {
	bool parked;	  /* until it has shown that it goes on */
	int64_t position; /* of its last look; -1: not known */
	int64_t try_ms, delay_ms;
	int64_t changed_ns; /* its folder, when it was parked */
};

/* Is that a fault of the partition, which others do not share? */
bool parking_is_for(int rc);
/* Report it to the listener and in its status, and close its ingest.  dir: of its state. */
void parking_put(struct parking *p, struct stream *s, const char *dir, int32_t id, const char *why);
/* May it be tried again?  By time, or because somebody has changed its state. */
bool parking_may_try(struct parking *p, const char *dir);
/* It goes on. */
void parking_end(struct parking *p, struct stream *s, int32_t id);

#endif
