/*
 * group_member.h - a place in a consumer group: which partitions are whose, and nothing else
 *
 *   member_open, member_poll*, [member_let_go], member_close
 *
 * No message comes this way, and no offset that the group knows is used: what is given to us is
 * read by kafka.h from where the partition's own state says.  One thread at a time, but for
 * member_note.  Implemented in group_member.c, which knows librdkafka as kafka.c does.
 */
#ifndef SALTMILL_GROUP_MEMBER_H
#define SALTMILL_GROUP_MEMBER_H

#include "kafka.h"

/* Called within member_poll. */
struct member_calls {
	void (*given)(void *ctx, const int32_t *partitions, size_t n);
	/*
	 * Theirs no more.  Nobody else gets them before member_let_go, which is to follow within
	 * max.poll.interval.ms; lost: somebody may have them already.
	 */
	void (*taken)(void *ctx, const int32_t *partitions, size_t n, bool lost);
	void *ctx;
};

struct member;
/* Join job.kafka.group for its topic.  The job outlives the member. */
int member_open(struct member **out, const struct job *job, const struct member_calls *calls,
		const struct kafka_log *log, struct error *err);
/* Leave the group, so that others need not wait for the session's end.  NULL is fine. */
void member_close(struct member *m);

/* Serve the group, for up to wait_ms; due at least once in max.poll.interval.ms. */
int member_poll(struct member *m, int wait_ms, struct error *err);
/* What was taken is in nobody's hands now. */
void member_let_go(struct member *m);

/*
 * Tell the group, some time later and when it is at rest, that the ranges are loaded.  It is for
 * lag tools; what is not ours any more by then is left to its owner.  Any thread.
 */
void member_note(struct member *m, const struct offset_range *ranges, size_t n);

#endif
