/*
 * kafka.h - topics of a Kafka cluster, by explicit partitions and offsets; consumer group members
 *
 *   kafka_open, kafka_look, kafka_offsets_at, kafka_read, kafka_take* until RC_END, kafka_commit,
 *   kafka_close
 *   member_open, member_poll*, [member_let_go], member_close
 *
 * The consumer group only stores offsets (kafka_commit). While no broker answers, every call waits
 * and reports it to the listener, until the client's patience ends or a signal comes (RC_STOPPED).
 * One thread at a time, unless a comment allows more. Only pipeline/input/kafka uses librdkafka.
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
 * Create a client for job->kafka; nothing is sent yet. memory_bytes: the limit for fetched
 * messages. The job must outlive it. RC_CONFIG: librdkafka rejects a property, or a secret is
 * missing; the message never contains a secret.
 */
int kafka_open(struct kafka **out, const struct job *job, uint64_t memory_bytes,
	       const struct listener *listener, struct error *err);
void kafka_close(struct kafka *k); /* NULL is fine */
/* Make calls end with RC_STOPPED while *flag is not 0. The flag outlives the client. */
void kafka_stop_by(struct kafka *k, const atomic_int *flag);

/* Set how long brokers may be silent if the job does not say; before this call: for ever. */
void kafka_patience(struct kafka *k, uint64_t seconds);

/*
 * Record that an earlier run found a topic of the job, with this many partitions. If that topic, or
 * one of several topics with this number, is missing later, it is not reported as a mistake in the
 * job.
 */
void kafka_topic_is_known(struct kafka *k, int32_t npartitions);

/* A partition at the broker: offsets low..high-1. Open transactions begin at high. */
struct kafka_partition {
	const char *topic; /* NULL: the job's only topic; otherwise valid as long as the client */
	int32_t id;
	int64_t low, high;
};

/* A topic's partition count; the name as above, but never NULL. */
struct kafka_size {
	const char *name;
	int32_t npartitions;
};

/* The job's topics and their partitions. */
struct kafka_topic {
	char cluster[64];
	struct kafka_size *topics; /* in the job's order, those of a pattern by name */
	size_t ntopics;
	int32_t npartitions;		    /* of the only topic */
	struct kafka_partition *partitions; /* partitions of the job, by topic and id */
	size_t count;
};

/*
 * Query the brokers. RC_CONFIG: a topic does not exist, the pattern matches none, or a partition of
 * the job is missing. RC_DATA: the topic existed earlier (kafka_topic_is_known, or this client saw
 * it). For several topics the partition counts, and for a pattern the matching topics, are
 * refreshed every KAFKA_TOPICS_S. A topic that matched the pattern and is gone is left out.
 */
#define KAFKA_TOPICS_S 5
int kafka_look(struct kafka *k, struct kafka_topic *out, struct error *err);
/*
 * The same for other partitions than the job's: in each topic, those of the given numbers (rising)
 * that exist; n 0: all.
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
 * For a topic that a pattern does not find: set *refused if we may not describe it, so nobody knows
 * whether it exists. Brokers leave such topics out of their lists.
 */
int kafka_is_refused(struct kafka *k, const char *topic, bool *refused, struct error *err);

/*
 * RC_DATA: the range is not within low..high; the message says what is lost and what to do. topic:
 * for a range without one.
 */
int kafka_check_range(const char *topic, const struct offset_range *r, int64_t low, int64_t high,
		      struct error *err);

/*
 * Set each start to the first offset whose message is not older than time_ms; to end if there is
 * none.
 */
int kafka_offsets_at(struct kafka *k, int64_t time_ms, struct offset_range *ranges, size_t n,
		     struct error *err);

/* The offset that a group has committed for a partition. */
struct group_note {
	int64_t offset; /* the next offset to load; -1: none committed */
	bool ours;	/* committed by this client */
	char by[160];	/* who committed it, in words; "": unknown */
};

/* Read what job.kafka.group has committed for the ranges' partitions, into one note for each. */
int kafka_committed(struct kafka *k, const struct offset_range *ranges, struct group_note *notes,
		    size_t n, struct error *err);
/* Commit the ends of the ranges, marked as this client's. RC_IO: the group did not accept it. */
int kafka_commit(struct kafka *k, const struct offset_range *ranges, size_t n, struct error *err);

/* Start to fetch the ranges; ends an earlier fetch. */
int kafka_read(struct kafka *k, const struct offset_range *ranges, size_t n, struct error *err);

/*
 * Produce the n lines of the job's rejects.jsonl to job->kafka.dead_letters. Key, value, headers
 * and time of each message are unchanged; added are the headers saltmill.reason, .field, .topic,
 * .partition and .offset. Returns when the brokers have accepted all messages, in any order.
 *
 * A message that is too large for the topic is sent without its value, with the header
 * saltmill.too_large and its size; the listener receives a sentence. RC_IO: a broker refuses, or
 * none answers within the client's patience; some messages may have been accepted. RC_CONFIG: a
 * property of the job leaves no room for a message.
 */
int kafka_send_rejects(struct kafka *k, const char *rejects, uint64_t n, struct error *err);

struct kafka_batch {
	void **messages;
	uint32_t *range; /* by message: its index in the ranges */
	size_t count, cap;
};

/*
 * Get the next messages of the ranges, in order within each partition; the batch may be empty.
 * RC_END: all ranges are read. RC_DATA: the broker does not have a position any more, or never had;
 * the message says what is lost and what to do.
 */
int kafka_take(struct kafka *k, struct kafka_batch *b, struct error *err);
/* Set each range's events and last from the messages that were taken. */
void kafka_taken(const struct kafka *k, struct offset_range *ranges, size_t n);

/*
 * Get message i of a batch, with headers only if requested. It borrows from the batch. Any thread.
 */
void kafka_message(const struct kafka_batch *b, size_t i, bool headers, struct message *out,
		   struct message_header **room, size_t *nroom);
/* Release the messages; the batch can be filled again. Any thread. */
void kafka_batch_clear(struct kafka_batch *b);
void kafka_batch_release(struct kafka_batch *b);

/*
 * --- group members: share the partitions of a topic by a consumer group ---
 *
 *   member_open, member_poll*, [member_let_go], member_close
 *
 * The group only assigns partitions. No message comes this way, and its committed offsets are not
 * used: kafka_read reads assigned partitions from the position in their own state. One thread at a
 * time, except member_note. Implemented in group_member.c.
 */

/* Callbacks of member_poll. */
struct member_calls {
	void (*given)(void *ctx, const int32_t *partitions, size_t n);
	/*
	 * The partitions are revoked. Nobody else gets them before member_let_go, which must follow
	 * within max.poll.interval.ms. lost: another member may have them already.
	 */
	void (*taken)(void *ctx, const int32_t *partitions, size_t n, bool lost);
	void *ctx;
};

struct member;
/* Join job.kafka.group for its topic. The job outlives the member. */
int member_open(struct member **out, const struct job *job, const struct member_calls *calls,
		const struct listener *listener, struct error *err);
/* Leave the group, so that others need not wait for the session timeout. NULL is fine. */
void member_close(struct member *m);

/* Serve the group for up to wait_ms. Call it at least once in max.poll.interval.ms. */
int member_poll(struct member *m, int wait_ms, struct error *err);
/* Release the revoked partitions; call it when this process no longer uses them. */
void member_let_go(struct member *m);

/*
 * Commit the ranges to the group, for lag tools, some time later when the group is stable.
 * Partitions that were revoked by then are left to their new owner. Any thread.
 */
void member_note(struct member *m, const struct offset_range *ranges, size_t n);

#endif
