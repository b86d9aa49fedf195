/*
 * ranges_to_load.c - choose the ranges of a load
 *
 * A range goes from the position to the end of a partition. The list omits parked partitions.
 */
#include <string.h>

#include "loading.h"
#include "parked_places.h"
#include "topics.h"

static int start_new(struct ingest *in, const struct kafka_topic *t, struct error *err)
{
	const struct kafka_source *k = &in->job->kafka;

	for (size_t i = 0; i < in->nranges; i++)
		in->ranges[i].start =
			k->start == KAFKA_LATEST ? t->partitions[i].high : t->partitions[i].low;
	return k->start == KAFKA_TIME
		       ? kafka_offsets_at(in->client, k->start_ms, in->ranges, in->nranges, err)
		       : RC_OK;
}

static const char *topic_of(const struct ingest *in, const struct offset_range *r)
{
	return kafka_topic_of(&in->job->kafka, r->topic);
}

static int start_positions(struct ingest *in, const struct kafka_topic *t, struct error *err)
{
	for (size_t i = 0; i < in->nranges; i++) {
		struct offset_range *r = &in->ranges[i];

		if (!state_position(in->state, r->topic, r->partition, &r->start))
			return error_set(err, RC_DATA,
					 "partition %d of topic %s has no position in the "
					 "state; to load it from its beginning: `saltmill seek "
					 "--state DIR %s=%lld`",
					 r->partition, topic_of(in, r),
					 place_text(r->topic, r->partition).text,
					 (long long)t->partitions[i].low);
		r->last = state_last(in->state, r->topic, r->partition);
	}
	return RC_OK;
}

/*
 * Set *out if the load leaves out the range. If a partition has lost its position, park the
 * partition. If the run parks nothing, return the error.
 */
static int judge_range(struct ingest *in, const struct offset_range *r,
		       const struct kafka_partition *p, bool *out, struct error *err)
{
	const struct parked_place *place = in->parked ? parked_find(in->parked, r) : NULL;

	*out = in->only ? place_order(in->only->topic, in->only->partition, r->topic,
				      r->partition) != 0
			: place != NULL;
	if (place && r->end > r->start)
		in->parked->lag += (uint64_t)(r->end - r->start);
	if (*out)
		return RC_OK;
	/* a position after the end means a damaged or recreated topic, not an empty range */
	struct offset_range at = *r;
	at.end = at.start;
	int rc = kafka_check_range(topic_of(in, &at), &at, p->low, p->high, err);
	if (rc != RC_DATA || !in->parked)
		return rc;
	*out = true;
	parked_put(in->parked, r, &in->listener, err->msg);
	return RC_OK;
}

/* Count the available offsets, and leave out parked partitions. */
static int drop_parked(struct ingest *in, const struct kafka_topic *t, struct error *err)
{
	size_t n = 0;
	int rc = RC_OK;

	if (in->parked)
		in->parked->lag = 0;
	for (size_t i = 0; rc == RC_OK && i < t->count; i++) {
		bool out = false;

		rc = judge_range(in, &in->ranges[i], &t->partitions[i], &out, err);
		if (rc || out)
			continue;
		in->available += (uint64_t)(in->ranges[i].end - in->ranges[i].start);
		in->ranges[n++] = in->ranges[i];
	}
	in->nranges = n;
	if (rc == RC_OK && n == 0 && !in->only && t->count)
		rc = error_set(err, RC_DATA, "%s", in->parked->item[in->parked->n - 1].why);
	return rc;
}

int ingest_set_ranges(struct ingest *in, const struct kafka_topic *t, struct error *err)
{
	mem_free(in->ranges);
	in->nranges = t->count;
	in->ranges = mem_calloc(t->count + 1, sizeof *in->ranges);
	for (size_t i = 0; i < t->count; i++)
		in->ranges[i] = (struct offset_range){.topic = t->partitions[i].topic,
						      .partition = t->partitions[i].id,
						      .end = t->partitions[i].high};
	bool new = !in->state || state_is_new(in->state);
	int rc = new ? start_new(in, t, err) : topics_take_in(in, t, err);
	if (rc == RC_OK && !new)
		rc = start_positions(in, t, err);
	in->available = 0;
	return rc ? rc : drop_parked(in, t, err);
}

int ingest_end_early(struct ingest *in, const struct offset_range *until, size_t n,
		     struct error *err)
{
	const char *only = in->job->kafka.topic;

	for (size_t i = 0; i < n; i++) {
		const struct offset_range *u = &until[i];
		const char *topic =
			u->topic && only && strcmp(u->topic, only) == 0 ? NULL : u->topic;
		size_t at = 0;

		while (at < in->nranges &&
		       place_order(in->ranges[at].topic, in->ranges[at].partition, topic,
				   u->partition) != 0)
			at++;
		if (at == in->nranges)
			return error_set(
				err, RC_CONFIG,
				"--until: found partition %s, expected one that the load reads",
				place_text(u->topic, u->partition).text);
		struct offset_range *r = &in->ranges[at];
		if (u->end < r->start || u->end > r->end)
			return error_set(
				err, RC_CONFIG,
				"--until: found offset %lld of partition %s, expected one from %lld, where "
				"the load begins, to %lld",
				(long long)u->end, place_text(u->topic, u->partition).text,
				(long long)r->start, (long long)r->end);
		in->available -= (uint64_t)(r->end - u->end);
		r->end = u->end;
	}
	return RC_OK;
}
