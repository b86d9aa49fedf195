/* kafka_topic.c - what a topic holds, and the offsets that a group has noted */
#include <stdio.h>
#include <string.h>

#include "kafka_client.h"

#define FIRST_MS    1000
#define START_TRIES 15 /* a second each */

rd_kafka_topic_partition_list_t *kafka_list(const struct kafka *k, const struct offset_range *r,
					    size_t n)
{
	rd_kafka_topic_partition_list_t *l = rd_kafka_topic_partition_list_new((int)n);
	for (size_t i = 0; i < n; i++)
		rd_kafka_topic_partition_list_add(l, k->job->kafka.topic, r[i].partition);
	return l;
}

static int wait_for_topic(struct kafka *k, rd_kafka_resp_err_t e, const char *what,
			  struct error *err)
{
	const struct kafka_source *s = &k->job->kafka;
	if (e == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC || e == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
		return error_set(
			err, k->topic_known ? RC_DATA : RC_CONFIG,
			"%s:%u:%u: the cluster at %s has no topic %s; if it was deleted, what was "
			"not loaded yet is lost",
			k->job->path, s->pos.line, s->pos.column, s->brokers, s->topic);
	return kafka_wait_or_fail(k, e, what, err);
}

void kafka_topic_is_known(struct kafka *k)
{
	k->topic_known = true;
}

/*
 * A broker that has just started may not know its partitions yet, and librdkafka keeps its answer
 * until it is asked again.
 */
static void refresh(struct kafka *k)
{
	const struct rd_kafka_metadata *m = NULL;
	if (rd_kafka_metadata(k->client, 0, k->topic, &m, REQUEST_MS) == RD_KAFKA_RESP_ERR_NO_ERROR)
		rd_kafka_metadata_destroy(m);
}

int kafka_list_offsets(struct kafka *k, int64_t time, struct offset_range *r, size_t n,
		       struct error *err)
{
	for (int tries = 0;; tries++) {
		rd_kafka_topic_partition_list_t *l = kafka_list(k, r, n);
		for (size_t i = 0; i < n; i++)
			l->elems[i].offset = time;
		rd_kafka_resp_err_t e = rd_kafka_offsets_for_times(k->client, l, REQUEST_MS);
		for (size_t i = 0; !e && i < n; i++) {
			e = l->elems[i].err;
			r[i].start = l->elems[i].offset;
		}
		rd_kafka_topic_partition_list_destroy(l);
		if (!e) {
			silence_end(&k->silence);
			return RC_OK;
		}
		if (e == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION && tries < START_TRIES) {
			refresh(k);
			e = RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
		}
		int rc = wait_for_topic(k, e, "cannot ask for its offsets", err);
		if (rc)
			return rc;
	}
}

int kafka_offsets_at(struct kafka *k, int64_t time_ms, struct offset_range *ranges, size_t n,
		     struct error *err)
{
	int rc = kafka_list_offsets(k, time_ms, ranges, n, err);
	for (size_t i = 0; !rc && i < n; i++)
		if (ranges[i].start < 0 || ranges[i].start > ranges[i].end)
			ranges[i].start = ranges[i].end;
	return rc;
}

static int count_partitions(struct kafka *k, int32_t *n, struct error *err)
{
	/* the first request: what is wrong with the connection shall show soon */
	for (int ms = FIRST_MS;; ms = ms < REQUEST_MS ? 2 * ms : REQUEST_MS) {
		const struct rd_kafka_metadata *m = NULL;
		rd_kafka_resp_err_t e = rd_kafka_metadata(k->client, 0, k->topic, &m, ms);
		if (!e)
			e = m->topic_cnt == 1 ? m->topics[0].err : RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
		*n = e ? 0 : m->topics[0].partition_cnt;
		if (m)
			rd_kafka_metadata_destroy(m);
		if (!e) {
			silence_end(&k->silence);
			k->topic_known = true;
			return RC_OK;
		}
		int rc = wait_for_topic(k, e, "cannot look at it", err);
		if (rc)
			return rc;
	}
}

static int name_partitions(struct kafka *k, const int32_t *wanted, size_t n, struct kafka_topic *t,
			   struct error *err)
{
	const struct kafka_source *s = &k->job->kafka;
	t->count = n ? n : (size_t)t->npartitions;
	t->partitions = mem_calloc(t->count, sizeof(*t->partitions));
	for (size_t i = 0; i < t->count; i++) {
		t->partitions[i].id = n ? wanted[i] : (int32_t)i;
		if (t->partitions[i].id >= t->npartitions)
			return error_set(
				err, RC_CONFIG,
				"%s:%u:%u: topic %s has the partitions 0 to %d, found %d in "
				"`partitions`",
				k->job->path, s->pos.line, s->pos.column, s->topic,
				t->npartitions - 1, t->partitions[i].id);
	}
	return RC_OK;
}

int kafka_look(struct kafka *k, struct kafka_topic *out, struct error *err)
{
	return kafka_look_at(k, k->job->kafka.partitions, k->job->kafka.npartitions, out, err);
}

int kafka_look_at(struct kafka *k, const int32_t *partitions, size_t n, struct kafka_topic *out,
		  struct error *err)
{
	*out = (struct kafka_topic){0};
	int rc = count_partitions(k, &out->npartitions, err);
	if (!rc)
		rc = name_partitions(k, partitions, n, out, err);
	struct offset_range *r = mem_calloc(out->count + 1, sizeof(*r));
	for (size_t i = 0; i < out->count; i++)
		r[i].partition = out->partitions[i].id;
	/* the end first: a partition is never seen to end before it begins */
	if (!rc)
		rc = kafka_list_offsets(k, RD_KAFKA_OFFSET_END, r, out->count, err);
	for (size_t i = 0; !rc && i < out->count; i++)
		out->partitions[i].high = r[i].start;
	if (!rc)
		rc = kafka_list_offsets(k, RD_KAFKA_OFFSET_BEGINNING, r, out->count, err);
	for (size_t i = 0; !rc && i < out->count; i++)
		out->partitions[i].low = r[i].start;
	mem_free(r);
	if (rc)
		kafka_topic_release(out);
	char *cluster = rc ? NULL : rd_kafka_clusterid(k->client, REQUEST_MS);
	if (cluster) {
		snprintf(out->cluster, sizeof(out->cluster), "%s", cluster);
		rd_kafka_mem_free(k->client, cluster);
	}
	return rc;
}

/* --- the group's notes --- */

static void take_note(const struct kafka *k, const rd_kafka_topic_partition_t *from,
		      struct group_note *to)
{
	const char *by = from->metadata;
	size_t len = by ? from->metadata_size : 0, own = strlen(k->name);
	to->offset = from->offset < 0 ? -1 : from->offset;
	to->ours = to->offset >= 0 && len == own && memcmp(by, k->name, own) == 0;
	len = len < sizeof(to->by) ? len : sizeof(to->by) - 1;
	/* any client may have written anything */
	for (size_t i = 0; i < len; i++)
		to->by[i] = by[i] >= ' ' && by[i] <= '~' ? by[i] : '?';
	to->by[len] = 0;
}

int kafka_committed(struct kafka *k, const struct offset_range *ranges, struct group_note *notes,
		    size_t n, struct error *err)
{
	for (;;) {
		rd_kafka_topic_partition_list_t *l = kafka_list(k, ranges, n);
		rd_kafka_resp_err_t e = rd_kafka_committed(k->client, l, REQUEST_MS);
		for (size_t i = 0; !e && i < n; i++) {
			e = l->elems[i].err;
			take_note(k, &l->elems[i], &notes[i]);
		}
		rd_kafka_topic_partition_list_destroy(l);
		if (!e)
			return RC_OK;
		int rc = kafka_wait_or_fail(k, e, "cannot ask for the group's offsets", err);
		if (rc)
			return rc;
	}
}

int kafka_commit(struct kafka *k, const struct offset_range *ranges, size_t n, struct error *err)
{
	rd_kafka_topic_partition_list_t *l = kafka_list(k, ranges, n);
	for (size_t i = 0; i < n; i++) {
		l->elems[i].offset = ranges[i].end;
		l->elems[i].metadata_size = strlen(k->name);
		l->elems[i].metadata = rd_kafka_mem_malloc(k->client, l->elems[i].metadata_size);
		memcpy(l->elems[i].metadata, k->name, l->elems[i].metadata_size);
	}
	rd_kafka_resp_err_t e = rd_kafka_commit(k->client, l, 0);
	for (size_t i = 0; !e && i < n; i++)
		e = l->elems[i].err;
	rd_kafka_topic_partition_list_destroy(l);
	return e ? error_set(err, RC_IO, "cannot commit offsets to group %s: %s",
			     k->job->kafka.group, rd_kafka_err2str(e))
		 : RC_OK;
}
