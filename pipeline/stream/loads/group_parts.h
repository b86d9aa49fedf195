/*
 * group_parts.h - the partitions that a consumer group assigns to an instance (inside
 * pipeline/stream/loads only)
 */
#ifndef SALTMILL_GROUP_PARTS_H
#define SALTMILL_GROUP_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "kafka.h"
#include "parking.h"
#include "stream.h"

#define TRY_AGAIN_MS 100 /* first delay; it doubles each time */

struct part {
	struct part *next; /* by number */
	int32_t id;
	struct job job;	      /* the instance's job, limited to this partition */
	struct stream stream; /* in.state NULL: not open */
	char *dir, *prefix;
	bool taken; /* revoked by the group: to be closed */
	bool held;  /* reported as held by this instance */
	struct parking parking;
	int64_t try_ms, delay_ms, say_ms;
};

struct share {
	const struct job *job;
	const struct stream_options *opt;
	struct progress *progress;
	struct kafka *client;
	struct member *member;
	int32_t known;	      /* number of partitions that have a state */
	int32_t last;	      /* partition loaded last; the turn goes to the next one */
	pthread_mutex_t lock; /* protects the members below */
	struct part *parts;
	struct part *busy; /* the part that the loading thread uses; no other thread may touch it */
	atomic_int stop;   /* busy was revoked */
	bool leaving;
	int rc; /* result of the thread that serves the group */
	struct error err;
};

/* The caller holds s->lock. */
struct part *share_find(struct share *s, int32_t id);
size_t share_count(const struct share *s);
/* p must be out of the list. */
void share_part_free(struct part *p);

/* Callbacks for member_calls: the group assigns or revokes partitions. */
void share_given(void *ctx, const int32_t *ids, size_t n);
void share_taken(void *ctx, const int32_t *ids, size_t n, bool lost);
/* Serve the group in its own thread until s->leaving; ctx: struct share. */
void *share_serve_group(void *ctx);

#endif
