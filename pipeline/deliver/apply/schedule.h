/*
 * schedule.h - a round of calls: the files that are ready, by region, and which call is next
 *
 * All files of a region go in one call, so readers see all of them or none. At most two calls run
 * at one server at a time, whatever the number of threads.
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
	bool failed; /* to be retried; why and error have the cause */
	struct hbase_failure why;
	struct error error;
};

struct schedule {
	struct handover *ctx;
	struct group *groups;
	size_t ngroups;
	struct hand_file **ready; /* the groups' files */
	size_t *at_server;	  /* for each group: the index of its server in calls */
	unsigned *calls;
	pthread_mutex_t lock;
	pthread_cond_t free;
};

/*
 * Groups the ready files by region. Files that cross a region's border are left for another round.
 */
void schedule_make(struct schedule *s, struct handover *h, const struct hbase_regions *r);
void schedule_release(struct schedule *s);
/* Waits for the next call that may begin. Call it once for each group. */
struct group *schedule_take(struct schedule *s);
void schedule_give(struct schedule *s, struct group *g);

#endif
