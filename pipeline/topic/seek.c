#include "seek.h"

#include <stdio.h>

#include "publish.h"
#include "state_view.h"

#define PATIENCE_S 10

/* --- whom to ask --- */

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

static int ask(const struct job *job, struct kafka_topic *t, struct error *err)
{
	struct kafka *client = NULL;
	int rc = kafka_open(&client, job, 1 << 20, NULL, err);
	if (rc)
		return rc;
	kafka_patience(client, PATIENCE_S);
	kafka_topic_is_known(client);
	rc = kafka_look_at(client, NULL, 0, t, err);
	kafka_close(client);
	return rc;
}

/* --- what is asked for --- */

static int check_step(const char *dir, const struct offset_range *to, const struct state_topic *s,
		      const struct kafka_topic *t, struct error *err)
{
	int32_t n = t ? t->npartitions : s->npartitions;
	if (to->partition >= n)
		return error_set(err, RC_CONFIG,
				 "topic %s has the partitions 0 to %d, found %d%s; nothing was set",
				 s->topic, n - 1, to->partition,
				 t ? "" : " (that was so when it was seen last; `--job JOB` asks)");
	if (!t)
		return RC_OK;
	const struct kafka_partition *p = &t->partitions[to->partition];
	if (to->end >= p->low && to->end <= p->high)
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "%s/%d has the offsets %lld to %lld, and %lld is where the next message "
			 "will be; found %lld; nothing was set in %s",
			 s->topic, to->partition, (long long)p->low, (long long)p->high - 1,
			 (long long)p->high, (long long)to->end, dir);
}

/* Shared or not, what the folder is the state of; valid as long as *v. */
static int find_topic(const char *dir, struct state_view *v, struct shared *shared,
		      const struct state_topic **topic, struct error *err)
{
	bool is_shared;
	int rc = shared_is(dir, &is_shared, err);
	if (rc)
		return rc;
	if (is_shared) {
		/* one partition's state may be what is missing */
		rc = shared_open(shared, dir, false, err);
		*topic = &shared->topic;
		return rc;
	}
	rc = state_view_open(v, dir, VIEW_ALL, false, err);
	*topic = rc ? NULL : state_topic(v->states[0]);
	return rc || *topic ? rc
			    : error_set(err, RC_CONFIG,
					"%s is the state of nothing yet: where its first load "
					"begins is said by `start` in the job",
					dir);
}

/* *asked: t is to be released. */
static int check_steps(const char *dir, const struct job *job, const struct offset_range *to,
		       size_t n, struct kafka_topic *t, bool *asked, char *why, size_t why_size,
		       struct error *err)
{
	struct state_view v = {.shared.lock_fd = -1};
	struct shared shared = {.lock_fd = -1};
	const struct state_topic *topic = NULL;
	int rc = find_topic(dir, &v, &shared, &topic, err);
	int answer = rc || !job ? RC_OK : ask(job, t, err);
	*asked = !rc && job && !answer;
	if (answer && answer != RC_IO)
		rc = answer;
	if (answer == RC_IO)
		snprintf(why, why_size, "%s", err->msg);
	if (*asked) {
		const struct state_topic now = {t->cluster, job->kafka.topic, t->npartitions};
		rc = state_same_topic(dir, topic, &now, err);
	}
	for (size_t i = 0; !rc && i < n; i++)
		rc = check_step(dir, &to[i], topic, *asked ? t : NULL, err);
	state_view_close(&v);
	shared_close(&shared);
	return rc;
}

/* --- doing it --- */

/* The loads of a state that have offsets of the partition in [from, to). */
static void find_loads(const struct state *s, struct seek_step *step, struct arena *a)
{
	size_t n;
	const struct state_load *l = state_loads(s, &n);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; l[i].phase == STATE_PUBLISHED && j < l[i].nranges; j++) {
			const struct offset_range *r = &l[i].ranges[j];
			if (r->partition != step->partition || r->start >= step->from ||
			    r->end <= step->to || r->start == r->end)
				continue;
			step->last = arena_strdup(a, l[i].name);
			step->first = step->first ? step->first : step->last;
			step->nloads++;
		}
}

static void describe(const struct state *s, const struct offset_range *to,
		     const struct kafka_topic *t, struct seek_step *step, struct arena *a)
{
	*step = (struct seek_step){.partition = to->partition, .to = to->end};
	step->was_set = state_position(s, to->partition, &step->from);
	int64_t low = t ? t->partitions[to->partition].low : 0;
	if (step->was_set && low > step->from && to->end > step->from)
		step->lost = (uint64_t)((low < to->end ? low : to->end) - step->from);
	if (step->was_set && to->end < step->from)
		find_loads(s, step, a);
}

/* Those of one state. */
static int set(const char *dir, int32_t only, const struct offset_range *to, size_t n,
	       const struct kafka_topic *t, struct seek_result *r, struct error *err)
{
	struct state_view v;
	int rc = state_view_open(&v, dir, only, true, err);
	if (!rc)
		rc = state_read_all(v.states[0], err);
	for (size_t i = 0; !rc && i < n; i++)
		describe(v.states[0], &to[i], t, &r->steps[r->n + i], &r->arena);
	if (!rc)
		rc = state_seek(v.states[0], to, n, err);
	if (!rc)
		r->n += n;
	state_view_close(&v);
	return rc;
}

int seek_run(const char *state_dir, const struct job *job, const struct offset_range *to, size_t n,
	     struct seek_result *result, struct error *err)
{
	struct kafka_topic t = {0};
	bool asked = false;
	*result = (struct seek_result){0};
	result->steps = arena_alloc(&result->arena, (n + 1) * sizeof(*result->steps));
	int rc = check_steps(state_dir, job, to, n, &t, &asked, result->why_unasked,
			     sizeof(result->why_unasked), err);
	const struct kafka_topic *known = asked ? &t : NULL;
	bool is_shared = false;
	if (!rc)
		rc = shared_is(state_dir, &is_shared, err);
	if (!rc && !is_shared)
		rc = set(state_dir, VIEW_ALL, to, n, known, result, err);
	else
		for (size_t i = 0; !rc && i < n; i++)
			rc = set(state_dir, to[i].partition, &to[i], 1, known, result, err);
	kafka_topic_release(&t);
	return rc;
}

void seek_result_release(struct seek_result *r)
{
	arena_release(&r->arena);
}
