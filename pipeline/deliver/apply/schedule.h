/*
 * schedule.h - a round of calls: the files that are ready, by region, and which call is next
 *
 * All files of a region go in one call, which readers see whole.  No more than two calls are at one
 * server at a time, whatever the number of threads.
 */
#ifndef SALTMILL_APPLY_SCHEDULE_H
#define SALTMILL_APPLY_SCHEDULE_H

#include <pthread.h>

#include "handover.h"

struct group {
	const struct hbase_region *region;
	struct hand_file **files; /* n of them */
	size_t n;
	bool taken;
	bool failed; /* with why and error: to be tried again */
	struct hbase_failure why;
	struct error error;
};

struct schedule {
	struct handover *ctx;
	struct group *groups;
	size_t ngroups;
	struct hand_file **ready; /* the groups' files */
	size_t *at_server;	  /* of a group: where the calls at its server are counted */
	unsigned *calls;
	pthread_mutex_t lock;
	pthread_cond_t free;
};

/* Files that lie across regions are left for another round. */
void schedule_make(struct schedule *s, struct handover *h, const struct hbase_regions *r);
void schedule_release(struct schedule *s);
/* The next call that may begin; as often as there are groups. */
struct group *schedule_take(struct schedule *s);
void schedule_give(struct schedule *s, struct group *g);

#endif
