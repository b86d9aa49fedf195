#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "publish.h"

#define PATIENCE_S 10

/* --- the brokers --- */

static const struct state_load *newest_of(const struct state_view *v)
{
	const struct state_load *found = NULL;

	for (size_t i = 0; i < v->n; i++) {
		const struct state_load *l = state_newest(v->states[i]);

		if (l && (!found || l->published_ms > found->published_ms))
			found = l;
	}
	return found;
}

char *seek_job_path(const char *state_dir)
{
	struct state_view v;
	struct arena arena = {0};
	struct manifest m;
	struct error ignored;
	char *path = NULL;
	int rc = state_view_open(&v, state_dir, VIEW_ALL, false, &ignored);
	const struct state_load *l = rc ? NULL : newest_of(&v);
	char *manifest = l ? mem_format("%s/manifest.json", l->dir) : NULL;

	if (manifest && manifest_read(&m, manifest, &arena, &ignored) == RC_OK)
		path = mem_strdup(m.job_path);
	mem_free(manifest);
	arena_release(&arena);
	state_view_close(&v);
	return path;
}

/* The brokers' answer. The client owns the names in the answer. */
struct seek_answer {
	struct kafka *client;
	struct kafka_topic topic;
	bool given;
};

static int ask(const struct job *job, struct seek_answer *a, struct error *err)
{
	int rc = kafka_open(&a->client, job, 0, NULL, err);

	if (rc)
		return rc;
	kafka_patience(a->client, PATIENCE_S);
	/* if the second argument is 0, the client queries all partitions */
	kafka_topic_is_known(a->client, 0);
	rc = kafka_look_at(a->client, NULL, 0, &a->topic, err);
	a->given = rc == RC_OK;
	return rc;
}

static void answer_release(struct seek_answer *a)
{
	if (a->given)
		kafka_topic_release(&a->topic);
	kafka_close(a->client);
}

/* --- checks --- */

/* Return the name of a place's topic. */
static const char *name_of(const struct state_topics *s, const char *topic)
{
	return topic ? topic : s->item->topic;
}

static const struct state_topic *find_size(const struct state_topics *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->item[i].topic, name) == 0)
			return &s->item[i];
	return NULL;
}

/*
 * Find a partition. Return NULL if the topic does not exist, or if it does not have the partition.
 */
static const struct kafka_partition *find_partition(const struct kafka_topic *t, const char *name,
						    int32_t partition)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct kafka_partition *p = &t->partitions[i];

		if (p->id == partition &&
		    strcmp(p->topic ? p->topic : t->topics[0].name, name) == 0)
			return p;
	}
	return NULL;
}

static int32_t count_partitions(const struct state_topics *s, const struct kafka_topic *t,
				const char *name)
{
	for (size_t i = 0; t && i < t->ntopics; i++)
		if (strcmp(t->topics[i].name, name) == 0)
			return t->topics[i].npartitions;
	const struct state_topic *known = t ? NULL : find_size(s, name);
	return known ? known->npartitions : 0;
}

static int no_such_topic(const struct state_topics *s, const struct kafka_topic *t,
			 const char *name, struct error *err)
{
	struct buf known = {0};

	error_set(err, RC_CONFIG, "found topic %s, expected one %s: %s; saltmill set no position",
		  name, t ? "that exists and that the job reads" : "of the state",
		  state_topics_text(s, &known));
	buf_release(&known);
	return RC_CONFIG;
}

static int check_step(const char *dir, const struct offset_range *to, const struct state_topics *s,
		      const struct kafka_topic *t, struct error *err)
{
	const char *name = name_of(s, to->topic);
	int32_t n = count_partitions(s, t, name);

	if (n == 0)
		return no_such_topic(s, t, name, err);
	if (to->partition >= n)
		return error_set(err, RC_CONFIG,
				 "topic %s: found partition %d, expected 0 to %d%s; saltmill set "
				 "no position",
				 name, to->partition, n - 1,
				 t ? "" : " (as last seen; `--job JOB` queries the brokers)");
	const struct kafka_partition *p = t ? find_partition(t, name, to->partition) : NULL;
	if (!p || (to->end >= p->low && to->end <= p->high))
		return RC_OK;
	return error_set(
		err, RC_CONFIG,
		"%s/%d: found offset %lld, expected %lld (the oldest message) to %lld (after the "
		"newest message); saltmill set no position in %s",
		name, to->partition, (long long)to->end, (long long)p->low, (long long)p->high,
		dir);
}

/* Change the topic of a place to the name that the state uses. */
static int name_step(struct offset_range *to, const struct state_topics *s, struct error *err)
{
	if (to->topic && s->unnamed && strcmp(to->topic, s->item->topic) == 0)
		to->topic = NULL;
	if (to->topic || s->unnamed)
		return RC_OK;
	struct buf known = {0};
	error_set(err, RC_CONFIG,
		  "found partition %d without a topic, expected TOPIC/PARTITION=OFFSET like "
		  "%s/%d=%lld, because the state has the topics %s; saltmill set no position",
		  to->partition, s->item->topic, to->partition, (long long)to->end,
		  state_topics_text(s, &known));
	buf_release(&known);
	return RC_CONFIG;
}

static int by_place(const void *a, const void *b)
{
	const struct offset_range *x = a, *y = b;

	return place_order(x->topic, x->partition, y->topic, y->partition);
}

static int name_steps(struct offset_range *to, size_t n, const struct state_topics *s,
		      struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < n; i++)
		rc = name_step(&to[i], s, err);
	if (rc)
		return rc;
	qsort(to, n, sizeof *to, by_place);
	for (size_t i = 1; i < n; i++)
		if (by_place(&to[i], &to[i - 1]) == 0)
			return error_set(
				err, RC_CONFIG,
				"found partition %s twice, once with its topic; expected it once",
				place_text(to[i].topic, to[i].partition).text);
	return RC_OK;
}

/* Check that the job's topics on the brokers are the topics of the state. */
static int check_topics(const char *dir, const struct state_topics *s, const struct job *job,
			const struct kafka_topic *t, struct error *err)
{
	struct state_topic now = {t->cluster, s->item->topic, 0, NULL};

	if (s->n == 1 && job->kafka.topic)
		now.topic = job->kafka.topic;
	return state_same_topic(dir, s->item, &now, err);
}

/*
 * Find the topics of a state folder, shared or not. The topics are valid as long as *v and *shared
 * are open.
 */
static int find_topics(const char *dir, struct state_view *v, struct shared *shared,
		       struct state_topics *topics, struct error *err)
{
	bool is_shared;
	int rc = shared_is(dir, &is_shared, err);

	if (rc)
		return rc;
	if (is_shared) {
		/* the state of one partition may be missing */
		rc = shared_open(shared, dir, false, err);
		*topics = (struct state_topics){&shared->topic, 1, true};
		return rc;
	}
	rc = state_view_open(v, dir, VIEW_ALL, false, err);
	if (rc == RC_OK)
		*topics = *state_topics(v->states[0]);
	return rc || topics->n
		       ? rc
		       : error_set(err, RC_CONFIG,
				   "%s has no topic yet; set `start:` in the job to choose where "
				   "its first load begins",
				   dir);
}

/*
 * Return the new id of a recreated topic. Return NULL if the topic is the same, or if this is
 * unknown.
 */
static const char *new_id(const struct state_topics *s, const char *name,
			  const struct kafka *client)
{
	const char *why, *id = kafka_topic_id(client, name, &why);
	const struct state_topic *was = find_size(s, name);

	return was && was->id && id && strcmp(was->id, id) != 0 ? id : NULL;
}

static bool is_named(const struct offset_range *to, size_t n, const struct state_topics *s,
		     const char *topic, int32_t partition)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name_of(s, to[i].topic), topic) == 0 && to[i].partition == partition)
			return true;
	return false;
}

/*
 * Check that each partition of a recreated topic gets a new position, because the old positions
 * mean nothing.
 */
static int check_recreated(const struct state *st, const char *topic, const struct offset_range *to,
			   size_t n, const struct kafka_topic *t, struct error *err)
{
	const struct state_topics *s = state_topics(st);
	int64_t at;

	for (size_t i = 0; i < t->count; i++) {
		const struct kafka_partition *p = &t->partitions[i];

		if (strcmp(p->topic ? p->topic : t->topics[0].name, topic) == 0 &&
		    state_position(st, topic, p->id, &at) && !is_named(to, n, s, topic, p->id))
			return error_set(
				err, RC_CONFIG,
				"somebody deleted and recreated topic %s, so its positions mean "
				"nothing: found no position for partition %d, expected one for "
				"each partition; saltmill set no position",
				topic, p->id);
	}
	return RC_OK;
}

/*
 * Set positions, then record the new ids of recreated topics. After a crash between both steps, the
 * next run again requires new positions.
 */
static int set_positions(struct state *st, const struct offset_range *to, size_t n,
			 const struct seek_answer *a, struct error *err)
{
	const struct state_topics *s = state_topics(st);
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && a->given && i < n; i++)
		if (new_id(s, name_of(s, to[i].topic), a->client))
			rc = check_recreated(st, name_of(s, to[i].topic), to, n, &a->topic, err);
	if (rc == RC_OK)
		rc = state_seek(st, to, n, err);
	for (size_t i = 0; rc == RC_OK && a->given && i < n; i++) {
		const char *name = name_of(s, to[i].topic), *id = new_id(s, name, a->client);

		rc = id ? state_renew_topic(st, name, id, err) : RC_OK;
	}
	return rc;
}

static int check_steps(const char *dir, const struct job *job, struct offset_range *to, size_t n,
		       struct seek_answer *a, char *why, size_t why_size, struct error *err)
{
	struct state_view v = {.shared.lock_fd = -1};
	struct shared shared = {.lock_fd = -1};
	struct state_topics topics = {0};
	int rc = find_topics(dir, &v, &shared, &topics, err);

	if (rc == RC_OK)
		rc = name_steps(to, n, &topics, err);
	int answer = rc || !job ? RC_OK : ask(job, a, err);
	if (answer && answer != RC_IO)
		rc = answer;
	if (answer == RC_IO)
		snprintf(why, why_size, "%s", err->msg);
	if (a->given)
		rc = check_topics(dir, &topics, job, &a->topic, err);
	for (size_t i = 0; rc == RC_OK && i < n; i++)
		rc = check_step(dir, &to[i], &topics, a->given ? &a->topic : NULL, err);
	state_view_close(&v);
	shared_close(&shared);
	return rc;
}

/* --- change the state --- */

/* Find the loads of a state that have offsets of the partition in [from, to). */
static void find_loads(const struct state *s, struct seek_step *step, struct arena *a)
{
	size_t n;
	const struct state_load *l = state_loads(s, &n);

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; l[i].phase == STATE_PUBLISHED && j < l[i].nranges; j++) {
			const struct offset_range *r = &l[i].ranges[j];

			if (place_order(name_of(state_topics(s), r->topic), r->partition,
					name_of(state_topics(s), step->topic),
					step->partition) != 0 ||
			    r->start >= step->from || r->end <= step->to || r->start == r->end)
				continue;
			step->last = arena_strdup(a, l[i].name);
			step->first = step->first ? step->first : step->last;
			step->nloads++;
		}
}

static void describe(const struct state *s, const struct offset_range *to,
		     const struct kafka_topic *t, struct seek_step *step, struct arena *a)
{
	const struct kafka_partition *p =
		t ? find_partition(t, name_of(state_topics(s), to->topic), to->partition) : NULL;

	*step = (struct seek_step){.topic = to->topic, .partition = to->partition, .to = to->end};
	step->was_set = state_position(s, to->topic, to->partition, &step->from);
	int64_t low = p ? p->low : 0;
	if (step->was_set && low > step->from && to->end > step->from)
		step->lost = (uint64_t)((low < to->end ? low : to->end) - step->from);
	if (step->was_set && to->end < step->from)
		find_loads(s, step, a);
}

/* Set the positions of one state. */
static int set(const char *dir, int32_t only, const struct offset_range *to, size_t n,
	       const struct seek_answer *a, struct seek_result *r, struct error *err)
{
	const struct kafka_topic *t = a->given ? &a->topic : NULL;
	struct state_view v;
	int rc = state_view_open(&v, dir, only, true, err);

	if (rc == RC_OK)
		rc = state_read_all(v.states[0], err);
	for (size_t i = 0; rc == RC_OK && i < n; i++)
		describe(v.states[0], &to[i], t, &r->steps[r->n + i], &r->arena);
	if (rc == RC_OK)
		rc = set_positions(v.states[0], to, n, a, err);
	if (rc == RC_OK)
		r->n += n;
	state_view_close(&v);
	return rc;
}

int seek_run(const char *state_dir, const struct job *job, struct offset_range *to, size_t n,
	     struct seek_result *result, struct error *err)
{
	struct seek_answer answer = {0};

	*result = (struct seek_result){0};
	result->steps = arena_alloc(&result->arena, (n + 1) * sizeof *result->steps);
	int rc = check_steps(state_dir, job, to, n, &answer, result->why_unasked,
			     sizeof result->why_unasked, err);
	bool is_shared = false;
	if (rc == RC_OK)
		rc = shared_is(state_dir, &is_shared, err);
	if (rc == RC_OK && !is_shared)
		rc = set(state_dir, VIEW_ALL, to, n, &answer, result, err);
	else
		for (size_t i = 0; rc == RC_OK && i < n; i++)
			rc = set(state_dir, to[i].partition, &to[i], 1, &answer, result, err);
	answer_release(&answer);
	return rc;
}

void seek_result_release(struct seek_result *r)
{
	arena_release(&r->arena);
}
