#include "stream.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "pool.h"
#include "partitions.h"
#include "topics.h"

#define LOOK_MS		  200
#define EVENT_BYTES_GUESS 1024 /* used until a load was read */
#define HOLD_S		  30   /* added to roll.time at most, while loads wait to be applied */

/* Return the limit of offsets in one cut; UINT64_MAX: none. */
static uint64_t cut_limit(const struct stream *s)
{
	const struct kafka_source *k = &s->in.job->kafka;
	uint64_t limit = k->roll_rows ? k->roll_rows : UINT64_MAX;
	/* the size of messages is known only from those read before */
	double event_bytes = s->event_bytes > 0 ? s->event_bytes : EVENT_BYTES_GUESS;
	uint64_t by_bytes =
		k->roll_bytes ? (uint64_t)((double)k->roll_bytes / event_bytes) + 1 : UINT64_MAX;

	return by_bytes < limit ? by_bytes : limit;
}

/* Reduce the cut to about `limit` offsets, shared among the partitions. */
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

/* Return the age at which a cut is due. */
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

void topic_lags_release(struct topic_lags *l)
{
	for (size_t i = 0; i < l->n; i++)
		mem_free(l->item[i].topic);
	mem_free(l->item);
	l->item = NULL;
	l->n = 0;
}

void stream_show_topics(struct stream_gauges *g, const struct job *job,
			const struct offset_range *ranges, size_t n)
{
	struct topic_lags *l = g->by_topic;

	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	topic_lags_release(l);
	for (size_t i = 0; i < n; i++) {
		const char *topic = kafka_topic_of(&job->kafka, ranges[i].topic);

		if (!l->n || strcmp(l->item[l->n - 1].topic, topic) != 0) {
			l->item = mem_grow(l->item, l->n, sizeof *l->item);
			l->item[l->n++] = (struct topic_lag){mem_strdup(topic), 0};
		}
		l->item[l->n - 1].lag += (uint64_t)(ranges[i].end - ranges[i].start);
	}
	pthread_mutex_unlock(&l->lock);
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
 * Check the folder of the loads. It existed at the start, so if it is gone, that is no usage error.
 */
static int check_parent(const struct stream *s, struct error *err)
{
	bool there;
	int rc = io_exists(s->parent, &there, err);

	return rc || there
		       ? rc
		       : error_set(
				 err, RC_DATA,
				 "%s, the folder of the loads, is gone; restore or create it, and start "
				 "again: only loads that were not published are repeated",
				 s->parent);
}

int stream_load_cut(struct stream *s, struct error *err)
{
	struct load_result result = {0};
	struct stream_gauges *g = s->opt->gauges;
	const char *name = state_next_name(s->in.state);
	char *dir = mem_format("%s/%s", s->parent, name);

	s->in.progress->events = 0; /* count this cut only; another thread may look at it */
	s->in.progress->bytes = 0;
	g->cut = s->in.available;
	g->cut_since_ms = (int64_t)(s->waiting_since * 1000);
	g->loading = 1;
	stream_note(s);
	int rc = check_parent(s, err);
	if (rc == RC_OK)
		rc = ingest_load(&s->in, dir, &result, err);
	g->loading = 0;
	g->cut = 0;
	g->cut_since_ms = 0;
	if (rc == RC_OK) {
		s->seen.lag -= s->in.available; /* until the next look */
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

/*
 * Load a cut. If a topic of a pattern is deleted while it is read, only the cut fails, not the
 * stream. The next look leaves the topic out, as a restarted stream would.
 */
static int load_what_is_there(struct stream *s, struct error *err)
{
	struct error why;
	size_t missing = s->in.nmissing;
	int rc = stream_load_cut(s, err);
	bool may_be_gone = (rc == RC_IO || rc == RC_DATA) && s->in.job->kafka.pattern;

	if (!may_be_gone || state_intent(s->in.state) || ingest_look(&s->in, &why) ||
	    s->in.nmissing <= missing)
		return rc;
	report_to(&s->in.listener,
		  "the load that was reading it is dropped (%s); its offsets of other topics "
		  "are loaded again",
		  err->msg);
	return RC_OK;
}

static int cut_after_cut(struct stream *s, struct error *err)
{
	int rc;

	while ((rc = stop_check(err)) == RC_OK && (rc = ingest_look(&s->in, err)) == RC_OK) {
		s->seen.lag = s->in.available;
		stream_show_topics(s->opt->gauges, s->in.job, s->in.ranges, s->in.nranges);
		bool due = stream_is_due(s);
		stream_show(s->opt->gauges, s->seen.lag, s->waiting_since);
		s->opt->gauges->missing = s->in.nmissing;
		if (due)
			rc = load_what_is_there(s, err);
		else
			clock_sleep_ms(LOOK_MS);
		if (rc)
			break;
		stream_note(s);
	}
	return rc;
}

int stream_run(const struct job *job, const struct stream_options *opt, struct progress *progress,
	       struct error *err)
{
	if (job->kafka.share)
		return share_run(job, opt, progress, err);
	struct stream s = {.opt = opt};
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
	mem_free(s.parent);
	return rc;
}
