/*
 * group_parts.h - the partitions that a consumer group gives an instance (inside
 * pipeline/stream/loads only)
 */
#ifndef SALTMILL_GROUP_PARTS_H
#define SALTMILL_GROUP_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "kafka.h"
#include "parking.h"
#include "stream.h"

#define TRY_AGAIN_MS 100 /* then twice as long each time */

struct part {
	struct part *next; /* by number */
	int32_t id;
	struct job job;	      /* the instance's, of this partition only */
	struct stream stream; /* in.state NULL: not opened yet */
	char *dir, *prefix;
	bool taken; /* by the group: to be closed */
	bool held;  /* it was told that it is ours */
	struct parking parking;
	int64_t try_ms, delay_ms, say_ms;
};

struct share {
	const struct job *job;
	const struct stream_options *opt;
	struct progress *progress;
	struct kafka *client;
	struct member *member;
	int32_t known;	      /* partitions that have a state */
	int32_t last;	      /* loaded: the next one's turn is behind it */
	pthread_mutex_t lock; /* what follows */
	struct part *parts;
	struct part *busy; /* with it the loading thread is; nobody else may touch it */
	atomic_int stop;   /* busy is taken */
	bool leaving;
	int rc; /* of the thread that serves the group */
	struct error err;
};

/* The caller holds s->lock. */
struct part *share_find(struct share *s, int32_t id);
size_t share_count(const struct share *s);
/* p is not in the list any more. */
void share_part_free(struct part *p);

/* For member_calls: the group gives and takes partitions. */
void share_given(void *ctx, const int32_t *ids, size_t n);
void share_taken(void *ctx, const int32_t *ids, size_t n, bool lost);
/* The thread that serves the group until s->leaving; ctx: struct share. */
void *share_serve_group(void *ctx);

#endif
