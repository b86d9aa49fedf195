/* kafka_topic.c - find topics, their offsets, and the offsets that a group has committed */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "kafka_client.h"

#define FIRST_MS    1000
#define PAUSE_MS    200
#define START_TRIES 15 /* tries, one per second */

rd_kafka_topic_partition_list_t *kafka_list(const struct kafka *k, const struct offset_range *r,
					    size_t n)
{
	rd_kafka_topic_partition_list_t *l = rd_kafka_topic_partition_list_new((int)n);

	for (size_t i = 0; i < n; i++)
		rd_kafka_topic_partition_list_add(l, kafka_topic_of(&k->job->kafka, r[i].topic),
						  r[i].partition);
	return l;
}

static bool is_unknown(rd_kafka_resp_err_t e)
{
	return e == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
	       e == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

static int wait_for_topic(struct kafka *k, rd_kafka_resp_err_t e, const char *topic,
			  const char *what, struct error *err)
{
	const struct kafka_source *s = &k->job->kafka;

	if (is_unknown(e))
		return error_set(
			err, k->topic_known ? RC_DATA : RC_CONFIG,
			"%s:%u:%u: the cluster at %s has no topic %s; after a deletion of the "
			"topic, messages in no load are lost%s",
			k->job->path, s->pos.line, s->pos.column, s->brokers, topic,
			s->topic ? ""
				 : "; to load the other topics, remove the topic from `topics` or "
				   "use a pattern; "
				   "`saltmill loads --state DIR --discard NAME` discards an "
				   "interrupted load");
	return kafka_wait_or_fail(k, e, what, err);
}

void kafka_topic_is_known(struct kafka *k, int32_t npartitions)
{
	k->topic_known = true;
	k->most_known = npartitions > k->most_known ? npartitions : k->most_known;
}

/*
 * Fetch metadata again, because librdkafka keeps the answer of a broker that has just started and
 * does not know its partitions yet.
 */
static void refresh(struct kafka *k)
{
	const struct rd_kafka_metadata *m = NULL;
	rd_kafka_topic_t *only = k->job->kafka.topic ? k->topics[0].handle : NULL;

	if (rd_kafka_metadata(k->client, 0, only, &m, REQUEST_MS) == RD_KAFKA_RESP_ERR_NO_ERROR)
		rd_kafka_metadata_destroy(m);
}

int kafka_list_offsets(struct kafka *k, int64_t time, struct offset_range *r, size_t n,
		       struct error *err)
{
	for (int tries = 0; n; tries++) {
		rd_kafka_topic_partition_list_t *l = kafka_list(k, r, n);
		const char *topic = kafka_name(&k->job->kafka);

		for (size_t i = 0; i < n; i++)
			l->elems[i].offset = time;
		rd_kafka_resp_err_t e = rd_kafka_offsets_for_times(k->client, l, REQUEST_MS);
		for (size_t i = 0; (!e || is_unknown(e)) && i < n; i++) {
			if (l->elems[i].err && (!e || e == l->elems[i].err)) {
				e = l->elems[i].err;
				topic = kafka_topic_of(&k->job->kafka, r[i].topic);
			}
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
		int rc = wait_for_topic(k, e, topic, "cannot query its offsets", err);
		if (rc)
			return rc;
	}
	return RC_OK;
}

int kafka_offsets_at(struct kafka *k, int64_t time_ms, struct offset_range *ranges, size_t n,
		     struct error *err)
{
	/* negative times have other meanings in the protocol, and no message is older than 1970 */
	int rc = kafka_list_offsets(k, time_ms < 0 ? RD_KAFKA_OFFSET_BEGINNING : time_ms, ranges, n,
				    err);

	for (size_t i = 0; rc == RC_OK && i < n; i++)
		if (ranges[i].start < 0 || ranges[i].start > ranges[i].end)
			ranges[i].start = ranges[i].end;
	return rc;
}

/* --- which topics there are --- */

static struct seen_topic *add_topic(struct kafka *k, size_t at, const char *name)
{
	k->topics = mem_grow(k->topics, k->ntopics, sizeof *k->topics);
	memmove(&k->topics[at + 1], &k->topics[at], (k->ntopics - at) * sizeof *k->topics);
	k->topics[at] = (struct seen_topic){.name = name};
	k->ntopics++;
	return &k->topics[at];
}

void kafka_open_topics(struct kafka *k)
{
	const struct kafka_source *s = &k->job->kafka;

	for (size_t i = 0; i < (s->topic ? 1 : s->ntopics); i++) {
		struct seen_topic *t = add_topic(k, i, s->topic ? s->topic : s->topics[i]);

		t->handle = rd_kafka_topic_new(k->client, t->name, NULL);
	}
}

void kafka_close_topics(struct kafka *k)
{
	for (size_t i = 0; i < k->ntopics; i++)
		if (k->topics[i].handle)
			rd_kafka_topic_destroy(k->topics[i].handle);
}

/* Query one topic by name. */
static rd_kafka_resp_err_t ask_for(struct kafka *k, rd_kafka_topic_t *topic, int ms,
				   int32_t *npartitions)
{
	const struct rd_kafka_metadata *m = NULL;
	rd_kafka_resp_err_t e = rd_kafka_metadata(k->client, 0, topic, &m, ms);

	if (!e)
		e = m->topic_cnt == 1 ? m->topics[0].err : RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
	*npartitions = e ? 0 : m->topics[0].partition_cnt;
	if (m)
		rd_kafka_metadata_destroy(m);
	return e;
}

/* Query the number of partitions of a named topic. */
static int count_partitions(struct kafka *k, struct seen_topic *t, struct error *err)
{
	/* the first timeout is short, so that the user sees connection errors soon */
	for (int ms = FIRST_MS;; ms = ms < REQUEST_MS ? 2 * ms : REQUEST_MS) {
		rd_kafka_resp_err_t e = ask_for(k, t->handle, ms, &t->npartitions);

		if (!e) {
			silence_heard(&k->silence);
			t->there = true;
			return RC_OK;
		}
		int rc = wait_for_topic(k, e, t->name, "cannot query it", err);
		if (rc)
			return rc;
	}
}

int kafka_is_refused(struct kafka *k, const char *topic, bool *refused, struct error *err)
{
	rd_kafka_topic_t *handle = rd_kafka_topic_new(k->client, topic, NULL);
	int rc = RC_OK;

	*refused = false;
	for (int ms = FIRST_MS; handle; ms = ms < REQUEST_MS ? 2 * ms : REQUEST_MS) {
		int32_t ignored;
		rd_kafka_resp_err_t e = ask_for(k, handle, ms, &ignored);

		*refused = e == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
		/* any answer is enough; retry if no answer comes */
		if (!kafka_is_passing(e) || e == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE)
			break;
		rc = kafka_wait_or_fail(k, e, "cannot query a topic", err);
		if (rc)
			break;
	}
	if (handle)
		rd_kafka_topic_destroy(handle);
	return rc;
}

int kafka_still_there(struct kafka *k, const char *topic, struct error *err)
{
	struct seen_topic t = {.name = kafka_topic_of(&k->job->kafka, topic)};

	t.handle = rd_kafka_topic_new(k->client, t.name, NULL);
	int rc = t.handle ? count_partitions(k, &t, err) : RC_OK;
	if (t.handle)
		rd_kafka_topic_destroy(t.handle);
	return rc;
}

/*
 * Find the name among the pattern's topics. Set `*at` to the topic's index, or to the index at
 * which to insert the name.
 */
static bool find_topic(const struct kafka *k, const char *name, size_t *at)
{
	size_t lo = 0, hi = k->ntopics;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(k->topics[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*at = lo;
	return lo < k->ntopics && strcmp(k->topics[lo].name, name) == 0;
}

/*
 * Update the pattern's topics. A new topic has no leader at first, and a later query finds the
 * topic.
 */
static void take_matches(struct kafka *k, const struct rd_kafka_metadata *m)
{
	for (size_t i = 0; i < k->ntopics; i++)
		k->topics[i].there = false;
	for (int i = 0; i < m->topic_cnt; i++) {
		const rd_kafka_metadata_topic_t *t = &m->topics[i];
		size_t at;

		if (!kafka_has_topic(&k->job->kafka, t->topic))
			continue;
		bool had = find_topic(k, t->topic, &at);
		if (!had && t->err)
			continue;
		if (!had)
			add_topic(k, at, arena_strdup(&k->names, t->topic));
		k->topics[at].there = !is_unknown(t->err);
		if (!t->err)
			k->topics[at].npartitions = t->partition_cnt;
	}
}

static int match_topics(struct kafka *k, struct error *err)
{
	const struct kafka_source *s = &k->job->kafka;

	for (int ms = FIRST_MS;; ms = ms < REQUEST_MS ? 2 * ms : REQUEST_MS) {
		const struct rd_kafka_metadata *m = NULL;
		rd_kafka_resp_err_t e = rd_kafka_metadata(k->client, 1, NULL, &m, ms);

		if (!e) {
			take_matches(k, m);
			rd_kafka_metadata_destroy(m);
			break;
		}
		int rc = kafka_wait_or_fail(k, e, "cannot list the topics", err);
		if (rc)
			return rc;
	}
	if (k->ntopics || k->topic_known)
		return RC_OK;
	return error_set(
		err, RC_CONFIG,
		"%s:%u:%u: found no topic in the cluster at %s, expected a name that matches %s",
		k->job->path, s->pos.line, s->pos.column, s->brokers, s->pattern);
}

/* Find the job's topics. If `again` is true, query even if the last answer is recent. */
static int find_topics(struct kafka *k, bool again, struct error *err)
{
	double now = clock_seconds();
	int rc = RC_OK;

	if (!again && !k->job->kafka.topic && k->topics_at > 0 &&
	    now < k->topics_at + KAFKA_TOPICS_S)
		return RC_OK;
	if (k->job->kafka.pattern)
		rc = match_topics(k, err);
	else
		for (size_t i = 0; rc == RC_OK && i < k->ntopics; i++)
			rc = count_partitions(k, &k->topics[i], err);
	if (rc)
		return rc;
	silence_end(&k->silence);
	k->topics_at = now;
	k->topic_known = true;
	return RC_OK;
}

/* --- their ids --- */

#define IDS_AGAIN_S 60 /* after a request without an answer */

/* Query the topics' ids. If `again` is true, query even if the last answer is recent. */
static void learn_ids(struct kafka *k, bool again)
{
	double now = clock_seconds(), wait = k->ids_why ? IDS_AGAIN_S : KAFKA_TOPICS_S;
	size_t n = 0;

	if (k->ids_at > 0 && now < k->ids_at + wait && !(again && !k->ids_why))
		return;
	struct topic_id *ids = mem_calloc(k->ntopics + 1, sizeof *ids);
	for (size_t i = 0; i < k->ntopics; i++)
		if (k->topics[i].there)
			ids[n++].name = k->topics[i].name;
	k->ids_why = NULL;
	topic_ids_ask(&k->access, k->job->kafka.brokers, ids, n, &k->ids_why);
	n = 0;
	for (size_t i = 0; i < k->ntopics; i++)
		if (k->topics[i].there)
			memcpy(k->topics[i].id, ids[n++].id, TOPIC_ID_SIZE);
	mem_free(ids);
	k->ids_at = clock_seconds();
}

const char *kafka_topic_id(const struct kafka *k, const char *topic, const char **why)
{
	size_t i = 0;

	*why = k->ids_why ? k->ids_why : "the brokers have none";
	while (i < k->ntopics && (!k->topics[i].there || strcmp(k->topics[i].name, topic) != 0))
		i++;
	return i < k->ntopics && k->topics[i].id[0] ? k->topics[i].id : NULL;
}

void kafka_learn_ids(struct kafka *k)
{
	learn_ids(k, true);
}

/* --- partitions and offsets --- */

static void name_all(const struct kafka *k, struct kafka_topic *t)
{
	for (size_t i = 0; i < t->ntopics; i++)
		t->count += (size_t)t->topics[i].npartitions;
	t->partitions = mem_calloc(t->count + 1, sizeof *t->partitions);
	struct kafka_partition *p = t->partitions;
	for (size_t i = 0; i < t->ntopics; i++)
		for (int32_t id = 0; id < t->topics[i].npartitions; id++)
			*p++ = (struct kafka_partition){
				.topic = k->job->kafka.topic ? NULL : t->topics[i].name, .id = id};
}

/*
 * Check the numbers in `partitions`. A number that no topic has is a mistake in the job, unless
 * somebody deleted the topic with that number.
 */
static int check_wanted(struct kafka *k, const int32_t *wanted, size_t n,
			const struct kafka_topic *t, struct error *err)
{
	const struct kafka_source *s = &k->job->kafka;
	int32_t most = s->topic ? 0 : k->most_known;

	for (size_t i = 0; i < t->ntopics; i++)
		most = t->topics[i].npartitions > most ? t->topics[i].npartitions : most;
	k->most_known = most;
	for (size_t i = 0; i < n; i++)
		if (wanted[i] >= most)
			return error_set(err, RC_CONFIG,
					 "%s:%u:%u: topic %s has partitions 0 to %d, found %d in "
					 "`partitions`",
					 k->job->path, s->pos.line, s->pos.column, kafka_name(s),
					 most - 1, wanted[i]);
	return RC_OK;
}

/* List the wanted partitions that exist, for each topic. */
static int name_partitions(struct kafka *k, const int32_t *wanted, size_t n, struct kafka_topic *t,
			   struct error *err)
{
	if (!n) {
		name_all(k, t);
		return RC_OK;
	}
	t->partitions = mem_calloc(n * t->ntopics + 1, sizeof *t->partitions);
	for (size_t i = 0; i < t->ntopics; i++)
		for (size_t w = 0; w < n && wanted[w] < t->topics[i].npartitions; w++)
			t->partitions[t->count++] =
				(struct kafka_partition){.topic = k->job->kafka.topic
									  ? NULL
									  : t->topics[i].name,
							 .id = wanted[w]};
	return check_wanted(k, wanted, n, t, err);
}

static void name_topics(const struct kafka *k, struct kafka_topic *t)
{
	t->topics = mem_calloc(k->ntopics + 1, sizeof *t->topics);
	for (size_t i = 0; i < k->ntopics; i++)
		if (k->topics[i].there)
			t->topics[t->ntopics++] =
				(struct kafka_size){k->topics[i].name, k->topics[i].npartitions};
	t->npartitions = k->job->kafka.topic && t->ntopics ? t->topics[0].npartitions : 0;
}

static int ask_offsets(struct kafka *k, struct kafka_topic *t, struct error *err)
{
	struct offset_range *r = mem_calloc(t->count + 1, sizeof *r);

	for (size_t i = 0; i < t->count; i++)
		r[i] = (struct offset_range){.topic = t->partitions[i].topic,
					     .partition = t->partitions[i].id};
	/* query the end first, so that a partition never seems to end before it begins */
	int rc = kafka_list_offsets(k, RD_KAFKA_OFFSET_END, r, t->count, err);
	for (size_t i = 0; rc == RC_OK && i < t->count; i++)
		t->partitions[i].high = r[i].start;
	if (rc == RC_OK)
		rc = kafka_list_offsets(k, RD_KAFKA_OFFSET_BEGINNING, r, t->count, err);
	for (size_t i = 0; rc == RC_OK && i < t->count; i++)
		t->partitions[i].low = r[i].start;
	mem_free(r);
	return rc;
}

int kafka_look(struct kafka *k, struct kafka_topic *out, struct error *err)
{
	return kafka_look_at(k, k->job->kafka.partitions, k->job->kafka.npartitions, out, err);
}

int kafka_look_at(struct kafka *k, const int32_t *partitions, size_t n, struct kafka_topic *out,
		  struct error *err)
{
	int rc;

	/* retry if somebody deleted a topic after the pattern matched it */
	for (int tries = 0;; tries++) {
		*out = (struct kafka_topic){0};
		rc = find_topics(k, tries > 0, err);
		if (rc == RC_OK)
			learn_ids(k, false);
		name_topics(k, out);
		if (rc == RC_OK)
			rc = name_partitions(k, partitions, n, out, err);
		if (rc == RC_OK)
			rc = ask_offsets(k, out, err);
		if (rc != RC_DATA || !k->job->kafka.pattern || tries == START_TRIES)
			break;
		kafka_topic_release(out);
		rd_kafka_poll(k->client, PAUSE_MS);
	}
	if (rc)
		kafka_topic_release(out);
	char *cluster = rc ? NULL : rd_kafka_clusterid(k->client, REQUEST_MS);
	if (cluster) {
		snprintf(out->cluster, sizeof out->cluster, "%s", cluster);
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
	len = len < sizeof to->by ? len : sizeof to->by - 1;
	/* the metadata is untrusted, because any client may have written it */
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
		int rc = kafka_wait_or_fail(k, e, "cannot query the group's offsets", err);
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
