/*
 * schedule.h - groups the ready files by region, and orders the calls of a round
 *
 * All files of a region are in one call, so readers see either all of these files or no file. At
 * most two calls run at one server at a time, for any number of threads.
 */
#ifndef SALTMILL_APPLY_SCHEDULE_H
#define SALTMILL_APPLY_SCHEDULE_H

#include <pthread.h>

#include "handover.h"

struct group {
	const struct hbase_region *region;
	struct hand_file **files; /* n files */
	size_t n;
	bool taken;
	bool failed; /* true if apply must retry the call; `why` and `error` have the cause */
	struct hbase_failure why;
	struct error error;
};

struct schedule {
	struct handover *ctx;
	struct group *groups;
	size_t ngroups;
	struct hand_file **ready; /* the groups' files */
	size_t *at_server;	  /* for each group, the index of its server in `calls` */
	unsigned *calls;
	pthread_mutex_t lock;
	pthread_cond_t free;
};

/*
 * Groups the ready files of the batch by region. Skips files that cross a region's border. A later round cuts
 * these files.
 */
void schedule_make(struct schedule *s, struct handover *h, const struct hbase_regions *r);
void schedule_release(struct schedule *s);
/* Waits for the next call that may begin. The caller calls this function once for each group. */
struct group *schedule_take(struct schedule *s);
void schedule_give(struct schedule *s, struct group *g);

#endif
