/* broker.h - the simulated broker and clients, shared by broker.c, broker_lists.c and
 * broker_group.c */
#ifndef SALTMILL_SIM_BROKER_H
#define SALTMILL_SIM_BROKER_H

#include <librdkafka/rdkafka.h>

#include "sim.h"

enum { NOBODY = -1, PARTITIONS = 8, MESSAGES = 1000, MEMBERS = 64, ANSWER_MS = 4, NOTE_ROOM = 200 };
#define SESSION_NS (10 * SIM_S)
#define TOPIC	   "events"

struct kept_message {
	const uint8_t *value; /* NULL if no message has this offset */
	size_t len;
	int64_t time_ms;
};

struct group_member {
	bool joined;
	int proc;
	int64_t polled; /* time of its last poll */
	uint32_t owned, target;
};

struct broker {
	int partitions;
	bool down;
	struct {
		struct kept_message *message;
		int64_t end, committed;
		char note[NOTE_ROOM];
		size_t note_len;
	} part[PARTITIONS];
	struct group_member member[MEMBERS];
};

struct rd_kafka_conf_s {
	void *opaque;
	void (*error)(rd_kafka_t *k, int err, const char *reason, void *ctx);
	void (*rebalance)(rd_kafka_t *k, rd_kafka_resp_err_t err,
			  rd_kafka_topic_partition_list_t *l, void *ctx);
	void (*commit)(rd_kafka_t *k, rd_kafka_resp_err_t err, rd_kafka_topic_partition_list_t *l,
		       void *ctx);
};

struct reading {
	bool on, paused, told_end;
	int64_t next;
};

struct rd_kafka_s {
	struct rd_kafka_conf_s conf;
	struct reading part[PARTITIONS];
	bool all_down; /* the client must call on_error */
	int member;    /* -1: none */
	bool revoking, closed;
	rd_kafka_topic_partition_list_t *committing;
	rd_kafka_resp_err_t commit_result;
};
struct rd_kafka_topic_s {
	char name[40];
};
struct rd_kafka_error_s {
	rd_kafka_resp_err_t code;
};

/* Wait `ms` for an answer. Return the error, or 0. Sets *done to true if the broker carried out the
 * request, even if the request fails. */
rd_kafka_resp_err_t broker_ask(rd_kafka_t *k, const char *what, int ms, bool *done);
void broker_keep_commit(const rd_kafka_topic_partition_list_t *l);
/* Remove the member at once, without the end of its session. */
void broker_leave_group(rd_kafka_t *k);

#endif
