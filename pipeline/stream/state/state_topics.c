/*
 * state_topics.c - the topics of a state, which belong to one cluster, and their numbers of
 * partitions
 */
#include <stdio.h>

#include "bytes.h"
#include "records.h"
#include "state_files.h"

const struct state_topics *state_topics(const struct state *s)
{
	return &s->of;
}

const char *state_topics_text(const struct state_topics *t, struct buf *out)
{
	out->len = 0;
	for (size_t i = 0; i < t->n; i++)
		buf_printf(out, "%s%s", i ? ", " : "", t->item[i].topic);
	buf_put(out, 0);
	return (const char *)out->ptr;
}

static int write_topics(struct state *s, const struct state_topics *t, struct error *err)
{
	struct state_topics kept = {.n = t->n, .unnamed = t->unnamed};

	if (s->lock.fd < 0) /* a reader may not write */
		return RC_OK;
	char *path = state_path(s, "topic.json");
	int rc = topics_write(path, t, err);
	mem_free(path);
	if (rc)
		return rc;
	kept.item = arena_alloc(&s->arena, (t->n + 1) * sizeof *kept.item);
	for (size_t i = 0; i < t->n; i++)
		kept.item[i] =
			(struct state_topic){arena_strdup(&s->arena, t->item[i].cluster),
					     arena_strdup(&s->arena, t->item[i].topic),
					     t->item[i].npartitions,
					     t->item[i].id ? arena_strdup(&s->arena, t->item[i].id)
							   : NULL};
	s->of = kept;
	return RC_OK;
}

/*
 * Return true if every partition of the topic has a position. `saltmill seek` adds the positions of
 * new partitions.
 */
static bool all_known(const struct state *s, const char *topic, int32_t npartitions)
{
	for (int32_t p = 0; p < npartitions; p++)
		if (!records_position(s, topic, p))
			return false;
	return true;
}

static int refuse_fewer(const struct state_topic *was, const struct state_topic *now,
			struct error *err)
{
	return error_set(
		err, RC_DATA,
		"topic %s: found %d partitions before and %d partitions now, so somebody deleted "
		"and recreated it; published loads are safe; use a new state folder",
		now->topic, was->npartitions, now->npartitions);
}

static int same_cluster(const char *dir, const struct state_topic *was,
			const struct state_topic *now, struct error *err)
{
	if (strcmp(was->cluster, now->cluster) == 0)
		return RC_OK;
	return error_set(
		err, RC_DATA,
		"topic %s is now in cluster %s, but %s is the state of cluster %s; offsets are "
		"valid only in their own cluster; use a new state folder and set `start:`",
		now->topic, now->cluster, dir, was->cluster);
}

int state_same_topic(const char *dir, const struct state_topic *was, const struct state_topic *now,
		     struct error *err)
{
	if (strcmp(was->topic, now->topic) != 0)
		return error_set(
			err, RC_CONFIG,
			"%s is the state of topic %s, found %s in the job; use another folder", dir,
			was->topic, now->topic);
	return same_cluster(dir, was, now, err);
}

static struct state_topic *find(const struct state_topics *t, const char *topic)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->item[i].topic, topic) == 0)
			return &t->item[i];
	return NULL;
}

static int refuse_topics(const struct state *s, const struct state_topics *now, struct error *err)
{
	struct buf was = {0}, is = {0};

	error_set(
		err, RC_CONFIG, "%s is the state of the topics %s, found %s%s in the job; %s",
		s->dir, state_topics_text(&s->of, &was), now->unnamed ? "`topic:` " : "",
		state_topics_text(now, &is),
		now->unnamed
			? "expected the `topics:` or `pattern:` of earlier loads, or another folder"
			: "use another folder");
	buf_release(&was);
	buf_release(&is);
	return RC_CONFIG;
}

/*
 * Compare a topic with the state's record of the topic. The record keeps the old number of
 * partitions until each new partition has a position. So a crash in between cannot omit a
 * partition.
 */
static int check_topic(struct state *s, struct state_topic *was, const struct state_topic *now,
		       const char *name, bool listed, bool *changed, struct error *err)
{
	int rc = same_cluster(s->dir, was, now, err);

	if (rc || was->npartitions == now->npartitions)
		return rc;
	if (now->npartitions < was->npartitions)
		return refuse_fewer(was, now, err);
	if (!listed && state_has_topic(s, name) && !all_known(s, name, now->npartitions))
		return RC_OK;
	was->npartitions = now->npartitions;
	*changed = true;
	return RC_OK;
}

/* Check that `now` contains at least one of the state's topics. */
static int check_same(const struct state *s, const struct state_topics *now, struct error *err)
{
	const struct state_topics *was = &s->of;
	bool some = now->n == 0;

	if (now->unnamed && was->unnamed)
		return state_same_topic(s->dir, was->item, now->item, err);
	for (size_t i = 0; i < now->n && !now->unnamed; i++)
		some = some || find(was, now->item[i].topic);
	if (!some)
		return was->n == 1 && !now->unnamed && now->n == 1
			       ? state_same_topic(s->dir, was->item, now->item, err)
			       : refuse_topics(s, now, err);
	return now->n ? same_cluster(s->dir, was->item, now->item, err) : RC_OK;
}

/*
 * Bind a state that has no topic. topic.json always precedes the first load. Positions may precede
 * topic.json, but only in the state of a shared partition (shared_take_in), whose job has one
 * topic.
 */
static int bind_first(struct state *s, const struct state_topics *now, struct error *err)
{
	if (state_newest(s) || (!state_is_new(s) && !now->unnamed))
		return error_set(
			err, RC_DATA,
			"%s: topic.json is missing, which names the topic of the positions; `saltmill loads --state %s --rebuild [FOLDER...]` rebuilds it from the loads",
			s->dir, s->dir);
	return now->n ? write_topics(s, now, err) : RC_OK;
}

int state_bind(struct state *s, const struct state_topics *now, bool listed, struct error *err)
{
	bool changed = false;

	if (!s->of.n)
		return bind_first(s, now, err);
	int rc = check_same(s, now, err);
	struct state_topics all = s->of;
	all.item = mem_calloc(s->of.n + now->n + 1, sizeof *all.item);
	memcpy(all.item, s->of.item, s->of.n * sizeof *all.item);
	for (size_t i = 0; rc == RC_OK && i < now->n; i++) {
		const struct state_topic *t = &now->item[i];
		struct state_topic *was = find(&all, t->topic);

		if (was) {
			rc = check_topic(s, was, t, now->unnamed ? NULL : t->topic, listed,
					 &changed, err);
		} else {
			all.item[all.n++] = *t;
			changed = true;
		}
	}
	if (rc == RC_OK && changed)
		rc = write_topics(s, &all, err);
	mem_free(all.item);
	return rc;
}

int state_renew_topic(struct state *s, const char *topic, const char *id, struct error *err)
{
	struct state_topics all = s->of;
	int rc = RC_OK;

	all.item = mem_calloc(s->of.n + 1, sizeof *all.item);
	memcpy(all.item, s->of.item, s->of.n * sizeof *all.item);
	struct state_topic *was = find(&all, topic);
	if (was) {
		was->id = id;
		rc = write_topics(s, &all, err);
	}
	mem_free(all.item);
	return rc;
}
