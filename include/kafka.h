/*
 * kafka.h - topics of a Kafka cluster, by explicit partitions and offsets; consumer group members
 *
 *   kafka_open, kafka_look, kafka_offsets_at, kafka_read, kafka_take* until RC_END, kafka_commit,
 *   kafka_close
 *   member_open, member_poll*, [member_let_go], member_close
 *
 * The consumer group only stores offsets (kafka_commit). If no broker answers, every call reports
 * this to the listener and waits. The wait ends when the client's patience ends or a signal comes
 * (RC_STOPPED). Only one thread at a time may use a client, unless a comment allows more. Only
 * pipeline/input/kafka uses librdkafka.
 */
#ifndef SALTMILL_KAFKA_H
#define SALTMILL_KAFKA_H

#include <stdatomic.h>

#include "bytes.h"
#include "error.h"
#include "event.h"
#include "job.h"
#include "mem.h"

/* A client's messages may use this share of --memory, and so may one message. */
#define KAFKA_MEMORY_SHARE 4
/*
 * Check that the job's `max_message` fits in `memory_bytes`, a client's share of --memory. Returns
 * RC_CONFIG with the --memory that the job needs. So the memory has no effect on accepting or
 * rejecting a message.
 */
int kafka_check_memory(const struct job *job, uint64_t memory_bytes, struct error *err);

struct kafka;
/*
 * Create a client for job->kafka, without a request to a broker. `memory_bytes` limits the fetched
 * messages (kafka_check_memory). If it is 0, the client reads no messages. The job must outlive the
 * client. Returns RC_CONFIG if librdkafka rejects a property, or if a secret is missing. The
 * message never contains a secret.
 */
int kafka_open(struct kafka **out, const struct job *job, uint64_t memory_bytes,
	       const struct listener *listener, struct error *err);
void kafka_close(struct kafka *k); /* NULL is fine */
/*
 * Register a stop flag. While *flag is not 0, calls end with RC_STOPPED. The flag must outlive the
 * client.
 */
void kafka_stop_by(struct kafka *k, const atomic_int *flag);

/*
 * Set how long brokers may be silent, if the job does not specify this. Without this call there is
 * no limit.
 */
void kafka_patience(struct kafka *k, uint64_t seconds);

/*
 * Record that an earlier run found a topic of the job, with `npartitions` partitions. If such a
 * topic is missing later, the message reports a deleted topic and not a wrong job file.
 */
void kafka_topic_is_known(struct kafka *k, int32_t npartitions);

/* A partition at the broker, with offsets low..high-1. Open transactions begin at `high`. */
struct kafka_partition {
	/* NULL means the job's only topic; other names are valid as long as the client */
	const char *topic;
	int32_t id;
	int64_t low, high;
};

/* A topic's name and its number of partitions. The name is never NULL. */
struct kafka_size {
	const char *name;
	int32_t npartitions;
};

/* The job's topics and their partitions. */
struct kafka_topic {
	char cluster[64];
	/* in the order of the job; topics of a pattern in the order of their names */
	struct kafka_size *topics;
	size_t ntopics;
	int32_t npartitions;		    /* partitions of the only topic */
	struct kafka_partition *partitions; /* partitions of the job, by topic and id */
	size_t count;
};

/*
 * Query the brokers. Returns RC_CONFIG if a topic does not exist, if the pattern matches no topic,
 * or if a partition of the job is missing. Returns RC_DATA if the missing topic existed earlier
 * (kafka_topic_is_known, or this client found it). If the job has several topics, the client
 * refreshes their partition counts every KAFKA_TOPICS_S seconds. The client refreshes the topics of
 * a pattern in the same way. The result leaves out deleted topics of a pattern.
 */
#define KAFKA_TOPICS_S 5
int kafka_look(struct kafka *k, struct kafka_topic *out, struct error *err);
/*
 * Query the topics as kafka_look does, but for the given partitions instead of the job's
 * partitions. `partitions` is in rising order. The function ignores partitions that a topic does
 * not have. If `n` is 0, the function reads all partitions.
 */
int kafka_look_at(struct kafka *k, const int32_t *partitions, size_t n, struct kafka_topic *out,
		  struct error *err);
/*
 * Return a topic's id, which is valid until the next kafka_look. A recreated topic has another id.
 * Returns NULL if the id is unknown, with the reason in *why. kafka_look refreshes the ids if they
 * are older than KAFKA_TOPICS_S seconds. kafka_learn_ids refreshes the ids at once if the brokers
 * answer.
 */
const char *kafka_topic_id(const struct kafka *k, const char *topic, const char **why);
void kafka_learn_ids(struct kafka *k);
static inline void kafka_topic_release(struct kafka_topic *t)
{
	mem_free(t->topics);
	mem_free(t->partitions);
	*t = (struct kafka_topic){0};
}

/*
 * Set *refused if the user may not describe a topic that the pattern does not find. Brokers leave
 * such topics out of their lists, so the topic may exist.
 */
int kafka_is_refused(struct kafka *k, const char *topic, bool *refused, struct error *err);

/*
 * Check that a range is within low..high. Returns RC_DATA if the range exceeds these limits. The
 * message names the lost offsets and the fix. `topic` applies to a range without a topic name.
 */
int kafka_check_range(const char *topic, const struct offset_range *r, int64_t low, int64_t high,
		      struct error *err);

/*
 * Set the start of each range to the first offset whose message is not older than `time_ms`. If
 * there is no such message, the start becomes the end of the range.
 */
int kafka_offsets_at(struct kafka *k, int64_t time_ms, struct offset_range *ranges, size_t n,
		     struct error *err);

/* The offset that a group has committed for a partition. */
struct group_note {
	int64_t offset; /* the next offset to load; -1 if the group has no committed offset */
	bool ours;	/* committed by this client */
	/* a description of the client that committed the offset; "" means unknown */
	char by[160];
};

/*
 * Read the offsets that job.kafka.group has committed for the partitions of the ranges. notes[i] is
 * for ranges[i].
 */
int kafka_committed(struct kafka *k, const struct offset_range *ranges, struct group_note *notes,
		    size_t n, struct error *err);
/*
 * Commit the ends of the ranges, with a mark of this client. Returns RC_IO if the group does not
 * accept the commit.
 */
int kafka_commit(struct kafka *k, const struct offset_range *ranges, size_t n, struct error *err);

/* End an earlier fetch, and start to fetch the ranges. */
int kafka_read(struct kafka *k, const struct offset_range *ranges, size_t n, struct error *err);

/*
 * Produce the `n` lines of the job's rejects.jsonl to job->kafka.dead_letters. Key, value, headers
 * and time of each message stay the same. Each message also gets the headers saltmill.reason,
 * .field, .topic, .partition and .offset. The call returns when the brokers have accepted all
 * messages, in any order.
 *
 * If a message is too large for the topic, the function sends it without its value and informs the
 * listener. The header saltmill.too_large has the size. Returns RC_IO if a broker refuses messages,
 * or if no broker answers within the client's patience. The brokers may then have accepted some
 * messages. Returns RC_CONFIG if a property of the job leaves no room for a message.
 */
int kafka_send_rejects(struct kafka *k, const char *rejects, uint64_t n, struct error *err);

struct kafka_batch {
	void **messages;
	uint32_t *range; /* for each message: the index of its range */
	size_t count, cap;
};

/*
 * Get the next messages of the ranges, in order within each partition. The batch may be empty.
 * Returns RC_END after the last message of all ranges. Returns RC_DATA if the broker no longer has
 * an offset. The message names the lost offsets and the fix.
 */
int kafka_take(struct kafka *k, struct kafka_batch *b, struct error *err);
/* Return true if kafka_take found another message than the last loaded message at its offset. */
bool kafka_other_message(const struct kafka *k);
/*
 * Return true if kafka_take returned RC_DATA because the brokers have a damaged batch. *from
 * receives the batch's first offset in the range.
 */
bool kafka_damaged(const struct kafka *k, int64_t *from);
/* Set each range's `events` and `last` from the messages of kafka_take. */
void kafka_taken(const struct kafka *k, struct offset_range *ranges, size_t n);

/*
 * Get message `i` of a batch, with headers only if `headers` is true. *out borrows from the batch.
 * Any thread may call this function.
 */
void kafka_message(const struct kafka_batch *b, size_t i, bool headers, struct message *out,
		   struct message_header **room, size_t *nroom);
/*
 * Release the messages, so that the caller can fill the batch again. Any thread may call this
 * function.
 */
void kafka_batch_clear(struct kafka_batch *b);
void kafka_batch_release(struct kafka_batch *b);

/*
 * --- group members: share the partitions of a topic among a consumer group ---
 *
 *   member_open, member_poll*, [member_let_go], member_close
 *
 * The group only assigns partitions. A member delivers no messages, and the program does not use
 * its committed offsets. kafka_read reads an assigned partition from the offset in the partition's
 * state. Only one thread at a time may use a member, except for member_note. Implemented in
 * group_member.c.
 */

/* Callbacks of member_poll. */
struct member_calls {
	void (*given)(void *ctx, const int32_t *partitions, size_t n);
	/*
	 * The group has revoked the partitions. No other member gets the partitions before
	 * member_let_go. Call member_let_go within max.poll.interval.ms. If `lost` is true, another
	 * member may already have the partitions.
	 */
	void (*taken)(void *ctx, const int32_t *partitions, size_t n, bool lost);
	void *ctx;
};

struct member;
/* Join job.kafka.group for the job's topic. The job must outlive the member. */
int member_open(struct member **out, const struct job *job, const struct member_calls *calls,
		const struct listener *listener, struct error *err);
/*
 * Leave the group, so that other members get the partitions before the session timeout. NULL is
 * fine.
 */
void member_close(struct member *m);

/*
 * Handle events of the group for up to `wait_ms` milliseconds. Call member_poll at least once in
 * max.poll.interval.ms.
 */
int member_poll(struct member *m, int wait_ms, struct error *err);
/* Release the revoked partitions, after this process has stopped using them. */
void member_let_go(struct member *m);

/*
 * Request a commit of the ranges to the group, for tools that show lag. The member commits the
 * ranges later, when the group is stable. The member skips partitions that the group has revoked in
 * the meantime. Any thread may call this function.
 */
void member_note(struct member *m, const struct offset_range *ranges, size_t n);

#endif
