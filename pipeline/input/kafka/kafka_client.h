/*
 * kafka_client.h - the parts of a Kafka client that the files with calls to librdkafka share
 */
#ifndef SALTMILL_SOURCE_KAFKA_CLIENT_H
#define SALTMILL_SOURCE_KAFKA_CLIENT_H

#include <librdkafka/rdkafka.h>

#include "kafka.h"
#include "ranges.h"
#include "silence.h"
#include "topic_ids.h"

#define REQUEST_MS 5000

/* A topic of the job, or one that its pattern has matched. */
struct seen_topic {
	const char *name;
	rd_kafka_topic_t *handle; /* NULL if a pattern matched it */
	int32_t npartitions;
	bool there; /* the topic existed at the last query */
	char id[TOPIC_ID_SIZE];
};

/* A batch that the brokers keep but nobody can read. */
struct damage {
	struct reading_range *range; /* NULL without damage */
	int64_t from;		     /* the batch's first offset in the range */
	int64_t to;		     /* the next readable offset, -1 if not known */
	char why[200];
};

struct property;
/* Set a property of a client. `ctx` is an rd_kafka_conf_t. */
int kafka_set_property(void *ctx, const struct property *p, struct error *err);

struct kafka {
	const struct job *job;
	rd_kafka_t *client;
	rd_kafka_queue_t *queue;
	/* in the job's order; topics of a pattern in the order of their names */
	struct seen_topic *topics;
	size_t ntopics;
	struct arena names;  /* names of topics that a pattern matches */
	double topics_at;    /* time of the last query of several topics, 0 if none */
	bool topic_known;    /* at least one topic has existed */
	int32_t most_known;  /* highest number of partitions seen in one topic */
	uint64_t patience_s; /* used if the job has no `patience` */
	struct broker_access access;
	double ids_at;	     /* time of the last request for the topics' ids, 0 if none yet */
	const char *ids_why; /* why the request had no answer, NULL if it had one */
	/* waiting for brokers */
	struct silence silence;
	bool shows_log; /* the job sets `debug` */
	char **secrets; /* texts that no message may contain */
	size_t nsecrets;
	const atomic_int *stop; /* stop flag set by another thread, or NULL */
	char name[120];		/* unique name of this client, stored with committed offsets */
	/* reading */
	struct ranges ranges;
	struct damage damage;
	struct offset_range damage_found; /* the last batch with a known end, or end 0 */
	bool noted;	     /* a message about the unchecked ranges has gone to the user */
	uint64_t mean_bytes; /* recent mean size of a message */
	double woken_at;
	double heard_at; /* time of the last message, or of the last proof that the topics exist */
};

/*
 * Destroy the client, but wait only some seconds. librdkafka (at least 2.0) waits forever for its
 * own threads after the deletion of an assigned topic, or if a login hangs. Return false if threads
 * are still running.
 */
bool kafka_destroy_in_time(rd_kafka_t *client);
/*
 * Wait until librdkafka has finished the last change of the assignment. Call this function before a
 * new assignment, and before the end of the client. Otherwise librdkafka (up to 2.15, issue 5573)
 * may stop a partition twice and abort the process at the second answer. The stop and its answer
 * pass through the queue of librdkafka's main thread. This function sends two requests through the
 * same queue. So the requests arrive after the stop and after the answer to the stop.
 */
void kafka_settle(rd_kafka_t *client);
/* Return true if the client retries without help, because brokers or leaders are changing. */
bool kafka_is_passing(rd_kafka_resp_err_t e);
/* Return how long brokers may be silent, in seconds. 0 means the default. */
uint64_t kafka_patience_of(const struct kafka *k);
/*
 * Return RC_OK if the caller may retry. Return an error if no broker answered for too long, or if
 * the run must stop.
 */
int kafka_check_patience(struct kafka *k, struct error *err);
/* Wait after a request that failed with `e`. After RC_OK the caller sends the request again. */
int kafka_wait_or_fail(struct kafka *k, rd_kafka_resp_err_t e, const char *what, struct error *err);
/* Make handles for the topics that the job names. */
void kafka_open_topics(struct kafka *k);
void kafka_close_topics(struct kafka *k);
/* List the ranges' partitions without offsets. The caller owns the list. */
rd_kafka_topic_partition_list_t *kafka_list(const struct kafka *k, const struct offset_range *r,
					    size_t n);
/* Return RC_DATA if somebody deleted the topic of an unfinished range. */
int kafka_still_there(struct kafka *k, const char *topic, struct error *err);
/*
 * Query the offset of a time, or of OFFSET_BEGINNING or OFFSET_END, and store the offset in
 * r[i].start.
 */
int kafka_list_offsets(struct kafka *k, int64_t time, struct offset_range *r, size_t n,
		       struct error *err);

#endif
