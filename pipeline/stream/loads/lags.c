/*
 * lags.c - the lag of each partition, in offsets and in seconds
 *
 * The lag in seconds is the time since the last look at the brokers whose messages are all in
 * published loads. So a load has every message that came before. The figure does not use the
 * messages' timestamps, because producers set them. It can be too large while the stream shortens
 * cuts, but never too small.
 */
#include "stream.h"

#include <string.h>

void topic_lags_release(struct topic_lags *l)
{
	for (size_t i = 0; i < l->n; i++)
		mem_free(l->item[i].topic);
	mem_free(l->item);
	l->item = NULL;
	l->n = 0;
}

/* Find a partition's last entry. Both lists have the same order, so begin at `*at`. */
static const struct partition_lag *find_last(const struct topic_lags *l, size_t *at,
					     const char *topic, int32_t partition)
{
	for (size_t tries = 0; tries < l->n; tries++) {
		const struct partition_lag *p = &l->item[(*at + tries) % l->n];

		if (p->partition == partition && strcmp(p->topic, topic) == 0) {
			*at = (*at + tries + 1) % l->n;
			return p;
		}
	}
	return NULL;
}

static struct partition_lag lag_of(const char *topic, const struct offset_range *r,
				   const struct partition_lag *last, int64_t now_ms)
{
	struct partition_lag p = {.topic = mem_strdup(topic),
				  .partition = r->partition,
				  .lag = (uint64_t)(r->end - r->start),
				  .seen_end = r->end,
				  .seen_ms = now_ms,
				  .since_ms = now_ms};

	if (p.lag && last)
		p.since_ms = r->start >= last->seen_end ? last->seen_ms : last->since_ms;
	return p;
}

void stream_show_lags(struct stream_gauges *g, const struct job *job,
		      const struct offset_range *ranges, size_t n)
{
	struct topic_lags *l = g->by_topic;
	int64_t now_ms = clock_ms();
	size_t at = 0;

	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	struct partition_lag *item = mem_calloc(n + 1, sizeof *item);
	for (size_t i = 0; i < n; i++) {
		const char *topic = kafka_topic_of(&job->kafka, ranges[i].topic);

		item[i] = lag_of(topic, &ranges[i], find_last(l, &at, topic, ranges[i].partition),
				 now_ms);
	}
	topic_lags_release(l);
	l->item = item;
	l->n = n;
	pthread_mutex_unlock(&l->lock);
}
