/*
 * kafka.h - topics of a Kafka cluster, by explicit partitions and offsets
 *
 *   kafka_open, kafka_look, kafka_offsets_at, kafka_read, kafka_take* until RC_END, kafka_commit,
 *   kafka_close
 *
 * Nothing is asked of a consumer group but to note offsets (kafka_commit).  While no broker
 * answers, every call waits and reports it to the listener, until the client's patience ends or a
 * signal comes (RC_STOPPED).  One thread at a time, except where said otherwise.  Implemented
 * in kafka.c and kafka_topic.c; they and group_member.c are the only files that know librdkafka.
 */
#ifndef SALTMILL_KAFKA_H
#define SALTMILL_KAFKA_H

#include <stdatomic.h>

#include "bytes.h"
#include "error.h"
#include "event.h"
#include "job.h"
#include "mem.h"

struct kafka;
/*
 * A client for job->kafka; nothing is sent yet.  memory_bytes: what fetched messages may take.
 * The job must outlive it.  RC_CONFIG: a property that librdkafka refuses, a secret that is not
 * where the job says; the sentence never holds a secret.
 */
int kafka_open(struct kafka **out, const struct job *job, uint64_t memory_bytes,
	       const struct listener *listener, struct error *err);
void kafka_close(struct kafka *k); /* NULL is fine */
/* From now on calls end with RC_STOPPED while *flag is not 0.  It outlives the client. */
void kafka_stop_by(struct kafka *k, const atomic_int *flag);

/* How long no broker may answer where the job does not say; before this is called: for ever. */
void kafka_patience(struct kafka *k, uint64_t seconds);

/*
 * A topic of the job's was there in an earlier run, with so many partitions: should it, or should
 * one of several topics that had that many, not be there any more, that is no mistake in the job.
 */
void kafka_topic_is_known(struct kafka *k, int32_t npartitions);

/* A partition as the broker has it: offsets low..high-1; high is where open transactions begin. */
struct kafka_partition {
	const char *topic; /* NULL: the job's only one; else valid as long as the client */
	int32_t id;
	int64_t low, high;
};

/* How large a topic is; the name as above, but never NULL. */
struct kafka_size {
	const char *name;
	int32_t npartitions;
};

/* What the job's topics hold. */
struct kafka_topic {
	char cluster[64];
	struct kafka_size *topics; /* in the job's order, those of a pattern by name */
	size_t ntopics;
	int32_t npartitions;		    /* of the only topic */
	struct kafka_partition *partitions; /* those of the job, by topic and id */
	size_t count;
};

/*
 * RC_CONFIG: no such topic, none that the pattern has, or it lacks a partition that the job names.
 * RC_DATA: there was such a topic (kafka_topic_is_known, or this client has seen it).  Of several
 * topics how many partitions they have, and of a pattern which topics it has, is asked every
 * KAFKA_TOPICS_S; one that a pattern had and that is gone is left out.
 */
#define KAFKA_TOPICS_S 5
int kafka_look(struct kafka *k, struct kafka_topic *out, struct error *err);
/*
 * The same of other partitions than the job names: of each topic those of the numbers, which rise,
 * that it has; n 0: all of it.
 */
int kafka_look_at(struct kafka *k, const int32_t *partitions, size_t n, struct kafka_topic *out,
		  struct error *err);
static inline void kafka_topic_release(struct kafka_topic *t)
{
	mem_free(t->topics);
	mem_free(t->partitions);
	*t = (struct kafka_topic){0};
}

/*
 * Of a topic that a pattern does not find: *refused, the brokers tell nothing of it, as we may not
 * look at it (then nobody knows whether it is there).  They leave such topics out of their lists.
 */
int kafka_is_refused(struct kafka *k, const char *topic, bool *refused, struct error *err);

/* topic: of a range that names none.  RC_DATA: the range is not within low..high; the sentence says
 * what is lost and what to do. */
int kafka_check_range(const char *topic, const struct offset_range *r, int64_t low, int64_t high,
		      struct error *err);

/* Set start to the first offset whose message is not older; end where there is none. */
int kafka_offsets_at(struct kafka *k, int64_t time_ms, struct offset_range *ranges, size_t n,
		     struct error *err);

/* What a group has noted of a partition. */
struct group_note {
	int64_t offset; /* the next one to load; -1: nothing is noted */
	bool ours;	/* by this very client */
	char by[160];	/* who it was, in words; "": does not say */
};

/* What job.kafka.group has noted of the ranges' partitions: one note each, the caller's room. */
int kafka_committed(struct kafka *k, const struct offset_range *ranges, struct group_note *notes,
		    size_t n, struct error *err);
/* Note the ends of the ranges, and that it was this client.  RC_IO: the group did not take it. */
int kafka_commit(struct kafka *k, const struct offset_range *ranges, size_t n, struct error *err);

/* Start to fetch the ranges; ends what was begun before. */
int kafka_read(struct kafka *k, const struct offset_range *ranges, size_t n, struct error *err);

/*
 * Produce what a rejects.jsonl of the job holds, n lines, to job->kafka.dead_letters: key, value,
 * headers and time of each message as they were, and behind its headers these: saltmill.reason,
 * .field, .topic, .partition, .offset.  Ends when the brokers have taken all of it, in the order in
 * which they like.  A message that the topic is too small for goes without its value, with the
 * header saltmill.too_large and its bytes, and the listener hears of it.  RC_IO: a broker refuses,
 * or none answers for the client's patience; some may have been taken.  RC_CONFIG: a property of
 * the job leaves no room for a message.
 */
int kafka_send_rejects(struct kafka *k, const char *rejects, uint64_t n, struct error *err);

struct kafka_batch {
	void **messages;
	uint32_t *range; /* of each message: its index in the ranges */
	size_t count, cap;
};

/*
 * The next messages of the ranges, of each partition in order; there may be none yet.  RC_END: all
 * ranges are read.  RC_DATA: a position that the broker does not have any more, or never had, with
 * what is lost and what to do.
 */
int kafka_take(struct kafka *k, struct kafka_batch *b, struct error *err);
/* Of each range how many messages were taken. */
void kafka_taken(const struct kafka *k, struct offset_range *ranges, size_t n);

/* Message i of a batch; any thread.  It borrows from the batch; headers only if asked for. */
void kafka_message(const struct kafka_batch *b, size_t i, bool headers, struct message *out,
		   struct message_header **room, size_t *nroom);
/* Let the messages go; any thread.  The batch can be filled again. */
void kafka_batch_clear(struct kafka_batch *b);
void kafka_batch_release(struct kafka_batch *b);

/*
 * --- a place in a consumer group: which partitions are whose, and nothing else
 *
 *   member_open, member_poll*, [member_let_go], member_close
 *
 * No message comes this way, and no offset that the group knows is used: what is given to us is
 * read by kafka.h from where the partition's own state says.  One thread at a time, but for
 * member_note.  Implemented in group_member.c, which knows librdkafka as kafka.c does.
 */

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
		const struct listener *listener, struct error *err);
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
