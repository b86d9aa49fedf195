/*
 * broker.c - simulates a Kafka broker with one topic, and the functions of librdkafka that the
 * program calls
 *
 * Clients live in their process. The topic and the group live in the world. Offsets of a partition
 * may lack a message. Requests are late, time out, or fail after the broker did them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker.h"

/* --- for the director --- */

void broker_begin(int partitions)
{
	W->broker = sim_new(sizeof *W->broker);
	W->broker->partitions = partitions;
	for (int p = 0; p < PARTITIONS; p++) {
		W->broker->part[p].committed = -1;
		if (p < partitions)
			W->broker->part[p].message =
				sim_new(MESSAGES * sizeof(struct kept_message));
	}
	for (int i = 0; i < MEMBERS; i++)
		W->broker->member[i].proc = NOBODY;
}

static struct kept_message *append(int partition)
{
	struct broker *b = W->broker;

	if (b->part[partition].end == MESSAGES)
		sim_violate("too many messages");
	struct kept_message *m = &b->part[partition].message[b->part[partition].end++];
	m->time_ms = 1767225600000 + W->now / SIM_MS;
	sim_wake(b, SIM_SLOTS);
	return m;
}

void broker_produce(int partition, const char *value, size_t len)
{
	uint8_t *copy = sim_new(len + 1);
	struct kept_message *m = append(partition);

	memcpy(copy, value, len);
	m->value = copy;
	m->len = len;
}

void broker_gap(int partition)
{
	append(partition);
}

int64_t broker_end(int partition)
{
	return W->broker->part[partition].end;
}

bool broker_has(int partition, int64_t offset)
{
	return W->broker->part[partition].message[offset].value;
}

int broker_partitions(void)
{
	return W->broker->partitions;
}

void broker_down(bool down)
{
	sim_note("broker down", down, 0);
	W->broker->down = down;
	sim_wake(W->broker, SIM_SLOTS);
}

/* End the members of a process. The group notices the end of their sessions later. */
void broker_proc_ended(int proc)
{
	for (int i = 0; i < MEMBERS; i++)
		if (W->broker->member[i].proc == proc)
			W->broker->member[i].proc = NOBODY;
}

/* --- the client --- */

int rd_kafka_version(void)
{
	return 0x020c00ff;
}

const char *rd_kafka_err2str(rd_kafka_resp_err_t e)
{
	static char text[40];

	snprintf(text, sizeof text, "simulated error %d", (int)e);
	return text;
}

rd_kafka_conf_t *rd_kafka_conf_new(void)
{
	return calloc(1, sizeof(rd_kafka_conf_t));
}

void rd_kafka_conf_destroy(rd_kafka_conf_t *c)
{
	free(c);
}

rd_kafka_conf_res_t rd_kafka_conf_set(rd_kafka_conf_t *c, const char *name, const char *value,
				      char *why, size_t why_size)
{
	(void)c, (void)name, (void)value, (void)why, (void)why_size;
	return RD_KAFKA_CONF_OK;
}

void rd_kafka_conf_set_opaque(rd_kafka_conf_t *c, void *ctx)
{
	c->opaque = ctx;
}

void rd_kafka_conf_set_error_cb(rd_kafka_conf_t *c,
				void (*cb)(rd_kafka_t *k, int err, const char *reason, void *ctx))
{
	c->error = cb;
}

void rd_kafka_conf_set_log_cb(rd_kafka_conf_t *c, void (*cb)(const rd_kafka_t *k, int level,
							     const char *fac, const char *buf))
{
	(void)c, (void)cb;
}

void rd_kafka_conf_set_rebalance_cb(rd_kafka_conf_t *c,
				    void (*cb)(rd_kafka_t *k, rd_kafka_resp_err_t err,
					       rd_kafka_topic_partition_list_t *l, void *ctx))
{
	c->rebalance = cb;
}

void rd_kafka_conf_set_offset_commit_cb(rd_kafka_conf_t *c,
					void (*cb)(rd_kafka_t *k, rd_kafka_resp_err_t err,
						   rd_kafka_topic_partition_list_t *l, void *ctx))
{
	c->commit = cb;
}

void rd_kafka_conf_set_dr_msg_cb(rd_kafka_conf_t *c,
				 void (*cb)(rd_kafka_t *k, const rd_kafka_message_t *m, void *ctx))
{
	(void)c, (void)cb;
}

rd_kafka_t *rd_kafka_new(rd_kafka_type_t type, rd_kafka_conf_t *c, char *why, size_t why_size)
{
	rd_kafka_t *k = calloc(1, sizeof *k);

	(void)type, (void)why, (void)why_size;
	k->conf = *c;
	k->member = NOBODY;
	free(c);
	return k;
}

void rd_kafka_destroy_flags(rd_kafka_t *k, int flags)
{
	(void)flags;
	sim_step("rd_kafka_destroy");
	broker_leave_group(k);
	free(k);
}

void rd_kafka_destroy(rd_kafka_t *k)
{
	rd_kafka_destroy_flags(k, 0);
}

void *rd_kafka_opaque(const rd_kafka_t *k)
{
	return k->conf.opaque;
}

rd_kafka_resp_err_t rd_kafka_set_log_queue(rd_kafka_t *k, rd_kafka_queue_t *q)
{
	(void)k, (void)q;
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_queue_t *rd_kafka_queue_get_consumer(rd_kafka_t *k)
{
	return (rd_kafka_queue_t *)(void *)k;
}

void rd_kafka_queue_destroy(rd_kafka_queue_t *q)
{
	(void)q;
}

size_t rd_kafka_queue_length(rd_kafka_queue_t *q)
{
	(void)q;
	return 0;
}

void *rd_kafka_mem_malloc(rd_kafka_t *k, size_t size)
{
	(void)k;
	return malloc(size);
}

void rd_kafka_mem_free(rd_kafka_t *k, void *p)
{
	(void)k;
	free(p);
}

int rd_kafka_outq_len(rd_kafka_t *k)
{
	(void)k;
	return 0;
}

rd_kafka_error_t *rd_kafka_produceva(rd_kafka_t *k, const rd_kafka_vu_t *v, size_t n)
{
	(void)k, (void)v, (void)n;
	abort();
}

rd_kafka_resp_err_t rd_kafka_purge(rd_kafka_t *k, int flags)
{
	(void)k, (void)flags;
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_headers_t *rd_kafka_headers_new(size_t n)
{
	(void)n;
	abort();
}

void rd_kafka_headers_destroy(rd_kafka_headers_t *h)
{
	(void)h;
}

rd_kafka_resp_err_t rd_kafka_header_add(rd_kafka_headers_t *h, const char *name, ssize_t name_len,
					const void *value, ssize_t value_len)
{
	(void)h, (void)name, (void)name_len, (void)value, (void)value_len;
	abort();
}

size_t rd_kafka_header_cnt(const rd_kafka_headers_t *h)
{
	(void)h;
	return 0;
}

rd_kafka_resp_err_t rd_kafka_header_get_all(const rd_kafka_headers_t *h, size_t i,
					    const char **name, const void **value, size_t *size)
{
	(void)h, (void)i, (void)name, (void)value, (void)size;
	return RD_KAFKA_RESP_ERR__NOENT;
}

/* --- requests --- */

rd_kafka_resp_err_t broker_ask(rd_kafka_t *k, const char *what, int ms, bool *done)
{
	int64_t end = W->now + ms * SIM_MS;

	sim_step(what);
	if (done)
		*done = true;
	sim_sleep((int64_t)sim_below(ANSWER_MS * SIM_MS));
	while (W->broker->down && W->now < end) {
		k->all_down = true;
		sim_wait(W->broker, end);
	}
	if (W->broker->down) {
		if (done)
			*done = false;
		return RD_KAFKA_RESP_ERR__TRANSPORT;
	}
	if (sim_fault(W->odds.ask_late)) {
		sim_note("late", 0, 0);
		sim_sleep((int64_t)sim_below((uint64_t)(ms + 1) * 2) * SIM_MS);
	}
	if (W->now > end)
		return RD_KAFKA_RESP_ERR__TIMED_OUT;
	if (sim_fault(W->odds.ask_error)) {
		static const rd_kafka_resp_err_t errors[] = {
			RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
			RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR__TIMED_OUT,
			RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE};

		sim_note("error", 0, 0);
		if (done)
			*done = sim_below(2);
		return errors[sim_below(sizeof errors / sizeof *errors)];
	}
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

int rd_kafka_poll(rd_kafka_t *k, int ms)
{
	sim_step("rd_kafka_poll");
	if (k->all_down && k->conf.error) {
		k->all_down = false;
		k->conf.error(k, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "1/1 brokers are down",
			      k->conf.opaque);
	}
	if (ms)
		sim_sleep(ms * SIM_MS);
	return 0;
}

rd_kafka_topic_t *rd_kafka_topic_new(rd_kafka_t *k, const char *topic, rd_kafka_topic_conf_t *c)
{
	rd_kafka_topic_t *t = calloc(1, sizeof *t);

	(void)k, (void)c;
	snprintf(t->name, sizeof t->name, "%s", topic);
	return t;
}

void rd_kafka_topic_destroy(rd_kafka_topic_t *t)
{
	free(t);
}

const char *rd_kafka_topic_name(const rd_kafka_topic_t *t)
{
	return t->name;
}

rd_kafka_resp_err_t rd_kafka_metadata(rd_kafka_t *k, int all, rd_kafka_topic_t *only,
				      const struct rd_kafka_metadata **out, int ms)
{
	(void)all, (void)only;
	rd_kafka_resp_err_t e = broker_ask(k, "metadata", ms, NULL);
	if (e)
		return e;
	struct rd_kafka_metadata *m = calloc(1, sizeof *m);
	m->topic_cnt = 1;
	m->topics = calloc(1, sizeof *m->topics);
	m->topics[0].topic = strdup(TOPIC);
	m->topics[0].partition_cnt = W->broker->partitions;
	*out = m;
	return e;
}

void rd_kafka_metadata_destroy(const struct rd_kafka_metadata *m)
{
	free(m->topics[0].topic);
	free(m->topics);
	free((void *)(uintptr_t)m);
}

char *rd_kafka_clusterid(rd_kafka_t *k, int ms)
{
	(void)k, (void)ms;
	return strdup("simulated");
}

static int64_t offset_at(int p, int64_t time_ms)
{
	if (time_ms == RD_KAFKA_OFFSET_BEGINNING)
		return 0;
	if (time_ms == RD_KAFKA_OFFSET_END)
		return W->broker->part[p].end;
	for (int64_t i = 0; i < W->broker->part[p].end; i++)
		if (W->broker->part[p].message[i].time_ms >= time_ms)
			return i;
	return -1;
}

rd_kafka_resp_err_t rd_kafka_offsets_for_times(rd_kafka_t *k, rd_kafka_topic_partition_list_t *l,
					       int ms)
{
	rd_kafka_resp_err_t e = broker_ask(k, "list offsets", ms, NULL);

	for (int i = 0; !e && i < l->cnt; i++)
		l->elems[i].offset = offset_at(l->elems[i].partition, l->elems[i].offset);
	return e;
}

rd_kafka_resp_err_t rd_kafka_committed(rd_kafka_t *k, rd_kafka_topic_partition_list_t *l, int ms)
{
	rd_kafka_resp_err_t e = broker_ask(k, "committed", ms, NULL);

	for (int i = 0; !e && i < l->cnt; i++) {
		int p = l->elems[i].partition;

		l->elems[i].offset = W->broker->part[p].committed;
		if (l->elems[i].offset < 0)
			l->elems[i].offset = RD_KAFKA_OFFSET_INVALID;
		l->elems[i].metadata_size = W->broker->part[p].note_len;
		l->elems[i].metadata = malloc(NOTE_ROOM);
		memcpy(l->elems[i].metadata, W->broker->part[p].note, NOTE_ROOM);
	}
	return e;
}

void broker_keep_commit(const rd_kafka_topic_partition_list_t *l)
{
	for (int i = 0; i < l->cnt; i++) {
		int p = l->elems[i].partition;
		size_t n = l->elems[i].metadata_size < NOTE_ROOM ? l->elems[i].metadata_size
								 : NOTE_ROOM;

		sim_note("commit", (uint64_t)p, (uint64_t)l->elems[i].offset);
		W->broker->part[p].committed = l->elems[i].offset;
		W->broker->part[p].note_len = n;
		if (n)
			memcpy(W->broker->part[p].note, l->elems[i].metadata, n);
	}
}

rd_kafka_resp_err_t rd_kafka_commit(rd_kafka_t *k, const rd_kafka_topic_partition_list_t *l,
				    int async)
{
	bool done = true;

	if (async) {
		k->committing = rd_kafka_topic_partition_list_new(l->cnt);
		for (int i = 0; i < l->cnt; i++)
			rd_kafka_topic_partition_list_add(k->committing, l->elems[i].topic,
							  l->elems[i].partition)
				->offset = l->elems[i].offset;
		return RD_KAFKA_RESP_ERR_NO_ERROR;
	}
	rd_kafka_resp_err_t e = broker_ask(k, "commit", 5000, &done);
	if (done)
		broker_keep_commit(l);
	return e;
}

/* --- reading --- */

static void set_assignment(rd_kafka_t *k, const rd_kafka_topic_partition_list_t *l, bool on)
{
	for (int i = 0; l && i < l->cnt; i++) {
		struct reading *r = &k->part[l->elems[i].partition];

		r->on = on;
		r->told_end = false;
		r->next = l->elems[i].offset;
	}
}

rd_kafka_resp_err_t rd_kafka_assign(rd_kafka_t *k, const rd_kafka_topic_partition_list_t *l)
{
	sim_step("assign");
	for (int p = 0; p < PARTITIONS; p++)
		k->part[p].on = false;
	set_assignment(k, l, true);
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t rd_kafka_assignment(rd_kafka_t *k, rd_kafka_topic_partition_list_t **l)
{
	(void)k;
	*l = rd_kafka_topic_partition_list_new(0);
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t set_paused(rd_kafka_t *k, const rd_kafka_topic_partition_list_t *l,
				      bool paused)
{
	sim_step(paused ? "pause" : "resume");
	for (int i = 0; i < l->cnt; i++)
		k->part[l->elems[i].partition].paused = paused;
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t rd_kafka_pause_partitions(rd_kafka_t *k, rd_kafka_topic_partition_list_t *l)
{
	return set_paused(k, l, true);
}

rd_kafka_resp_err_t rd_kafka_resume_partitions(rd_kafka_t *k, rd_kafka_topic_partition_list_t *l)
{
	return set_paused(k, l, false);
}

static rd_kafka_message_t *make_message(int p, int64_t offset, rd_kafka_resp_err_t e)
{
	const struct kept_message *kept = e ? NULL : &W->broker->part[p].message[offset];
	rd_kafka_message_t *m = calloc(1, sizeof *m + (kept ? kept->len : 0) + 1);

	m->err = e;
	m->partition = p;
	m->offset = offset;
	if (kept) {
		m->payload = m + 1;
		m->len = kept->len;
		memcpy(m->payload, kept->value, kept->len);
	}
	return m;
}

/* Take a message, the end of the partition, or nothing from a partition. */
static rd_kafka_message_t *take_next(rd_kafka_t *k, int p)
{
	struct reading *r = &k->part[p];

	if (!r->on || r->paused)
		return NULL;
	if (r->next > W->broker->part[p].end)
		return make_message(p, r->next, RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET);
	while (r->next < W->broker->part[p].end && !broker_has(p, r->next))
		r->next++;
	if (r->next < W->broker->part[p].end) {
		r->told_end = false;
		return make_message(p, r->next++, RD_KAFKA_RESP_ERR_NO_ERROR);
	}
	if (r->told_end)
		return NULL;
	r->told_end = true;
	return make_message(p, r->next, RD_KAFKA_RESP_ERR__PARTITION_EOF);
}

ssize_t rd_kafka_consume_batch_queue(rd_kafka_queue_t *q, int ms, rd_kafka_message_t **out,
				     size_t n)
{
	rd_kafka_t *k = (rd_kafka_t *)(void *)q;
	int64_t end = W->now + ms * SIM_MS;
	size_t got = 0;

	sim_step("consume");
	if (W->broker->down) {
		k->all_down = true;
		sim_wait(W->broker, end);
		return 0;
	}
	if (sim_fault(W->odds.fetch_late)) {
		sim_note("nothing comes", 0, 0);
		sim_sleep(end - W->now);
		return 0;
	}
	if (n && sim_fault(W->odds.fetch_error))
		out[got++] = make_message((int)sim_below((uint64_t)W->broker->partitions), 0,
					  RD_KAFKA_RESP_ERR__TRANSPORT);
	/* fetches of partitions come in any order, and in pieces */
	int first = (int)sim_below((uint64_t)W->broker->partitions);
	for (int i = 0; i < W->broker->partitions; i++) {
		size_t most = 1 + sim_below(40);
		rd_kafka_message_t *m;

		while (got < n && most-- && (m = take_next(k, (first + i) % W->broker->partitions)))
			out[got++] = m;
	}
	if (!got)
		sim_wait(W->broker, end);
	sim_note("consumed", got, 0);
	return (ssize_t)got;
}

void rd_kafka_message_destroy(rd_kafka_message_t *m)
{
	free(m);
}

const char *rd_kafka_message_errstr(const rd_kafka_message_t *m)
{
	return rd_kafka_err2str(m->err);
}

rd_kafka_resp_err_t rd_kafka_message_headers(const rd_kafka_message_t *m, rd_kafka_headers_t **out)
{
	(void)m, (void)out;
	return RD_KAFKA_RESP_ERR__NOENT;
}

int64_t rd_kafka_message_timestamp(const rd_kafka_message_t *m, rd_kafka_timestamp_type_t *kind)
{
	*kind = RD_KAFKA_TIMESTAMP_CREATE_TIME;
	return W->broker->part[m->partition].message[m->offset].time_ms;
}
