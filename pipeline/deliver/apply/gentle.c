/*
 * gentle.c - hand over only in the hours of --window, and wait for compactions with --pace
 *
 * Each loaded file can start compactions, which read and write whole stores. With --pace, apply
 * loads the regions in batches. Before each batch after the first, it waits while the cluster has
 * more to compact than before the first batch. A region server reports its regions to the master
 * every three seconds, so apply first waits for reports that are newer than its last call.
 *
 * These reports have no latencies (ClusterStatus.proto of HBase 2.4 to 2.6). A server's JMX page has
 * some, but only if its web server is on and open. So apply itself measures how long each server of
 * the table needs for a scan of one row. Such a scan waits in the queue of the users' reads.
 */
#include "applying.h"

#include "clock.h"
#include "pool.h"

#define LOOK_MS	 1000
#define CLOCK_MS 200
#define FRESH_MS 15000		  /* longest wait for a newer report of each server */
#define STUCK_MS (10 * 60 * 1000) /* apply continues if nothing changes for this time */
#define HOUR	 60

#define READ_MS	    10000 /* longest scan of one row */
#define READ_TRIES  2	  /* the first read may have to load a block */
#define SLOW_FACTOR 4	  /* a server is slow if it needs so many times the time before the load */
#define SLOW_MS	    200	  /* and at least this time */

/* --- the window --- */

bool gentle_is_open(const struct apply_options *opt)
{
	const struct apply_window *w = &opt->window;

	if (!w->given)
		return true;
	unsigned now = clock_local_minute();
	return w->from < w->until ? now >= w->from && now < w->until
				  : now >= w->from || now < w->until;
}

int gentle_window(struct applying *a, struct error *err)
{
	const struct apply_window *w = &a->opt->window;
	bool said = false;
	int rc = RC_OK;

	while (rc == RC_OK && !gentle_is_open(a->opt)) {
		if (!said && !atomic_exchange(&a->window_said, true))
			applying_say(a, "waiting until %02u:%02u (--window)", w->from / HOUR,
				     w->from % HOUR);
		said = true;
		clock_sleep_ms(CLOCK_MS);
		rc = stop_check(err);
	}
	if (said)
		a->window_said = false;
	return rc;
}

int gentle_ready(void *self, struct error *err)
{
	struct applied *t = self;

	return gentle_window(t->run, err);
}

/* --- compactions --- */

/* Returns true if the region's name is "TABLE,...". */
static bool is_of(struct bytes region, const char *table)
{
	size_t n = strlen(table);

	return region.len > n && memcmp(region.ptr, table, n) == 0 && region.ptr[n] == ',';
}

static struct pace count_work(const struct applied *t, const struct hbase_status *s)
{
	const char *table = t->result->name;
	size_t most = blocking_files_of(t);
	struct pace out = {0};

	for (size_t i = 0; i < s->nstores; i++) {
		const struct hbase_store_files *one = &s->stores[i];

		out.compacting += one->to_compact > 0;
		out.left += one->to_compact;
		out.full += is_of(one->region, table) && one->families &&
			    one->files / one->families >= most;
	}
	return out;
}

/* Returns the newest report of any server, or the oldest report. */
static int64_t report_ms(const struct hbase_status *s, bool newest)
{
	int64_t out = 0;

	for (size_t i = 0; i < s->nservers; i++) {
		int64_t ms = s->servers[i].reported_ms;

		if (!i || (newest ? ms > out : ms < out))
			out = ms;
	}
	return out;
}

/* --- latencies --- */

static int take_none(void *ctx, const struct cell *c, struct error *err)
{
	(void)ctx, (void)c, (void)err;
	return RC_OK;
}

/* Returns the milliseconds of a read of one row. A server without an answer is as slow as READ_MS. */
static int64_t read_ms(struct hbase *h, const struct hbase_region *r)
{
	const struct hbase_scan scan = {.limit = 1, .rows_a_call = 1, .patience_ms = READ_MS};
	int64_t best = READ_MS;

	for (unsigned i = 0; i < READ_TRIES; i++) {
		struct hbase_failure why = {0};
		struct error unsaid;
		int64_t begun = clock_ms();
		int rc = hbase_scan_region(h, r, &scan, take_none, NULL, &why, &unsaid);
		int64_t ms = clock_ms() - begun;

		/* a region that moves, or that the user may not read, says nothing about the server
		 */
		if (rc && why.trouble != TROUBLE_LOST)
			return 0;
		best = ms < best ? ms : best;
	}
	return best;
}

static bool is_first_of_server(const struct hbase_regions *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (r->item[k].place.port == r->item[i].place.port &&
		    strcmp(r->item[k].place.host, r->item[i].place.host) == 0)
			return false;
	return true;
}

/* Measures the slowest server of the table's regions. */
static void measure(struct applied *t, struct pace *out)
{
	struct hbase_regions r = {0};
	struct hbase_failure why;
	struct error unsaid;
	int rc = kept_regions(t->run->kept, t->result->name, &r, &why, &unsaid);

	for (size_t i = 0; rc == RC_OK && i < r.count && !stop_check(&unsaid); i++) {
		if (!is_first_of_server(&r, i))
			continue;
		int64_t ms = read_ms(t->run->hbase, &r.item[i]);
		if (ms <= out->slowest_ms)
			continue;
		out->slowest_ms = ms;
		out->slowest = r.item[i].place;
	}
	hbase_regions_release(&r);
}

struct paced {
	struct pace work;
	int64_t newest_ms, oldest_ms; /* reports of the servers */
};

static int look(struct applied *t, struct paced *out, struct error *err)
{
	struct hbase_status s;
	int rc = precheck_wait(t->run->hbase, &s, err);

	if (rc == RC_OK)
		*out = (struct paced){count_work(t, &s), report_ms(&s, true), report_ms(&s, false)};
	hbase_status_release(&s);
	if (rc == RC_OK)
		measure(t, &out->work);
	return rc;
}

static bool is_slow(const struct applied *t, const struct pace *now)
{
	return now->slowest_ms >= SLOW_MS && now->slowest_ms > SLOW_FACTOR * t->calm.slowest_ms;
}

static bool is_calm(const struct applied *t, const struct pace *now)
{
	return now->compacting <= t->calm.compacting && now->full <= t->calm.full &&
	       !is_slow(t, now);
}

static void say_wait(const struct applied *t, const struct pace *now)
{
	if (is_slow(t, now))
		applying_say(t->run,
			     "table %s: waiting for region server %s:%u: a read of one row takes "
			     "%lld ms (at most %lld ms before the load)",
			     t->result->name, now->slowest.host, now->slowest.port,
			     (long long)now->slowest_ms, (long long)t->calm.slowest_ms);
	else
		applying_say(t->run,
			     "table %s: waiting for compactions: %zu regions are being "
			     "compacted (%zu before the load), %zu have as many files as "
			     "hbase.hstore.blockingStoreFiles (%zu before)",
			     t->result->name, now->compacting, t->calm.compacting, now->full,
			     t->calm.full);
}

static bool same_work(const struct pace *a, const struct pace *b)
{
	return a->compacting == b->compacting && a->full == b->full && a->left == b->left;
}

/* Waits until the reports that are newer than `first` show no more work than before the run. */
static int wait_calm(struct applied *t, const struct paced *first, struct error *err)
{
	int64_t begun = clock_ms(), changed = begun;
	struct paced seen = *first;
	bool said = false;

	for (;;) {
		struct pace before = seen.work;

		clock_sleep_ms(LOOK_MS);
		int rc = stop_check(err);
		if (rc == RC_OK)
			rc = look(t, &seen, err);
		if (rc)
			return rc;
		int64_t now = clock_ms();
		if (seen.oldest_ms <= first->newest_ms && now - begun < FRESH_MS)
			continue;
		if (is_calm(t, &seen.work))
			return RC_OK;
		if (!said)
			say_wait(t, &seen.work);
		said = true;
		changed = same_work(&before, &seen.work) ? changed : now;
		if (now - changed < STUCK_MS)
			continue;
		applying_warn(t->run,
			      "table %s: %s for 10 minutes, so apply did; "
			      "check with `compaction_state '%s'` in the HBase shell",
			      t->result->name,
			      is_slow(t, &seen.work) ? "region servers did not get faster"
						     : "compactions did not continue",
			      t->result->name);
		return RC_OK;
	}
}

int gentle_settle(void *self, struct error *err)
{
	struct applied *t = self;
	struct paced now;

	if (!t->run->opt->pace)
		return RC_OK;
	int rc = look(t, &now, err);
	if (rc)
		return rc;
	if (t->paced)
		return wait_calm(t, &now, err);
	t->calm = now.work;
	t->paced = true;
	return RC_OK;
}
