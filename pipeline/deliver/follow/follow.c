/*
 * follow.c - apply the loads of one or more states to HBase, one after the other
 *
 * Section 6 of deliver/apply/README.md lists the steps of a load and the result of a crash between
 * two steps.
 */
#include "apply.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "run.h"
#include "io.h"
#include "lane.h"
#include "mem.h"
#include "pool.h"
#include "state.h"

#define LOOK_MS	     200
#define TICK_MS	     500
#define SLOW_MS	     30000
#define SAY_AGAIN_MS 60000
#define BUSY_TRIES   4 /* attempts, because another process may hold the lock for a moment */
/* step of backoff.h, 2 s, so that retries put little load on a server that is down */
#define AWAY_WAIT 5

struct follow {
	const struct follow_options *opt;
	struct apply_kept *kept; /* connections that the applying thread reuses */
	pthread_mutex_t lock;	 /* protects the members below and the lanes */
	pthread_cond_t wake;
	struct lane *lanes;
	char *all; /* folder of follow_all, NULL if the caller adds the lanes one by one */
	struct trouble unread; /* why the follower cannot read the list of states */
	_Atomic bool unknown;  /* the number of waiting loads is unknown */
	bool stop, started;
	pthread_t thread;
};

/* --- start and end --- */

struct follow *follow_new(const struct follow_options *opt)
{
	struct follow *f = mem_calloc(1, sizeof *f);

	f->opt = opt;
	f->kept = apply_kept_new();
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->wake, NULL);
	return f;
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	while (f->lanes) {
		struct lane *next = f->lanes->next;

		lane_free(f->lanes);
		f->lanes = next;
	}
	pthread_cond_destroy(&f->wake);
	pthread_mutex_destroy(&f->lock);
	apply_kept_free(f->kept);
	mem_free(f->all);
	mem_free(f);
}

/* --- the lanes; the caller holds the lock --- */

static void count(struct follow *f)
{
	struct follow_gauges *g = f->opt->gauges;
	uint64_t waiting = 0, behind = 0, stuck = f->unread.why[0] != 0;
	bool unknown = stuck;
	int64_t oldest = 0;

	for (const struct lane *l = f->lanes; l; l = l->next) {
		waiting += l->waiting.n;
		behind += l->passed ? 0 : l->waiting.n;
		stuck += l->said[0] || l->unread.why[0];
		unknown = unknown || l->unread.why[0];
		if (l->waiting.n && (!oldest || l->waiting.item[0].published_ms < oldest))
			oldest = l->waiting.item[0].published_ms;
	}
	g->behind = behind;
	g->waiting = waiting;
	g->oldest_ms = oldest;
	g->stuck = stuck;
	f->unknown = unknown;
	if (g->paused && !unknown && waiting < f->opt->max_waiting) {
		g->paused = 0;
		report_to(&f->opt->listener, "%llu loads wait for HBase; reading continues",
			  (unsigned long long)waiting);
	}
}

uint64_t follow_behind(const struct follow *f)
{
	return f->opt->gauges->behind;
}

bool follow_full(struct follow *f)
{
	struct follow_gauges *g = f->opt->gauges;
	uint64_t waiting = g->waiting;
	bool unknown = f->unknown;

	if (!f->opt->max_waiting || (!unknown && waiting < f->opt->max_waiting))
		return false;
	if (atomic_exchange(&g->paused, 1))
		return true;
	if (unknown)
		report_to(&f->opt->listener,
			  "the number of loads that wait for HBase is unknown; reading pauses "
			  "until then; later messages stay in Kafka");
	else
		report_to(&f->opt->listener,
			  "%llu loads wait for HBase, the limit of --max-unapplied; reading pauses "
			  "until one is in HBase; later messages stay in Kafka",
			  (unsigned long long)waiting);
	return true;
}

static struct lane *find(struct follow *f, const char *dir)
{
	struct lane *l = f->lanes;

	while (l && strcmp(l->dir, dir) != 0)
		l = l->next;
	return l;
}

static void add(struct follow *f, const char *dir, const char *prefix)
{
	struct lane *l = find(f, dir), **at = &f->lanes;

	if (l) {
		l->dropped = false;
		return;
	}
	while (*at)
		at = &(*at)->next;
	*at = lane_new(dir, prefix);
}

static void sweep_dropped(struct follow *f)
{
	for (struct lane **at = &f->lanes; *at;) {
		struct lane *l = *at;

		if (!l->dropped || l->busy) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		lane_free(l);
	}
}

void follow_add(struct follow *f, const char *dir, const char *prefix)
{
	pthread_mutex_lock(&f->lock);
	add(f, dir, prefix);
	pthread_mutex_unlock(&f->lock);
	follow_look(f);
}

void follow_drop(struct follow *f, const char *dir)
{
	pthread_mutex_lock(&f->lock);
	struct lane *l = find(f, dir);
	if (l)
		l->dropped = true;
	sweep_dropped(f);
	count(f);
	pthread_mutex_unlock(&f->lock);
}

void follow_all(struct follow *f, const char *dir)
{
	pthread_mutex_lock(&f->lock);
	f->all = mem_strdup(dir);
	pthread_mutex_unlock(&f->lock);
}

static int find_states(struct follow *f, struct error *err)
{
	bool is_shared;
	int32_t end = 0;
	int rc = shared_is(f->all, &is_shared, err);

	if (rc == RC_OK && !is_shared)
		add(f, f->all, "");
	if (rc == RC_OK && is_shared)
		rc = shared_folders(f->all, &end, err);
	for (int32_t p = 0; rc == RC_OK && p < end; p++) {
		bool there;
		char *dir = shared_dir(f->all, p), *prefix = mem_format("p%05d/", p);

		rc = io_exists(dir, &there, err);
		if (rc == RC_OK && there)
			add(f, dir, prefix);
		mem_free(prefix);
		mem_free(dir);
	}
	return rc;
}

/*
 * Records a failure, or the end of the failure if `bad` is NULL. Reports the end, if it has
 * reported the failure.
 */
static void remember(const struct follow *f, struct trouble *t, const char *dir,
		     const struct error *bad)
{
	if (bad && strcmp(t->why, bad->msg) == 0)
		return;
	if (!bad && t->said_ms)
		report_to(&f->opt->listener, "saltmill can read the loads of %s again", dir);
	t->said_ms = 0;
	snprintf(t->why, sizeof t->why, "%s", bad ? bad->msg : "");
}

static int look(struct follow *f, struct error *err)
{
	struct error bad;
	int rc = f->all ? find_states(f, err) : RC_OK;

	remember(f, &f->unread, f->all, rc ? err : NULL);
	for (struct lane *l = f->lanes; l; l = l->next) {
		int own = lane_look(l, &f->opt->keep, &bad);

		remember(f, &l->unread, l->dir, own ? &bad : NULL);
		if (l->anew)
			report_to(&f->opt->listener,
				  "another state replaced %s; apply checks all loads of the new "
				  "state again",
				  l->dir);
		l->anew = false;
		if (own && rc == RC_OK)
			*err = bad;
		rc = rc ? rc : own;
	}
	count(f);
	return rc;
}

void follow_look(struct follow *f)
{
	struct error ignored; /* the follower's thread will find and report the same error */

	pthread_mutex_lock(&f->lock);
	look(f, &ignored);
	pthread_cond_signal(&f->wake);
	pthread_mutex_unlock(&f->lock);
}

/*
 * Returns the lane whose first load has waited longest, if its next attempt is due. Returns NULL if
 * there is none.
 */
static struct lane *next_lane(struct follow *f)
{
	struct lane *found = NULL;
	int64_t now = clock_ms();

	for (struct lane *l = f->lanes; l; l = l->next)
		if (l->waiting.n && !l->dropped && l->state && l->try_ms <= now &&
		    (!found ||
		     l->waiting.item[0].published_ms < found->waiting.item[0].published_ms))
			found = l;
	return found;
}

/* --- one load; without the lock --- */

static int check_folder(const struct lane *l, const struct item *i, struct error *err)
{
	uint8_t digest[16];
	uint64_t size;
	bool there;
	char *path = mem_format("%s/manifest.json", i->dir);
	int rc = io_exists(path, &there, err);

	if (rc == RC_OK && !there)
		rc = error_set(
			err, RC_CONFIG,
			"%s does not exist; restore it, or mark the load as in HBase: `saltmill "
			"loads --state %s --loaded %s`",
			i->dir, l->dir, i->name);
	if (rc == RC_OK)
		rc = io_digest_file(path, digest, &size, err);
	if (rc == RC_OK && i->manifest_known && memcmp(digest, i->manifest, sizeof digest) != 0)
		rc = error_set(err, RC_DATA,
			       "%s: found other bytes than those published; restore it", path);
	mem_free(path);
	return rc;
}

static int mark(struct follow *f, struct lane *l, const struct item *i,
		const struct apply_result *r, struct error *err)
{
	crash_at("follow-applied");
	pthread_mutex_lock(&f->lock);
	int rc = l->state ? RC_OK : lane_look(l, &f->opt->keep, err);
	if (rc == RC_OK)
		rc = state_hand_over(l->state, i->name, r->cluster_id, err);
	pthread_mutex_unlock(&f->lock);
	crash_at("follow-marked");
	return rc;
}

static void tell_applied(struct follow *f, const struct lane *l, const struct item *i,
			 const struct apply_result *r, int64_t waited_ms, int64_t marked_ms)
{
	int64_t ms[FOLLOW_PHASES] = {[FOLLOW_WAIT] = waited_ms, [FOLLOW_MARK] = marked_ms};

	memcpy(&ms[FOLLOW_APPLY], r->ms, sizeof r->ms);
	for (size_t p = 0; p < FOLLOW_PHASES; p++)
		f->opt->gauges->ms[p] += ms[p];
	if (!f->opt->applied)
		return;
	char *name = mem_format("%s%s", l->prefix, i->name);
	f->opt->applied(f->opt->ctx, name, i->dir, r, ms);
	mem_free(name);
}

static int apply_one(struct follow *f, struct lane *l, const struct item *i, enum state_mark *now,
		     struct error *err)
{
	struct apply_options one = f->opt->apply;
	struct apply_result r = {0};
	int64_t waited_ms = clock_wall_ms() - i->published_ms, marked_ms = 0;
	int rc = check_folder(l, i, err);

	if (rc)
		return rc;
	one.dir = i->dir;
	one.journal = NULL;
	/*
	 * the state knows the load by its name, so do not search the parent folder, which may have
	 * thousands of loads
	 */
	one.never_renamed = true;
	one.kept = f->kept;
	rc = (f->opt->run ? f->opt->run : apply_run)(&r, &one, err);
	int64_t done_ms = clock_ms();
	if (rc == RC_OK)
		rc = mark(f, l, i, &r, err);
	if (rc == RC_OK)
		rc = state_mark_of(l->dir, i->name, now, err);
	marked_ms = clock_ms() - done_ms;
	if (rc == RC_OK) /* the result is negative if the clock went back */
		tell_applied(f, l, i, &r, waited_ms > 0 ? waited_ms : 0, marked_ms);
	apply_release(&r);
	return rc;
}

/*
 * Applies one load. Sets *before and *now to the kind of mark that the load had before this call
 * and has after it.
 */
static int hand(struct follow *f, struct lane *l, const struct item *i, enum state_mark *before,
		enum state_mark *now, struct error *err)
{
	int fd, rc = state_handing(l->dir, &fd, err);

	if (rc)
		return rc;
	/*
	 * read the mark under the lock, so that no other follower can apply the load or remove its
	 * folder meanwhile
	 */
	rc = state_mark_of(l->dir, i->name, before, err);
	*now = *before;
	if (rc == RC_OK && *before == STATE_UNMARKED)
		rc = apply_one(f, l, i, now, err);
	else if (rc == RC_OK) /* its writer may not have synced the mark */
		rc = state_keep_marks(l->dir, err);
	close(fd);
	return rc;
}

/* --- the result of an attempt; the caller holds the lock --- */

static void failed(struct follow *f, struct lane *l, const struct item *i, const struct error *err)
{
	bool busy = err->code == RC_BUSY, lasts = err->code == RC_CONFIG || err->code == RC_DATA;
	int64_t now = clock_ms();

	l->try_ms = now + backoff_ms(lasts || l->attempt < AWAY_WAIT ? l->attempt : AWAY_WAIT);
	l->attempt++;
	if (!busy)
		f->opt->gauges->failures++;
	if (busy && l->attempt < BUSY_TRIES)
		return;
	bool again = strcmp(l->said, err->msg) == 0;
	if (again && now - l->said_ms < SAY_AGAIN_MS)
		return;
	snprintf(l->said, sizeof l->said, "%s", err->msg);
	l->said_ms = now;
	report_to(&f->opt->listener,
		  "load %s%s %s: %s; saltmill retries it, and the loads "
		  "after it wait",
		  l->prefix, i->name, lasts ? "cannot be applied" : "waits for HBase", err->msg);
}

static void succeeded(struct follow *f, struct lane *l, const struct item *i,
		      enum state_mark before, enum state_mark now)
{
	struct follow_gauges *g = f->opt->gauges;
	bool ours = before == STATE_UNMARKED;

	if (l->said[0] && !ours)
		report_to(&f->opt->listener, "somebody marked load %s%s as in HBase %s", l->prefix,
			  i->name,
			  before == STATE_MARKED_BY_HAND ? "by hand" : "by another follower");
	else if (l->said[0] || l->slow)
		report_to(&f->opt->listener, "load %s%s is in HBase, after %u failed attempt%s",
			  l->prefix, i->name, l->attempt, l->attempt == 1 ? "" : "s");
	l->attempt = 0;
	l->try_ms = 0;
	l->said[0] = 0;
	l->slow = l->passed = false;
	for (struct lane *o = f->lanes; o && ours; o = o->next)
		o->passed = o->passed || o->attempt;
	if (ours) {
		l->applied++;
		l->applied_ms = clock_wall_ms();
		g->applied++;
		g->applied_ms = l->applied_ms;
	}
	lane_in(l, &f->opt->keep, now == STATE_MARKED_BY_FOLLOWER);
}

/* --- the loop --- */

/* Applies the next load. Returns RC_END if the follower can apply no load now. */
static int hand_next(struct follow *f, struct error *err)
{
	pthread_mutex_lock(&f->lock);
	struct lane *l = next_lane(f);
	struct item i = l ? item_copy(&l->waiting.item[0]) : (struct item){0};
	if (l) {
		l->busy = true;
		l->busy_ms = clock_ms();
		l->slow_ms = f->opt->slow_ms ? f->opt->slow_ms : SLOW_MS;
	}
	pthread_mutex_unlock(&f->lock);
	if (!l)
		return RC_END;
	enum state_mark before = STATE_UNMARKED, now = STATE_UNMARKED;
	int rc = hand(f, l, &i, &before, &now, err);
	pthread_mutex_lock(&f->lock);
	l->busy = false;
	if (rc == RC_OK)
		succeeded(f, l, &i, before, now);
	else if (rc != RC_STOPPED)
		failed(f, l, &i, err);
	sweep_dropped(f);
	count(f);
	pthread_mutex_unlock(&f->lock);
	item_release(&i);
	return rc;
}

static void remove_old(struct follow *f)
{
	struct error err;
	struct item i;

	for (bool more = f->opt->keep.by != KEEP_ALL; more;) {
		more = false;
		pthread_mutex_lock(&f->lock);
		for (struct lane *l = f->lanes; l && !more; l = l->next)
			more = lane_removal(l, &f->opt->keep, &i);
		pthread_mutex_unlock(&f->lock);
		if (more && item_remove(&i, &err))
			report_to(&f->opt->listener,
				  "%s; the next start removes the rest of the load", err.msg);
		if (more)
			item_release(&i);
	}
}

/*
 * Reports slow loads. This function runs on a separate thread, because the loop may wait for a call
 * that HBase does not answer.
 */
static void tick(void *ctx)
{
	struct follow *f = ctx;

	pthread_mutex_lock(&f->lock);
	for (struct lane *l = f->lanes; l; l = l->next) {
		if (lane_slow_s(l) && !l->slow) {
			l->slow = true;
			report_to(&f->opt->listener,
				  "load %s%s is not yet in HBase after %lld s; saltmill repeats "
				  "its calls",
				  l->prefix, l->waiting.item[0].name, (long long)lane_slow_s(l));
		}
		lane_note(l, false);
	}
	pthread_mutex_unlock(&f->lock);
}

/* Waits until new loads may have arrived. Returns RC_STOPPED if the follower must end. */
static int rest(struct follow *f, struct error *err)
{
	pthread_mutex_lock(&f->lock);
	if (!f->stop)
		clock_wait(&f->wake, &f->lock, LOOK_MS);
	bool stop = f->stop;
	pthread_mutex_unlock(&f->lock);
	return stop ? error_set(err, RC_STOPPED, "stopped") : stop_check(err);
}

static void tell(const struct follow *f, struct trouble *t)
{
	int64_t now = clock_ms();

	if (!t->why[0] || (t->said_ms && now - t->said_ms < SAY_AGAIN_MS))
		return;
	t->said_ms = now;
	report_to(&f->opt->listener, "cannot look for loads to apply: %s; saltmill retries",
		  t->why);
}

/* Reads all states again. An unreadable state does not delay the loads of other states. */
static int look_again(struct follow *f, bool forever, struct error *err)
{
	pthread_mutex_lock(&f->lock);
	int rc = look(f, err);
	if (forever) {
		tell(f, &f->unread);
		for (struct lane *l = f->lanes; l; l = l->next)
			tell(f, &l->unread);
	}
	pthread_mutex_unlock(&f->lock);
	return forever ? RC_OK : rc;
}

int follow_run(struct follow *f, bool forever, struct error *err)
{
	struct ticker *ticker = ticker_start(TICK_MS, tick, f);
	int rc = stop_check(err);

	while (rc == RC_OK) {
		rc = look_again(f, forever, err);
		if (rc)
			break;
		rc = hand_next(f, err);
		bool idle = rc != RC_OK;
		if (rc == RC_END || (rc && rc != RC_STOPPED && forever))
			rc = forever ? RC_OK : RC_END;
		remove_old(f);
		if (rc == RC_OK && idle)
			rc = rest(f, err);
		else if (rc == RC_OK)
			rc = stop_check(err);
	}
	ticker_stop(ticker);
	return rc == RC_END ? RC_OK : rc;
}

static void *run_thread(void *ctx)
{
	struct error ignored; /* this loop ends only when the user stops it */

	stop_unwatched = true; /* the watchdog (notify.h) watches the stream, not this loop */
	follow_run(ctx, true, &ignored);
	return NULL;
}

int follow_start(struct follow *f, struct error *err)
{
	if (pthread_create(&f->thread, NULL, run_thread, f) != 0)
		return error_set(err, RC_IO, "cannot start a thread");
	f->started = true;
	return RC_OK;
}

void follow_stop(struct follow *f)
{
	if (!f || !f->started)
		return;
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_cond_signal(&f->wake);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
}
