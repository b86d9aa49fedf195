/*
 * kafka_client.h - shared by the files that use librdkafka: kafka.c, kafka_read.c, kafka_topic.c,
 * group_member.c, dead_letters.c
 */
#ifndef SALTMILL_SOURCE_KAFKA_CLIENT_H
#define SALTMILL_SOURCE_KAFKA_CLIENT_H

#include <librdkafka/rdkafka.h>

#include "kafka.h"
#include "ranges.h"
#include "silence.h"

#define REQUEST_MS 5000

/* A topic of the job, or one that its pattern has matched. */
struct seen_topic {
	const char *name;
	rd_kafka_topic_t *handle; /* NULL: matched by a pattern */
	int32_t npartitions;
	bool there; /* it existed at the last look */
};

struct property;
/* Set a property for a client; ctx: an rd_kafka_conf_t. */
int kafka_set_property(void *ctx, const struct property *p, struct error *err);

struct kafka {
	const struct job *job;
	rd_kafka_t *client;
	rd_kafka_queue_t *queue;
	struct seen_topic *topics; /* in the job's order; those of a pattern by name */
	size_t ntopics;
	struct arena names;  /* of topics that a pattern matches */
	double topics_at;    /* time of the last look at several topics; 0: none yet */
	bool topic_known;    /* a topic has existed */
	int32_t most_known;  /* highest number of partitions seen in one topic */
	uint64_t patience_s; /* if the job has none */
	/* waiting for brokers */
	struct silence silence;
	bool shows_log; /* the job sets `debug` */
	char **secrets; /* must not appear in any message */
	size_t nsecrets;
	const atomic_int *stop; /* stop flag set by another thread, or NULL */
	char name[120];		/* unique name of this client, stored with committed offsets */
	/* reading */
	struct ranges ranges;
	bool noted;	     /* reported that something could not be checked */
	uint64_t mean_bytes; /* recent mean of a message */
	double woken_at;
	double heard_at; /* last message, or last proof that the topics exist */
};

/*
 * Destroy the client, waiting some seconds at most. librdkafka (at least 2.0) waits forever for its
 * own threads if an assigned partition was just deleted with its topic, or if a login hangs.
 * Returns false if some threads live on.
 */
bool kafka_destroy_in_time(rd_kafka_t *client);
/*
 * Wait until librdkafka has finished the last change of the assignment. Call it before replacing
 * the assignment or destroying the client. If librdkafka (to 2.15, its issue 5573) is still
 * stopping a partition then, it stops it twice and aborts the process at the second answer. The
 * stop and its answer go through the queue of librdkafka's main thread, and so do the two requests
 * here, each after one of them.
 */
void kafka_settle(rd_kafka_t *client);
/* Report whether the client retries by itself, because brokers or leaders are changing. */
bool kafka_is_passing(rd_kafka_resp_err_t e);
/* RC_OK: retry. Otherwise no broker answered for too long, or the run is stopped. */
int kafka_check_patience(struct kafka *k, struct error *err);
/* Wait after a request that failed with e. RC_OK: send it again. */
int kafka_wait_or_fail(struct kafka *k, rd_kafka_resp_err_t e, const char *what, struct error *err);
/* Make handles for the topics that the job names. */
void kafka_open_topics(struct kafka *k);
void kafka_close_topics(struct kafka *k);
/* List the ranges' partitions without offsets; the caller owns the list. */
rd_kafka_topic_partition_list_t *kafka_list(const struct kafka *k, const struct offset_range *r,
					    size_t n);
/* RC_DATA: the topic of a range that is being read was deleted. */
int kafka_still_there(struct kafka *k, const char *topic, struct error *err);
/* Query the offset of a time, or of OFFSET_BEGINNING or OFFSET_END, and store it in r[i].start. */
int kafka_list_offsets(struct kafka *k, int64_t time, struct offset_range *r, size_t n,
		       struct error *err);

#endif
