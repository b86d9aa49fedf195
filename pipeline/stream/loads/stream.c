#include "stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "pool.h"
#include "parked_places.h"
#include "room.h"
#include "topics.h"

#define LOOK_MS		  200
#define EVENT_BYTES_GUESS 1024 /* assumed until the first load shows the real size */
#define HOLD_S		  30   /* seconds; longest extension of roll.time while loads wait */

/* Return the maximum number of offsets of one load, or UINT64_MAX if there is no limit. */
static uint64_t cut_limit(const struct stream *s)
{
	const struct kafka_source *k = &s->in.job->kafka;
	uint64_t limit = k->roll_rows ? k->roll_rows : UINT64_MAX;
	/* the usual size follows only from earlier messages */
	double event_bytes = s->event_bytes > 0 ? s->event_bytes : EVENT_BYTES_GUESS;
	uint64_t by_bytes =
		k->roll_bytes ? (uint64_t)((double)k->roll_bytes / event_bytes) + 1 : UINT64_MAX;

	return by_bytes < limit ? by_bytes : limit;
}

/* Shorten the ranges of the next load to about `limit` offsets, summed over all partitions. */
static void shorten(struct ingest *in, uint64_t limit)
{
	uint64_t all = in->available;

	in->available = 0;
	for (size_t i = 0; i < in->nranges; i++) {
		struct offset_range *r = &in->ranges[i];
		double share = (double)(r->end - r->start) * (double)limit / (double)all;
		int64_t take = (int64_t)share + (share > (double)(int64_t)share);

		if (take < r->end - r->start)
			r->end = r->start + take;
		in->available += (uint64_t)(r->end - r->start);
	}
}

/*
 * Return the seconds between the first message of the next load and the time when the load is due.
 */
static double cut_age_s(const struct stream *s)
{
	double roll = (double)s->in.job->kafka.roll_s;
	uint64_t behind = s->opt->behind ? s->opt->behind(s->opt->ctx) : 0;
	double hold = roll * (double)behind;

	return roll + (hold < HOLD_S ? hold : HOLD_S);
}

bool stream_is_due(struct stream *s)
{
	const struct kafka_source *k = &s->in.job->kafka;
	uint64_t limit = cut_limit(s);

	if (s->in.available == 0) {
		s->waiting_since = 0;
		return false;
	}
	if (s->waiting_since == 0)
		s->waiting_since = clock_seconds();
	bool over = s->in.available >= limit;
	bool due = over || (k->roll_s && clock_seconds() - s->waiting_since >= cut_age_s(s));
	if (!due || (s->opt->full && s->opt->full(s->opt->ctx)))
		return false;
	if (over)
		shorten(&s->in, limit);
	return true;
}

void stream_held(const struct stream *s, const char *state_dir, bool held)
{
	if (s->opt->holds)
		s->opt->holds(s->opt->ctx, state_dir, s->prefix ? s->prefix : "", held);
}

static void tell_published(struct stream *s, const char *dir, const struct load_result *r)
{
	const char *load = r->manifest.load ? r->manifest.load : "";
	struct stream_gauges *g = s->opt->gauges;
	const struct progress *p = s->in.progress;

	room_end(&s->full_since, &s->in.listener);
	g->loads++;
	g->events += r->manifest.read;
	g->rejected += r->manifest.rejected;
	g->published_ms = clock_wall_ms();
	s->seen.loads++;
	s->seen.events += r->manifest.read;
	s->seen.rejected += r->manifest.rejected;
	if (r->manifest.read && p->bytes)
		s->event_bytes = (double)p->bytes / (double)r->manifest.read;
	if (!s->opt->published)
		return;
	char *name = mem_format("%s%s", s->prefix ? s->prefix : "", load);
	s->opt->published(s->opt->ctx, name, dir, r);
	mem_free(name);
}

void stream_show(struct stream_gauges *g, uint64_t lag, double since)
{
	g->lag = lag;
	g->cut = lag;
	g->cut_since_ms = (int64_t)(since * 1000);
	g->looked = 1;
}

void stream_note(struct stream *s)
{
	double now = clock_seconds();

	s->seen.time_ms = clock_wall_ms();
	s->seen.cut = s->in.available;
	s->seen.cut_age_ms = s->waiting_since > 0 ? (int64_t)((now - s->waiting_since) * 1000) : 0;
	s->seen.rate = meter_rate(&s->meter, (int64_t)(now * 1000), s->seen.events);
	state_note(s->in.state, &s->seen);
}

/*
 * Check that the folder of the loads still exists. The folder existed at the start, so its absence
 * is an I/O error, not a usage error.
 */
static int check_parent(const struct stream *s, struct error *err)
{
	bool there;
	int rc = io_exists(s->parent, &there, err);

	return rc || there
		       ? rc
		       : error_set(err, RC_DATA,
				   "%s: the folder of the loads no longer exists; restore or "
				   "create it, and start `saltmill stream` again, which repeats "
				   "only unpublished loads",
				   s->parent);
}

/*
 * Load the cut. If a damaged batch of its only partition makes the load fail, load the messages
 * before the batch. The next cut then begins with the batch, and fails.
 */
static int load_cut(struct stream *s, const char *dir, struct load_result *result,
		    struct error *err)
{
	struct ingest *in = &s->in;
	int64_t from;
	int rc = ingest_load(in, dir, result, err);

	if (rc == RC_OK || !in->data_fault || in->nranges != 1 ||
	    !kafka_damaged(in->client, &from) || from <= in->ranges[0].start ||
	    state_intent(in->state))
		return rc;
	report_to(&in->listener, "%s; saltmill loads the messages before it", err->msg);
	in->ranges[0].end = from;
	in->available = (uint64_t)(from - in->ranges[0].start);
	load_result_release(result);
	return ingest_load(in, dir, result, err);
}

int stream_load_cut(struct stream *s, struct error *err)
{
	struct load_result result = {0};
	struct stream_gauges *g = s->opt->gauges;
	const char *name = state_next_name(s->in.state);
	char *dir = mem_format("%s/%s", s->parent, name);

	/* count only this load; the store is atomic because another thread reads it */
	s->in.progress->events = 0;
	s->in.progress->bytes = 0;
	g->cut = s->in.available;
	g->cut_since_ms = (int64_t)(s->waiting_since * 1000);
	g->loading = 1;
	stream_note(s);
	int rc = check_parent(s, err);
	if (rc == RC_OK)
		rc = load_cut(s, dir, &result, err);
	g->loading = 0;
	g->cut = 0;
	g->cut_since_ms = 0;
	if (rc == RC_OK) {
		s->seen.lag -= s->in.available; /* estimate the lag until the next query */
		tell_published(s, dir, &result);
	}
	s->in.available = 0;
	s->waiting_since = 0;
	load_result_release(&result);
	mem_free(dir);
	return rc;
}

int stream_recover(struct stream *s, struct error *err)
{
	struct load_result result;
	const char *dir;
	int rc = ingest_recover(&s->in, &dir, &result, err);

	if (rc == RC_OK && dir)
		tell_published(s, dir, &result);
	load_result_release(&result);
	return rc;
}

/* --- partitions that cannot continue --- */

static void show_parked(struct stream *s)
{
	const struct parked_places *p = s->in.parked;

	s->opt->gauges->parked = p->n;
	snprintf(s->seen.parked, sizeof s->seen.parked, "%s", p->n ? p->item[0].why : "");
}

/*
 * Load one partition of the cut in a separate load. If the partition's data is at fault, park the
 * partition and return RC_OK.
 */
static int load_alone(struct stream *s, struct offset_range r, struct error *err)
{
	struct ingest *in = &s->in;

	in->ranges[0] = r;
	in->nranges = 1;
	in->available = (uint64_t)(r.end - r.start);
	int rc = stream_load_cut(s, err);
	if (rc == RC_OK)
		parked_end(in->parked, &r, &in->listener);
	if (rc == RC_OK || !in->data_fault || state_intent(in->state))
		return rc;
	parked_put(in->parked, &r, &in->listener, err->msg);
	show_parked(s);
	return RC_OK;
}

/*
 * Load each partition of a failed cut in a separate load, and park the partitions that fail again.
 * A partition without new messages also fails if another message has replaced its last loaded
 * message. The stream tries such partitions last, and only if it has parked no other partition.
 */
static int load_one_by_one(struct stream *s, struct error *err)
{
	struct ingest *in = &s->in;
	size_t n = in->nranges, before = in->parked->n;
	struct offset_range *all = mem_calloc(n + 1, sizeof *all);
	int rc = RC_OK;

	memcpy(all, in->ranges, n * sizeof *all);
	report_to(&in->listener, "%s; saltmill loads each partition by itself", err->msg);
	for (int empty = 0; empty < 2 && in->parked->n == before; empty++)
		for (size_t i = 0; rc == RC_OK && i < n; i++) {
			rc = stop_check(err);
			if (rc == RC_OK && (all[i].start == all[i].end) == empty)
				rc = load_alone(s, all[i], err);
		}
	mem_free(all);
	return rc;
}

/* Retry the parked partitions whose delay is over. */
static int retry_parked(struct stream *s, struct error *err)
{
	struct ingest *in = &s->in;
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < in->parked->n; i++) {
		const struct parked_place p = in->parked->item[i];
		const struct offset_range place = {.topic = p.topic, .partition = p.partition};

		if (p.try_ms > clock_ms())
			continue;
		in->only = &place;
		rc = ingest_look(in, err);
		in->only = NULL;
		if (rc == RC_OK && in->nranges == 1)
			rc = load_alone(s, in->ranges[0], err);
		show_parked(s);
	}
	return rc;
}

/*
 * Load one set of ranges. If somebody deletes a topic of the pattern meanwhile, give up this load
 * but continue the stream. The next query omits the topic, as a restarted stream would.
 */
static int load_what_is_there(struct stream *s, struct error *err)
{
	struct error why;
	size_t missing = s->in.nmissing;
	int rc = stream_load_cut(s, err);
	bool may_be_gone = (rc == RC_IO || rc == RC_DATA) && s->in.job->kafka.pattern;

	if (rc == RC_OK || state_intent(s->in.state))
		return rc;
	if (s->in.data_fault && s->in.nranges > 1 && !may_be_gone)
		return load_one_by_one(s, err);
	if (!may_be_gone || ingest_look(&s->in, &why) || s->in.nmissing <= missing)
		return s->in.data_fault && s->in.nranges > 1 ? load_one_by_one(s, err) : rc;
	report_to(&s->in.listener,
		  "saltmill drops the load that was reading it (%s) and loads its offsets of "
		  "other topics again",
		  err->msg);
	return RC_OK;
}

/* --- a full disk --- */

/*
 * Wait for free space on the disk. The job's `patience` limits the wait, as for a broker that does
 * not answer. Without `patience`, there is no limit. The failed load has removed its files, or it
 * is in place without a record. In the second case, the stream records this load before it loads
 * anything else. Return RC_OK to retry.
 */
static int wait_for_room(struct stream *s, struct error *err)
{
	int rc;

	for (;;) {
		rc = room_wait(&s->full_since, s->in.job, DURATION_FOREVER, &s->in.listener, err);
		if (rc || !state_intent(s->in.state))
			return rc;
		rc = stream_recover(s, err);
		if (!room_is_missing(rc, err))
			return rc;
	}
}

static int cut_after_cut(struct stream *s, struct error *err)
{
	int rc;

	while ((rc = stop_check(err)) == RC_OK && (rc = ingest_look(&s->in, err)) == RC_OK) {
		s->seen.lag = s->in.available + s->in.parked->lag;
		show_parked(s);
		stream_show_lags(s->opt->gauges, s->in.job, s->in.ranges, s->in.nranges);
		bool due = stream_is_due(s);
		stream_show(s->opt->gauges, s->seen.lag, s->waiting_since);
		s->opt->gauges->missing = s->in.nmissing;
		if (due)
			rc = load_what_is_there(s, err);
		else
			clock_sleep_ms(LOOK_MS);
		if (rc == RC_OK)
			rc = retry_parked(s, err);
		if (room_is_missing(rc, err))
			rc = wait_for_room(s, err);
		if (rc)
			break;
		stream_note(s);
	}
	return rc;
}

int stream_run_one(const struct job *job, const struct stream_options *opt,
		   struct progress *progress, struct error *err)
{
	struct parked_places parked = {0};
	struct stream s = {.opt = opt, .in.parked = &parked};
	s.parent = opt->load->output_dir ? mem_strdup(opt->load->output_dir)
					 : mem_format("%s/published", opt->state_dir);
	int rc = ingest_open(&s.in, job, opt->load, opt->state_dir, &opt->listener, progress, err);
	if (rc == RC_OK && access(s.parent, W_OK | X_OK) < 0)
		rc = error_set(err, RC_CONFIG, "cannot make loads in %s: %s", s.parent,
			       strerror(errno));
	if (rc == RC_OK)
		stream_held(&s, opt->state_dir, true);
	if (rc == RC_OK)
		rc = stream_recover(&s, err);
	if (rc == RC_OK)
		rc = cut_after_cut(&s, err);
	ingest_close(&s.in);
	parked_release(&parked);
	mem_free(s.parent);
	return rc;
}
