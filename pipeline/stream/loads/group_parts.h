/*
 * group_parts.h - the partitions that a consumer group assigns to an instance (private to this
 * folder)
 */
#ifndef SALTMILL_GROUP_PARTS_H
#define SALTMILL_GROUP_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "kafka.h"
#include "parking.h"
#include "stream.h"

#define TRY_AGAIN_MS 100 /* first delay, which doubles each time */

struct part {
	struct part *next; /* a list in the order of the numbers */
	int32_t id;
	struct job job;	      /* the instance's job, limited to this partition */
	struct stream stream; /* not open if in.state is NULL */
	char *dir, *prefix;
	bool taken; /* the group revoked this part, so the member must close it */
	bool held;  /* the listener knows that this instance has this part */
	struct parking parking;
	int64_t try_ms, delay_ms, say_ms;
};

struct share {
	const struct job *job;
	const struct stream_options *opt;
	struct progress *progress;
	struct kafka *client;
	struct member *member;
	int32_t known;	   /* number of partitions that have a state */
	double full_since; /* time since which the disk is full; 0 if it is not full */
	int32_t last; /* partition of the last load; the next load takes the partition after it */
	pthread_mutex_t lock; /* protects the members below */
	struct part *parts;
	struct part *busy; /* the part that only the loading thread may use */
	atomic_int stop;   /* set when the group revokes the busy part */
	bool leaving;
	int rc; /* result of the thread that serves the group */
	struct error err;
};

/* Return the part of a partition, or NULL if there is none. The caller holds s->lock. */
struct part *share_find(struct share *s, int32_t id);
size_t share_count(const struct share *s);
/* Free a part that is no longer in the list. */
void share_part_free(struct part *p);

/* Callbacks for member_calls: the group assigns or revokes partitions. */
void share_given(void *ctx, const int32_t *ids, size_t n);
void share_taken(void *ctx, const int32_t *ids, size_t n, bool lost);
/* Serve the group in a separate thread until s->leaving is true. `ctx` is the struct share. */
void *share_serve_group(void *ctx);

#endif
