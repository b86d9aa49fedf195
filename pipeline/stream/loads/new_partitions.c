#include "new_partitions.h"

#include <stdio.h>
#include <string.h>

#include "mem.h"

static int start_positions(struct kafka *client, const struct kafka_source *k,
			   const struct kafka_topic *t, bool new, int64_t *starts,
			   struct error *err)
{
	struct offset_range *r = mem_calloc(t->count + 1, sizeof *r);
	int rc = RC_OK;

	for (size_t i = 0; i < t->count; i++) {
		r[i] = (struct offset_range){.partition = t->partitions[i].id,
					     .end = t->partitions[i].high};
		r[i].start = k->start == KAFKA_LATEST ? r[i].end : t->partitions[i].low;
	}
	if (new && k->start == KAFKA_TIME)
		rc = kafka_offsets_at(client, k->start_ms, r, t->count, err);
	for (size_t i = 0; i < t->count; i++)
		starts[i] = new ? r[i].start : 0;
	mem_free(r);
	return rc;
}

int new_partitions(struct shared *shared, struct kafka *client, const struct job *job,
		   const struct listener *listener, struct error *err)
{
	struct kafka_topic t;

	if (shared->topic.topic && strcmp(shared->topic.topic, job->kafka.topic) == 0)
		kafka_topic_is_known(client, shared->topic.npartitions);
	int rc = kafka_look_at(client, NULL, 0, &t, err);
	if (rc)
		return rc;
	const struct state_topic now = {t.cluster, job->kafka.topic, t.npartitions, NULL};
	int32_t before = shared->topic.npartitions;
	bool new = shared->topic.topic == NULL;
	int64_t *starts = mem_calloc(t.count + 1, sizeof *starts);
	rc = shared_check(shared, &now, err);
	if (rc == RC_OK && now.npartitions > before)
		rc = start_positions(client, &job->kafka, &t, new, starts, err);
	if (rc == RC_OK && now.npartitions > before && !new)
		report_to(listener,
			  "topic %s now has %d partitions, before it had %d; the new partitions "
			  "begin at offset 0",
			  now.topic, now.npartitions, before);
	if (rc == RC_OK && now.npartitions > before)
		rc = shared_take_in(shared, &now, starts, err);
	mem_free(starts);
	kafka_topic_release(&t);
	return rc;
}
