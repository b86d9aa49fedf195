/* broker_group.c - simulates a cooperative consumer group, which assigns a partition after its
 * owner released it */
#include <stdlib.h>

#include "broker.h"

void broker_leave_group(rd_kafka_t *k)
{
	if (k->member >= 0) {
		W->broker->member[k->member].joined = false;
		W->broker->member[k->member].proc = NOBODY;
	}
	k->member = NOBODY;
}

rd_kafka_resp_err_t rd_kafka_poll_set_consumer(rd_kafka_t *k)
{
	(void)k;
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t rd_kafka_subscribe(rd_kafka_t *k, const rd_kafka_topic_partition_list_t *l)
{
	struct broker *b = W->broker;

	(void)l;
	sim_step("subscribe");
	for (int i = 0; i < MEMBERS && k->member < 0; i++)
		if (!b->member[i].joined && b->member[i].proc == NOBODY)
			k->member = i;
	if (k->member < 0)
		sim_violate("too many members of the group");
	b->member[k->member] =
		(struct group_member){.joined = true, .proc = sim_proc_of_self(), .polled = W->now};
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* End silent sessions, and share the partitions among the members. */
static void share_out(void)
{
	struct broker *b = W->broker;
	int list[MEMBERS], n = 0;

	for (int i = 0; i < MEMBERS; i++) {
		struct group_member *m = &b->member[i];

		if (m->joined && W->now - m->polled > SESSION_NS) {
			sim_note("session ends", (uint64_t)i, 0);
			m->joined = false;
		}
		m->target = 0;
		if (m->joined)
			list[n++] = i;
	}
	for (int p = 0; n && p < b->partitions; p++)
		b->member[list[p % n]].target |= 1u << p;
}

static rd_kafka_topic_partition_list_t *list_of(uint32_t set)
{
	rd_kafka_topic_partition_list_t *l = rd_kafka_topic_partition_list_new(0);

	for (int p = 0; p < PARTITIONS; p++)
		if (set & 1u << p)
			rd_kafka_topic_partition_list_add(l, TOPIC, p);
	return l;
}

static void rebalance(rd_kafka_t *k, rd_kafka_resp_err_t e, uint32_t set)
{
	rd_kafka_topic_partition_list_t *l = list_of(set);

	sim_note("rebalance", (uint64_t)(e == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS), set);
	k->conf.rebalance(k, e, l, k->conf.opaque);
	rd_kafka_topic_partition_list_destroy(l);
}

static void take_part(rd_kafka_t *k)
{
	struct broker *b = W->broker;
	struct group_member *m = &b->member[k->member];
	uint32_t owned = 0;

	if (!m->joined) { /* the session has ended, so the member lost its partitions */
		uint32_t lost = m->owned;

		*m = (struct group_member){.joined = true,
					   .proc = sim_proc_of_self(),
					   .polled = W->now,
					   .owned = lost};
		if (lost && !k->revoking) {
			k->revoking = true;
			rebalance(k, RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS, lost);
		}
		return;
	}
	m->polled = W->now;
	share_out();
	for (int i = 0; i < MEMBERS; i++)
		if (b->member[i].joined)
			owned |= b->member[i].owned;
	uint32_t away = m->owned & ~m->target, fresh = m->target & ~owned;
	if (away && !k->revoking) {
		k->revoking = true;
		rebalance(k, RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS, away);
	} else if (fresh && !away && !k->revoking) {
		m->owned |= fresh;
		rebalance(k, RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS, fresh);
	}
}

rd_kafka_message_t *rd_kafka_consumer_poll(rd_kafka_t *k, int ms)
{
	sim_step("consumer_poll");
	if (k->committing) {
		bool done = true;
		rd_kafka_topic_partition_list_t *l = k->committing;
		rd_kafka_resp_err_t e = broker_ask(k, "commit", 1000, &done);

		k->committing = NULL;
		if (done)
			broker_keep_commit(l);
		k->conf.commit(k, e, l, k->conf.opaque);
		rd_kafka_topic_partition_list_destroy(l);
	}
	if (!W->broker->down && k->member >= 0)
		take_part(k);
	if (ms)
		sim_sleep(ms * SIM_MS);
	return NULL;
}

rd_kafka_error_t *rd_kafka_incremental_assign(rd_kafka_t *k,
					      const rd_kafka_topic_partition_list_t *l)
{
	(void)k, (void)l;
	return NULL;
}

rd_kafka_error_t *rd_kafka_incremental_unassign(rd_kafka_t *k,
						const rd_kafka_topic_partition_list_t *l)
{
	sim_step("unassign");
	for (int i = 0; i < l->cnt; i++)
		W->broker->member[k->member].owned &= ~(1u << l->elems[i].partition);
	k->revoking = false;
	return NULL;
}

int rd_kafka_assignment_lost(rd_kafka_t *k)
{
	(void)k;
	return 0;
}

rd_kafka_error_t *rd_kafka_consumer_close_queue(rd_kafka_t *k, rd_kafka_queue_t *q)
{
	(void)q;
	sim_step("close consumer");
	broker_leave_group(k);
	k->closed = true;
	return NULL;
}

int rd_kafka_consumer_closed(rd_kafka_t *k)
{
	return k->closed;
}

rd_kafka_resp_err_t rd_kafka_fatal_error(rd_kafka_t *k, char *why, size_t why_size)
{
	(void)k, (void)why, (void)why_size;
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t rd_kafka_error_code(const rd_kafka_error_t *e)
{
	return e ? e->code : RD_KAFKA_RESP_ERR_NO_ERROR;
}

const char *rd_kafka_error_string(const rd_kafka_error_t *e)
{
	return rd_kafka_err2str(rd_kafka_error_code(e));
}

void rd_kafka_error_destroy(rd_kafka_error_t *e)
{
	free(e);
}
