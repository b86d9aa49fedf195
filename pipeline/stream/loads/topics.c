#include "topics.h"

#include <stdio.h>
#include <string.h>

#include "bytes.h"

static bool is_there(const struct kafka_topic *t, const char *name)
{
	for (size_t i = 0; i < t->ntopics; i++)
		if (strcmp(t->topics[i].name, name) == 0)
			return true;
	return false;
}

/* --- missing topics --- */

static size_t find_gone(const struct ingest *in, const char *name)
{
	size_t i = 0;

	while (i < in->ngone && strcmp(in->gone[i], name) != 0)
		i++;
	return i;
}

/* Report a topic once; name: owned by the state. */
static int say_gone(struct ingest *in, const char *name, struct error *err)
{
	bool ours = kafka_has_topic(&in->job->kafka, name), refused = false;
	int rc = ours ? kafka_is_refused(in->client, name, &refused, err) : RC_OK;

	if (rc)
		return rc;
	if (refused)
		report_to(
			&in->listener,
			"topic %s is not readable: the brokers deny access "
			"(TOPIC_AUTHORIZATION_FAILED; DESCRIBE and READ are needed); nothing of it "
			"is lost: its positions are kept, and loading continues from them once "
			"access is granted; the other topics continue",
			name);
	else if (ours)
		report_to(
			&in->listener,
			"topic %s no longer exists: if it was deleted, its messages that were not "
			"loaded are lost; its positions are kept, the other topics continue",
			name);
	else
		report_to(&in->listener,
			  "topic %s is no longer among the job's topics: it is not loaded, its "
			  "positions are kept",
			  name);
	in->gone = mem_grow(in->gone, in->ngone, sizeof *in->gone);
	in->gone[in->ngone++] = name;
	in->nmissing += ours;
	return RC_OK;
}

static int look_for_gone(struct ingest *in, const struct kafka_topic *t, struct error *err)
{
	const struct state_topics *of = state_topics(in->state);
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < of->n; i++) {
		const char *name = of->item[i].topic;
		size_t at = find_gone(in, name);
		bool there = is_there(t, name), said = at < in->ngone;

		/* ignore a topic of which the state has no partition */
		if (!there && !said && state_has_topic(in->state, name))
			rc = say_gone(in, name, err);
		if (!there || !said)
			continue;
		report_to(&in->listener, "topic %s exists again", name);
		in->claimed = false;
		in->gone[at] = in->gone[--in->ngone];
		in->nmissing -= kafka_has_topic(&in->job->kafka, name);
	}
	return rc;
}

int topics_bind(struct ingest *in, const struct kafka_topic *t, struct error *err)
{
	memcpy(in->cluster, t->cluster, sizeof in->cluster);
	if (!in->state)
		return RC_OK;
	struct state_topics now = {.n = t->ntopics, .unnamed = in->job->kafka.topic != NULL};
	now.item = mem_calloc(now.n + 1, sizeof *now.item);
	for (size_t i = 0; i < now.n; i++)
		now.item[i] = (struct state_topic){t->cluster, t->topics[i].name,
						   t->topics[i].npartitions};
	int rc = state_bind(in->state, &now, in->job->kafka.npartitions > 0, err);
	mem_free(now.item);
	return rc ? rc : look_for_gone(in, t, err);
}

/* --- new topics --- */

static void say_new(const struct ingest *in, const struct kafka_topic *t, const char *name)
{
	for (size_t i = 0; i < t->ntopics; i++)
		if (strcmp(t->topics[i].name, name) == 0)
			report_to(
				&in->listener,
				"topic %s with %d partition%s was found; it is loaded from its beginning",
				name, t->topics[i].npartitions,
				t->topics[i].npartitions == 1 ? "" : "s");
}

int topics_take_in(struct ingest *in, const struct kafka_topic *t, struct error *err)
{
	struct offset_range *new = mem_calloc(t->count + 1, sizeof *new);
	size_t n = 0;
	bool is_new = false;

	for (size_t i = 0; i < t->count; i++) {
		const struct kafka_partition *p = &t->partitions[i];

		if (i == 0 || p->topic != t->partitions[i - 1].topic) {
			is_new = p->topic && !state_has_topic(in->state, p->topic);
			if (is_new)
				say_new(in, t, p->topic);
		}
		if (is_new)
			new[n++] = (struct offset_range){.topic = p->topic,
							 .partition = p->id,
							 .start = p->low,
							 .end = p->low};
	}
	if (n)
		in->claimed = false; /* not yet committed to the group */
	/* a run that only looks keeps the positions in memory */
	int rc = !n	     ? RC_OK
		 : in->looks ? state_imagine(in->state, new, n, err)
			     : state_seek(in->state, new, n, err);
	mem_free(new);
	return rc;
}

/* --- interrupted loads --- */

int topics_of_intent(struct ingest *in, const struct kafka_topic *t, const struct state_load *l,
		     struct offset_range **out, struct error *err)
{
	const struct state_topics *of = state_topics(in->state);
	struct offset_range *ranges = mem_calloc(l->nranges + 1, sizeof *ranges);

	*out = ranges;
	for (size_t i = 0; i < l->nranges; i++) {
		ranges[i] = l->ranges[i];
		/* made when the job named several topics, including its present one */
		if (ranges[i].topic && in->job->kafka.topic &&
		    strcmp(ranges[i].topic, in->job->kafka.topic) == 0)
			ranges[i].topic = NULL;
		/* made when the job named only one topic */
		if (!ranges[i].topic && !in->job->kafka.topic && of->unnamed)
			ranges[i].topic = of->item->topic;
		if (!ranges[i].topic || is_there(t, ranges[i].topic))
			continue;
		return error_set(
			err, RC_DATA,
			"load %s was interrupted and has offsets of topic %s, which no longer "
			"exists; to continue without it: `saltmill loads --state DIR --discard %s`, "
			"then the offsets of the other topics are loaded again",
			l->name, ranges[i].topic, l->name);
	}
	return RC_OK;
}
