/*
 * kafka_client.h - what the files that know librdkafka share: kafka.c, kafka_read.c, kafka_topic.c,
 * group_member.c
 */
#ifndef SALTMILL_SOURCE_KAFKA_CLIENT_H
#define SALTMILL_SOURCE_KAFKA_CLIENT_H

#include <librdkafka/rdkafka.h>

#include "kafka.h"
#include "ranges.h"
#include "silence.h"

#define REQUEST_MS 5000

/* One of the job's topics, or of those that its pattern has had. */
struct seen_topic {
	const char *name;
	rd_kafka_topic_t *handle; /* NULL: of a pattern */
	int32_t npartitions;
	bool there; /* at the last look */
};

struct property;
/* A job's property for a client; ctx: an rd_kafka_conf_t. */
int kafka_set_property(void *ctx, const struct property *p, struct error *err);

struct kafka {
	const struct job *job;
	rd_kafka_t *client;
	rd_kafka_queue_t *queue;
	struct seen_topic *topics; /* in the job's order, those of a pattern by name */
	size_t ntopics;
	struct arena names;  /* of topics that a pattern has */
	double topics_at;    /* several were looked at; 0: not yet */
	bool topic_known;    /* it was there, once */
	int32_t most_known;  /* partitions that one of the topics had, once */
	uint64_t patience_s; /* where the job does not say */
	/* waiting for brokers */
	struct silence silence;
	bool shows_log; /* the job sets `debug` */
	char **secrets; /* not to be shown, whoever says them */
	size_t nsecrets;
	const atomic_int *stop; /* another's stop_flag, or NULL */
	char name[120];		/* of this client and no other, beside the offsets that it notes */
	/* reading */
	struct ranges ranges;
	bool noted;	     /* that something could not be checked */
	uint64_t mean_bytes; /* of a message, lately */
	double woken_at;
	double heard_at; /* the last message, or that its topic is there */
};

/*
 * librdkafka (2.0 at least) waits for ever for its own threads where a partition that it was
 * assigned has just gone away with its topic, or where a login hangs: they are left alone then,
 * some seconds later.  False: some live on.
 */
bool kafka_destroy_in_time(rd_kafka_t *client);
/*
 * To be called before an assignment is replaced, as destroying does: while librdkafka (to 2.15, its
 * issue 5573) still stops a partition for the change before that, it stops it once more, and aborts
 * the process at the second answer.  The stop and its answer go through the queue of its main
 * thread, and so do the two questions that are asked here, each behind one of them.
 */
void kafka_settle(rd_kafka_t *client);
/* Brokers or their leaders change: the client tries again by itself. */
bool kafka_is_passing(rd_kafka_resp_err_t e);
/* RC_OK: try again; else nothing has answered for too long, or the run is stopped. */
int kafka_check_patience(struct kafka *k, struct error *err);
/* After a request that failed with e: RC_OK to send it again. */
int kafka_wait_or_fail(struct kafka *k, rd_kafka_resp_err_t e, const char *what, struct error *err);
/* Make the handles of the topics that the job names. */
void kafka_open_topics(struct kafka *k);
void kafka_close_topics(struct kafka *k);
/* The ranges' partitions, without offsets; owned by the caller. */
rd_kafka_topic_partition_list_t *kafka_list(const struct kafka *k, const struct offset_range *r,
					    size_t n);
/* RC_DATA: the topic of a range that is being read is gone. */
int kafka_still_there(struct kafka *k, const char *topic, struct error *err);
/* Ask for the offset of a time, or of OFFSET_BEGINNING or OFFSET_END: into r[i].start. */
int kafka_list_offsets(struct kafka *k, int64_t time, struct offset_range *r, size_t n,
		       struct error *err);

#endif
