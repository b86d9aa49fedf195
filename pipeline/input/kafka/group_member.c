/*
 * group_member.c - join a consumer group to get partitions, without fetching messages
 *
 * The member is a separate client. The group may revoke a partition at any moment, which must not
 * change the position of the reading consumer. The group only assigns partitions. An instance loads
 * a partition only while it holds the lock of the partition's state (stream/loads/partitions.c),
 * and begins at the position in the state.
 *
 * stream/loads/README.md 4 has librdkafka's rules. The cooperative protocol allows only
 * incremental_assign and incremental_unassign. An unassign may wait for the application. Before
 * librdkafka 2.10, a commit during a rebalance could start another rebalance or lose the
 * assignment, so the member never commits then.
 */
#include "kafka.h"

#include <pthread.h>
#include <stdio.h>

#include "clock.h"
#include "late.h"
#include "kafka_client.h"
#include "properties.h"

#define COMMIT_AGAIN_S 1
#define SAY_AGAIN_S    30
#define CLOSE_S	       5

struct note {
	int32_t partition;
	int64_t offset;
};

struct member {
	const struct job *job;
	struct member_calls calls;
	struct listener listener;
	rd_kafka_t *client;
	rd_kafka_topic_partition_list_t *owned, *taken;
	bool closing;
	bool answered; /* the group has assigned partitions at least once */
	bool joining;  /* the group revoked partitions, and the next assignment has not arrived */
	/* protects the members below, the offsets to commit */
	pthread_mutex_t lock;
	struct note *notes;
	size_t nnotes;
	bool committing;
	double commit_at, said_at;
};

static void say(const struct member *m, const char *what, const char *why)
{
	report_to(&m->listener, "group %.100s: %s%s%s", m->job->kafka.group, what, *why ? ": " : "",
		  why);
}

/* --- assignment --- */

static void add_all(rd_kafka_topic_partition_list_t *to, const rd_kafka_topic_partition_list_t *l)
{
	for (int i = 0; i < l->cnt; i++)
		if (!rd_kafka_topic_partition_list_find(to, l->elems[i].topic,
							l->elems[i].partition))
			rd_kafka_topic_partition_list_add(to, l->elems[i].topic,
							  l->elems[i].partition);
}

static void remove_all(rd_kafka_topic_partition_list_t *from,
		       const rd_kafka_topic_partition_list_t *l)
{
	for (int i = 0; i < l->cnt; i++)
		rd_kafka_topic_partition_list_del(from, l->elems[i].topic, l->elems[i].partition);
}

static int32_t *numbers(const rd_kafka_topic_partition_list_t *l)
{
	int32_t *n = mem_calloc((size_t)l->cnt + 1, sizeof *n);

	for (int i = 0; i < l->cnt; i++)
		n[i] = l->elems[i].partition;
	return n;
}

static void check(struct member *m, rd_kafka_error_t *e)
{
	if (e)
		say(m, "the assignment failed", rd_kafka_error_string(e));
	rd_kafka_error_destroy(e);
}

static void take_on(struct member *m, rd_kafka_topic_partition_list_t *l)
{
	/* start at the end, so that the client reads no group offset and fetches nothing */
	for (int i = 0; i < l->cnt; i++)
		l->elems[i].offset = RD_KAFKA_OFFSET_END;
	/* pause twice, because librdkafka may ignore a call that comes at the wrong time */
	rd_kafka_pause_partitions(m->client, l);
	check(m, rd_kafka_incremental_assign(m->client, l));
	rd_kafka_pause_partitions(m->client, l);
	add_all(m->owned, l);
	m->joining = false;
	m->answered = true;
	int32_t *n = numbers(l);
	m->calls.given(m->calls.ctx, n, (size_t)l->cnt);
	mem_free(n);
}

static void give_up(struct member *m, const rd_kafka_topic_partition_list_t *l)
{
	int32_t *n = numbers(l);
	bool lost = rd_kafka_assignment_lost(m->client);

	add_all(m->taken, l);
	remove_all(m->owned, l);
	m->joining = true;
	if (m->closing)
		member_let_go(m);
	else
		m->calls.taken(m->calls.ctx, n, (size_t)l->cnt, lost);
	mem_free(n);
}

static void on_rebalance(rd_kafka_t *client, rd_kafka_resp_err_t e,
			 rd_kafka_topic_partition_list_t *l, void *opaque)
{
	struct member *m = opaque;

	(void)client;
	if (e == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
		take_on(m, l);
	else
		give_up(m, l);
}

void member_let_go(struct member *m)
{
	if (!m->taken->cnt)
		return;
	check(m, rd_kafka_incremental_unassign(m->client, m->taken));
	rd_kafka_topic_partition_list_destroy(m->taken);
	m->taken = rd_kafka_topic_partition_list_new(4);
}

/* --- offsets to commit --- */

static void set_note(struct member *m, int32_t partition, int64_t offset)
{
	size_t i = 0;

	while (i < m->nnotes && m->notes[i].partition != partition)
		i++;
	if (i == m->nnotes) {
		m->notes = mem_grow(m->notes, m->nnotes, sizeof *m->notes);
		m->notes[m->nnotes++] = (struct note){partition, offset};
	} else if (offset > m->notes[i].offset) {
		m->notes[i].offset = offset;
	}
}

void member_note(struct member *m, const struct offset_range *ranges, size_t n)
{
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < n; i++)
		set_note(m, ranges[i].partition, ranges[i].end);
	pthread_mutex_unlock(&m->lock);
}

static void on_commit(rd_kafka_t *client, rd_kafka_resp_err_t e, rd_kafka_topic_partition_list_t *l,
		      void *opaque)
{
	struct member *m = opaque;
	double now = clock_seconds();

	(void)client;
	m->committing = false;
	for (int i = 0; l && !e && i < l->cnt; i++)
		e = l->elems[i].err;
	if (!e || e == RD_KAFKA_RESP_ERR__NO_OFFSET)
		return;
	pthread_mutex_lock(&m->lock);
	for (int i = 0; l && i < l->cnt; i++)
		set_note(m, l->elems[i].partition, l->elems[i].offset);
	pthread_mutex_unlock(&m->lock);
	m->commit_at = now + COMMIT_AGAIN_S;
	bool passes = e == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS ||
		      e == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION ||
		      e == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID;
	if (passes || now < m->said_at + SAY_AGAIN_S)
		return;
	m->said_at = now;
	say(m, "cannot commit offsets; the published loads are complete", rd_kafka_err2str(e));
}

/* Return the noted offsets of owned partitions and drop all others. */
static rd_kafka_topic_partition_list_t *take_notes(struct member *m)
{
	const char *topic = m->job->kafka.topic;
	rd_kafka_topic_partition_list_t *l = rd_kafka_topic_partition_list_new(m->owned->cnt);

	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->nnotes; i++)
		if (rd_kafka_topic_partition_list_find(m->owned, topic, m->notes[i].partition))
			rd_kafka_topic_partition_list_add(l, topic, m->notes[i].partition)->offset =
				m->notes[i].offset;
	m->nnotes = 0;
	pthread_mutex_unlock(&m->lock);
	return l;
}

static void tell_group(struct member *m)
{
	if (m->committing || m->joining || clock_seconds() < m->commit_at)
		return;
	rd_kafka_topic_partition_list_t *l = take_notes(m);
	m->committing = l->cnt && rd_kafka_commit(m->client, l, 1) == RD_KAFKA_RESP_ERR_NO_ERROR;
	rd_kafka_topic_partition_list_destroy(l);
}

/* --- life --- */

/* Set the member's properties after those of the job, which are for the client that reads. */
static int set_own(rd_kafka_conf_t *conf, struct error *err)
{
	static const struct property own[] = {
		{.name = "partition.assignment.strategy", .value = "cooperative-sticky"},
		{.name = "enable.partition.eof", .value = "false"},
		{.name = "queued.min.messages", .value = "1"},
		{.name = "queued.max.messages.kbytes", .value = "1024"},
	};
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < sizeof own / sizeof *own; i++)
		rc = kafka_set_property(conf, &own[i], err);
	return rc;
}

/* Ignore errors, because the client that reads reports trouble with the brokers. */
static void on_error(rd_kafka_t *client, int code, const char *reason, void *opaque)
{
	(void)client, (void)code, (void)reason, (void)opaque;
}

static void on_log(const rd_kafka_t *client, int level, const char *facility, const char *text)
{
	(void)client, (void)level, (void)facility, (void)text;
}

static int subscribe(struct member *m, struct error *err)
{
	rd_kafka_topic_partition_list_t *l = rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(l, m->job->kafka.topic, RD_KAFKA_PARTITION_UA);
	rd_kafka_poll_set_consumer(m->client);
	rd_kafka_resp_err_t e = rd_kafka_subscribe(m->client, l);
	rd_kafka_topic_partition_list_destroy(l);
	return e ? error_set(err, RC_IO, "cannot join group %s: %s", m->job->kafka.group,
			     rd_kafka_err2str(e))
		 : RC_OK;
}

int member_open(struct member **out, const struct job *job, const struct member_calls *calls,
		const struct listener *listener, struct error *err)
{
	char why[300] = "";

	if (late_need(LATE_RDKAFKA, err))
		return err->code;
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	struct member *m = mem_calloc(1, sizeof *m);
	m->job = job;
	m->calls = *calls;
	if (listener)
		m->listener = *listener;
	pthread_mutex_init(&m->lock, NULL);
	m->owned = rd_kafka_topic_partition_list_new(4);
	m->taken = rd_kafka_topic_partition_list_new(4);
	rd_kafka_conf_set_opaque(conf, m);
	rd_kafka_conf_set_error_cb(conf, on_error);
	rd_kafka_conf_set_log_cb(conf, on_log);
	rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
	rd_kafka_conf_set_offset_commit_cb(conf, on_commit);
	int rc = properties_each(job, 0, kafka_set_property, conf, err);
	if (rc == RC_OK)
		rc = set_own(conf, err);
	if (rc == RC_OK)
		m->client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
	if (!m->client) {
		rd_kafka_conf_destroy(conf);
		rc = rc ? rc
			: error_set(err, RC_CONFIG, "%s:%u:%u: librdkafka: %s", job->path,
				    job->kafka.pos.line, job->kafka.pos.column, why);
	}
	if (rc == RC_OK)
		rc = subscribe(m, err);
	if (rc)
		member_close(m);
	else
		*out = m;
	return rc;
}

/*
 * Leave the group in limited time. A coordinator that does not answer notices the exit when the
 * session ends.
 */
static void leave(struct member *m)
{
	double end = clock_seconds() + CLOSE_S;
	struct error ignored;

	while (m->committing && clock_seconds() < end - CLOSE_S + 1)
		member_poll(m, 50, &ignored);
	m->closing = true;
	member_let_go(m);
	rd_kafka_queue_t *q = rd_kafka_queue_get_consumer(m->client);
	rd_kafka_error_t *e = rd_kafka_consumer_close_queue(m->client, q);
	while (!e && !rd_kafka_consumer_closed(m->client) && clock_seconds() < end) {
		rd_kafka_message_t *message = rd_kafka_consumer_poll(m->client, 50);

		if (message)
			rd_kafka_message_destroy(message);
	}
	rd_kafka_error_destroy(e);
	rd_kafka_queue_destroy(q);
}

/*
 * Destroy the client. librdkafka before 2.3 aborts the process if the client never got an
 * assignment (its issue 4312), so such a client leaves the group, and its memory stays.
 */
static bool destroy(struct member *m)
{
	if (!m->answered && rd_kafka_version() < 0x02030000)
		return false;
	return kafka_destroy_in_time(m->client);
}

void member_close(struct member *m)
{
	if (!m)
		return;
	if (m->client)
		leave(m);
	if (m->client && !destroy(m))
		return; /* do not free *m, because its threads may still use it */
	rd_kafka_topic_partition_list_destroy(m->owned);
	rd_kafka_topic_partition_list_destroy(m->taken);
	pthread_mutex_destroy(&m->lock);
	mem_free(m->notes);
	mem_free(m);
}

/* --- serving --- */

/* Return RC_IO if the error is permanent. */
static int check_error(struct member *m, const rd_kafka_message_t *message, struct error *err)
{
	char why[300];
	rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(m->client, why, sizeof why);

	if (fatal)
		return error_set(err, RC_IO, "group %s: %s", m->job->kafka.group, why);
	switch ((int)message->err) { /* librdkafka adds codes */
	case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
	case RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL:
	case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
	case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
		return error_set(err, RC_IO, "cannot join group %s: %s", m->job->kafka.group,
				 rd_kafka_message_errstr(message));
	default: return RC_OK; /* ignore messages from before the pause and temporary errors */
	}
}

int member_poll(struct member *m, int wait_ms, struct error *err)
{
	int rc = RC_OK;

	tell_group(m);
	rd_kafka_message_t *message = rd_kafka_consumer_poll(m->client, wait_ms);
	if (!message)
		return RC_OK;
	if (message->err)
		rc = check_error(m, message, err);
	rd_kafka_message_destroy(message);
	return rc;
}
