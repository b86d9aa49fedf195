#include "topics.h"

#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "clock.h"
#include "pool.h"

#define LIST_BYTES  150 /* limit of a list of positions in a message, in bytes */
#define ID_TRIES    3
#define ID_PAUSE_MS 500

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

/* Report a missing topic once. The state owns `name`. */
static int say_gone(struct ingest *in, const char *name, struct error *err)
{
	bool ours = kafka_has_topic(&in->job->kafka, name), refused = false;
	int rc = ours ? kafka_is_refused(in->client, name, &refused, err) : RC_OK;

	if (rc)
		return rc;
	if (refused)
		report_to(&in->listener,
			  "the brokers deny access to topic %s (TOPIC_AUTHORIZATION_FAILED); no "
			  "message is lost, the topic's positions stay, and the other topics "
			  "continue; grant DESCRIBE and READ on the topic to continue",
			  name);
	else if (ours)
		report_to(&in->listener,
			  "topic %s no longer exists; after its deletion, its messages in no load "
			  "are lost; its positions stay, and the other topics continue",
			  name);
	else
		report_to(&in->listener,
			  "topic %s is no longer among the job's topics; saltmill does not load "
			  "it, and its positions stay",
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

		/* ignore a topic if the state has none of its partitions */
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

/* --- recreated topics --- */

/*
 * List positions as " 0=5 1=9", for the partitions of a topic that have a position in the state. If
 * `beginnings` is true, list the beginnings of these partitions instead of the positions.
 */
static void list_positions(const struct ingest *in, const struct kafka_topic *t, const char *name,
			   bool beginnings, struct buf *out)
{
	int64_t at;

	for (size_t i = 0; i < t->count && out->len < LIST_BYTES; i++) {
		const struct kafka_partition *p = &t->partitions[i];

		if (strcmp(kafka_topic_of(&in->job->kafka, p->topic), name) == 0 &&
		    state_position(in->state, p->topic, p->id, &at))
			buf_printf(out, " %s=%lld", place_text(p->topic, p->id).text,
				   (long long)(beginnings ? p->low : at));
	}
	if (out->len >= LIST_BYTES)
		buf_append_str(out, " ...");
	buf_put(out, 0);
}

static int refuse_recreated(const struct ingest *in, const struct kafka_topic *t,
			    const struct state_topic *was, const char *now, struct error *err)
{
	struct buf anew = {0}, on = {0};

	list_positions(in, t, was->topic, true, &anew);
	list_positions(in, t, was->topic, false, &on);
	error_set(err, RC_DATA,
		  "somebody deleted and recreated topic %s: found the topic id %s, expected %s; "
		  "published loads are safe, but messages in no load are lost; to load all "
		  "existing messages, run `saltmill seek --state DIR%s`; to load only messages "
		  "after the positions, run `saltmill seek --state DIR%s`",
		  was->topic, now, was->id, (const char *)anew.ptr, (const char *)on.ptr);
	buf_release(&anew);
	buf_release(&on);
	return RC_DATA;
}

/* Query the topic's id again, because a broker that lags may still describe the deleted topic. */
static int confirm(struct ingest *in, const struct state_topic *was, struct error *err)
{
	const char *why, *id = kafka_topic_id(in->client, was->topic, &why);
	int rc = RC_OK;

	for (int tries = 0; rc == RC_OK && id && strcmp(id, was->id) != 0 && tries < ID_TRIES;
	     tries++) {
		clock_sleep_ms(ID_PAUSE_MS);
		rc = stop_check(err);
		kafka_learn_ids(in->client);
		id = kafka_topic_id(in->client, was->topic, &why);
	}
	return rc;
}

/* Compare the topics' ids with the recorded ids. The stream reports an unknown id once. */
static int check_ids(struct ingest *in, const struct kafka_topic *t, struct error *err)
{
	const struct state_topics *of = state_topics(in->state);
	const char *why;
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < of->n; i++) {
		const struct state_topic *was = &of->item[i];

		if (!was->id || !is_there(t, was->topic))
			continue;
		rc = confirm(in, was, err);
		const char *now = kafka_topic_id(in->client, was->topic, &why);
		if (rc == RC_OK && now && strcmp(now, was->id) != 0)
			return refuse_recreated(in, t, was, now, err);
		if (now || in->no_ids)
			continue;
		in->no_ids = true;
		report_to(&in->listener,
			  "topic %s: cannot compare its topic id (%s); the last loaded message "
			  "still shows most new topics",
			  was->topic, why);
	}
	return rc;
}

int topics_adopt_ids(struct ingest *in, struct error *err)
{
	const struct state_topics *of = state_topics(in->state);
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < of->n; i++) {
		const char *why, *id = kafka_topic_id(in->client, of->item[i].topic, &why);

		if (!of->item[i].id && id)
			rc = state_renew_topic(in->state, of->item[i].topic, id, err);
		of = state_topics(in->state);
	}
	return rc;
}

bool topics_have_ids(const struct ingest *in)
{
	const struct state_topics *of = in->state ? state_topics(in->state) : NULL;
	size_t i = 0;

	while (of && i < of->n && of->item[i].id)
		i++;
	return of && i == of->n && !in->no_ids;
}

int topics_same(struct ingest *in, struct error *err)
{
	const struct state_topics *of = in->state ? state_topics(in->state) : NULL;
	const char *why;

	if (of)
		kafka_learn_ids(in->client);
	for (size_t i = 0; of && i < of->n; i++) {
		const char *now = kafka_topic_id(in->client, of->item[i].topic, &why);

		if (of->item[i].id && now && strcmp(of->item[i].id, now) != 0)
			return error_set(
				err, RC_DATA,
				"somebody deleted and recreated topic %s during the read: found "
				"the topic id %s, expected %s; saltmill drops the load; the next "
				"load prints how to continue",
				of->item[i].topic, now, of->item[i].id);
	}
	return RC_OK;
}

/* Bind the state to the brokers' topics. */
static int bind(struct ingest *in, const struct kafka_topic *t, struct error *err)
{
	struct state_topics now = {.n = t->ntopics, .unnamed = in->job->kafka.topic != NULL};
	const char *ignored;

	now.item = mem_calloc(now.n + 1, sizeof *now.item);
	for (size_t i = 0; i < now.n; i++)
		now.item[i] = (struct state_topic){t->cluster, t->topics[i].name,
						   t->topics[i].npartitions,
						   kafka_topic_id(in->client, t->topics[i].name,
								  &ignored)};
	int rc = state_bind(in->state, &now, in->job->kafka.npartitions > 0, err);
	mem_free(now.item);
	return rc;
}

int topics_bind(struct ingest *in, const struct kafka_topic *t, struct error *err)
{
	memcpy(in->cluster, t->cluster, sizeof in->cluster);
	if (!in->state)
		return RC_OK;
	int rc = check_ids(in, t, err);
	if (rc == RC_OK)
		rc = bind(in, t, err);
	return rc ? rc : look_for_gone(in, t, err);
}

/* --- new topics and partitions --- */

static const struct kafka_size *size_of(const struct kafka_topic *t, const char *name)
{
	size_t i = 0;

	while (strcmp(t->topics[i].name, name) != 0)
		i++;
	return &t->topics[i];
}

/*
 * Return the number of partitions that the state has recorded for a topic, or 0 if the state does
 * not know the topic.
 */
static int32_t known_partitions(const struct ingest *in, const char *name)
{
	const struct state_topics *of = state_topics(in->state);

	for (size_t i = 0; i < of->n; i++)
		if (strcmp(of->item[i].topic, name) == 0)
			return of->item[i].npartitions;
	return 0;
}

/*
 * Return true if the brokers have added the partition to a known topic. If the job lists
 * partitions, the answer is false. A partition without a position may then be new only in the list,
 * while another state loads it.
 */
static bool is_added(const struct ingest *in, const struct kafka_partition *p, int32_t known)
{
	int64_t ignored;

	return !in->job->kafka.npartitions && p->id >= known &&
	       !state_position(in->state, p->topic, p->id, &ignored);
}

static void say_new(const struct ingest *in, const struct kafka_size *t)
{
	report_to(&in->listener,
		  "found new topic %s with %d partition%s; saltmill loads it from its beginning",
		  t->name, t->npartitions, t->npartitions == 1 ? "" : "s");
}

static void say_added(const struct ingest *in, const struct kafka_size *t, int32_t known)
{
	report_to(&in->listener,
		  "topic %s had %d partition%s, now it has %d; saltmill loads the new ones from "
		  "their beginning",
		  t->name, known, known == 1 ? "" : "s", t->npartitions);
}

int topics_take_in(struct ingest *in, const struct kafka_topic *t, struct error *err)
{
	struct offset_range *new = mem_calloc(t->count + 1, sizeof *new);
	size_t n = 0;
	bool is_new = false, said = false;
	int32_t known = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct kafka_partition *p = &t->partitions[i];
		const struct kafka_size *of = size_of(t, kafka_topic_of(&in->job->kafka, p->topic));

		if (i == 0 || p->topic != t->partitions[i - 1].topic) {
			known = known_partitions(in, of->name);
			said = false;
			is_new = p->topic && !state_has_topic(in->state, p->topic);
			if (is_new)
				say_new(in, of);
		}
		if (!is_new && !is_added(in, p, known))
			continue;
		if (!is_new && !said)
			say_added(in, of, known);
		said = true;
		new[n++] = (struct offset_range){.topic = p->topic,
						 .partition = p->id,
						 .start = p->low,
						 .end = p->low};
	}
	if (n)
		in->claimed = false; /* the new positions are not yet committed to the group */
	/* a run without a lock keeps the new positions only in memory */
	int rc = !n	     ? RC_OK
		 : in->looks ? state_imagine(in->state, new, n, err)
			     : state_seek(in->state, new, n, err);
	mem_free(new);
	return rc || !n ? rc : bind(in, t, err); /* records the number of partitions */
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
		/* the job of this load named several topics */
		if (ranges[i].topic && in->job->kafka.topic &&
		    strcmp(ranges[i].topic, in->job->kafka.topic) == 0)
			ranges[i].topic = NULL;
		/* the job of this load named only one topic */
		if (!ranges[i].topic && !in->job->kafka.topic && of->unnamed)
			ranges[i].topic = of->item->topic;
		if (!ranges[i].topic || is_there(t, ranges[i].topic))
			continue;
		return error_set(
			err, RC_DATA,
			"the interrupted load %s has offsets of topic %s, which no longer "
			"exists; to load the offsets of its other topics again, run `saltmill "
			"loads --state DIR --discard %s`",
			l->name, ranges[i].topic, l->name);
	}
	return RC_OK;
}
