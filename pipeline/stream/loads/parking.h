/*
 * parking.h - park a shared partition that cannot continue, so that the other partitions can
 * continue
 *
 * A fault of one partition must not stop the other partitions. Such faults are too many bad
 * messages, lost offsets, a group that is ahead, and a damaged state. The fault must not stop the
 * instance either, because the group would then assign the partition to the next instance, which
 * would stop, too.
 *
 * The instance keeps the partition but releases the lock of its state. So `saltmill seek` can
 * repair the state while the other partitions run.
 */
#ifndef SALTMILL_PARKING_H
#define SALTMILL_PARKING_H

#include "parked_places.h"
#include "stream.h"

struct parking {
	bool parked;	  /* true until the partition has continued successfully */
	int64_t position; /* offset at the instance's last query, -1 if unknown */
	int64_t try_ms, delay_ms;
	int64_t changed_ns; /* time of the state's last record, at the start of the pause */
};

/*
 * Park the partition whose state is in `dir`, and close the ingest. Report the reason `why` to the
 * listener and in the status file.
 */
void parking_put(struct parking *p, struct stream *s, const char *dir, int32_t id, const char *why);
/*
 * Return true if the stream may retry the partition, because the delay is over or the state in
 * `dir` has changed.
 */
bool parking_may_try(struct parking *p, const char *dir);
/* Record that a parked partition continues. */
void parking_end(struct parking *p, struct stream *s, int32_t id);

#endif
