/* room.h - wait for free space on a full disk, as for a broker that does not answer */
#ifndef SALTMILL_ROOM_H
#define SALTMILL_ROOM_H

#include "job.h"
#include "pool.h"

/* Return true if a call failed because the disk is full. */
bool room_is_missing(int rc, const struct error *err);
/*
 * Wait some seconds for free space, and return RC_OK to retry. `*since` is the time when the disk
 * became full, 0 before the first call. After `patience_s` seconds, or the job's `patience`, return
 * the error in `err`. Return RC_STOPPED after a signal.
 */
int room_wait(double *since, const struct job *job, uint64_t patience_s,
	      const struct listener *listener, struct error *err);
/* Report that the disk has room, if it was full. */
void room_end(double *since, const struct listener *listener);

#endif
