/*
 * live_fetch.c - fetch the servers' answers ahead, with a few threads
 *
 * Only one thread at a time works on a span. All retries follow hbase_retry. A retry looks up the
 * regions again and reads the incomplete row again from its start, so a row never mixes data of two
 * times. The retry count restarts after complete rows have arrived.
 */
#include "clock.h"
#include "pool.h"
#include "spans.h"

#define WORKERS	      8
#define WAITING_MOST  2 /* most waiting answers for each span */
#define LEASE_MS      60000
#define LOOK_ROUND_MS 1000
#define LEAVE_MS      1000  /* time to finish calls and to close scanners when the scan ends */
#define SILENCE_MS    20000 /* time after which a warning names the region that does not answer */
#define REGION_TEXT   400
/* number of failures of one call after which the filter is the suspected cause */
#define FILTER_TRIES 4

void fetched_free(struct fetched *f)
{
	if (f)
		hbase_batch_release(&f->batch);
	mem_free(f);
}

/* --- regions --- */

static int look_up_regions(struct live_scan *s, struct live_span *p, struct hbase_failure *why,
			   struct error *err)
{
	struct hbase_regions r;
	int rc = RC_OK;

	pthread_mutex_lock(&s->map_lock);
	if (p->map_age == s->map_age) { /* no other thread has looked up the regions */
		rc = hbase_regions(s->o.hbase, s->o.table, &r, why, err);
		if (rc == RC_OK) {
			hbase_regions_release(&s->map);
			s->map = r;
			s->map_age++;
		} else {
			hbase_regions_release(&r);
		}
	}
	pthread_mutex_unlock(&s->map_lock);
	return rc;
}

/* --- the content of an answer --- */

static void copy(struct buf *to, struct bytes b)
{
	to->len = 0;
	buf_append(to, b.ptr, b.len);
}

static struct live_visit *visit_of(struct live_span *p)
{
	return &p->visits[p->nvisits - 1];
}

/* Returns RC_DATA if a row is out of order or outside of its region. */
static int check_row(const struct live_scan *s, const struct live_span *p, struct bytes last,
		     struct bytes row, struct error *err)
{
	int c = last.len ? bytes_cmp(last, row) : 0;
	bool outside = bytes_cmp(row, buf_bytes(&p->start)) < 0 ||
		       (p->end.len && bytes_cmp(row, buf_bytes(&p->end)) >= 0);

	if (row.len && !outside && (last.len == 0 || (s->q.reversed ? c > 0 : c < 0)))
		return RC_OK;
	return error_set(err, RC_DATA,
			 "%s:%u: found rows that are not in order or not in "
			 "region %s, expected sorted rows of that region; check "
			 "the region with `hbase hbck`",
			 p->place.host, p->place.port, p->visits[p->nvisits - 1].region);
}

static int look_through(struct live_scan *s, struct live_span *p, const struct hbase_batch *b,
			struct error *err)
{
	struct bytes rest = b->cells, last = p->has_last ? buf_bytes(&p->last) : (struct bytes){0};
	struct live_visit *v = visit_of(p);
	struct cell c;
	bool any = false;
	int rc;

	while ((rc = hbase_batch_cell(&rest, &c, err)) == RC_OK) {
		v->cells++;
		if (bytes_eq(c.row, last))
			continue;
		rc = check_row(s, p, last, c.row, err);
		if (rc)
			return rc;
		any = true;
		last = c.row;
		p->rows++;
		v->rows++;
	}
	if (rc < 0)
		return rc;
	if (any) {
		copy(&p->last, last);
		p->has_last = true;
	}
	v->bytes += b->cells.len;
	return RC_OK;
}

/* Returns true if the span has as many complete rows as the query wants. */
static bool has_enough(const struct live_scan *s, const struct live_span *p)
{
	if (!spans_limited(s))
		return false;
	return p->rows > s->q.limit || (p->scanner.ended && p->rows == s->q.limit);
}

/* --- calls --- */

static const char *encoded_name(struct arena *a, struct bytes name)
{
	/* the name has the form "table,start,id.encoded." */
	size_t end = name.len ? name.len - 1 : 0;
	const uint8_t *dot = end ? memrchr(name.ptr, '.', end) : NULL;

	if (!dot)
		return "?";
	return arena_strndup(a, dot + 1, (size_t)(name.ptr + end - dot - 1));
}

static void note_visit(struct live_span *p, const struct span_call *c)
{
	struct bytes a = c->scan.start, b = c->scan.stop;

	p->visits = mem_grow(p->visits, p->nvisits, sizeof *p->visits);
	p->visits[p->nvisits++] =
		(struct live_visit){.region = encoded_name(&p->arena, c->region.name),
				    .place = p->place,
				    .start = arena_bytes(&p->arena, c->scan.reversed ? b : a),
				    .stop = arena_bytes(&p->arena, c->scan.reversed ? a : b),
				    .ranges = c->ranges.nranges ? c->ranges.nranges : 1};
}

/* Makes one call. Returns RC_END at the end of the span. */
static int call(struct live_scan *s, struct live_span *p, struct hbase_batch *b,
		struct hbase_failure *why, struct error *err)
{
	struct span_call c;
	int rc;

	*why = (struct hbase_failure){0};
	if (p->scanner.open) {
		p->scanner.limit = spans_limited(s) ? s->q.limit - p->rows + 1 : 0;
		rc = hbase_scanner_next(s->o.hbase, &p->scanner, b, why, err);
	} else {
		rc = span_place(s, p, &c);
		if (rc)
			return rc;
		p->filtered = c.scan.filter != NULL;
		note_visit(p, &c);
		rc = hbase_scanner_open(s->o.hbase, &p->scanner, &c.region, &c.scan, b, why, err);
		span_call_release(&c);
	}
	visit_of(p)->calls++;
	if (rc)
		return rc;
	rc = look_through(s, p, b, err);
	if (rc) {
		hbase_batch_release(b);
		hbase_scanner_close(s->o.hbase, &p->scanner);
		why->trouble = TROUBLE_REFUSED;
	}
	return rc;
}

/* Goes back to the start of the incomplete row, because the server has lost the scanner. */
static void go_back(const struct live_scan *s, struct live_span *p)
{
	p->scanner.open = false;
	if (!p->has_last)
		return;
	p->has_last = false;
	p->again = true;
	p->at_end = false;
	p->rows--;
	if (s->q.reversed)
		buf_put(&p->last, 0);
	/* a row that differs from the row of the last failure has all attempts */
	if (!bytes_eq(buf_bytes(&p->at), buf_bytes(&p->last)))
		p->attempt = (struct hbase_attempts){0};
	copy(&p->at, buf_bytes(&p->last));
}

/* Returns true if the server lacks the filter or fails because of the filter. */
static bool is_of_filter(const struct live_span *p, const struct hbase_failure *why)
{
	if (!p->filtered || !why->name[0])
		return false;
	return why->trouble == TROUBLE_REFUSED || (why->may_pass && p->attempt.n >= FILTER_TRIES);
}

/* Appends the region of the last call, and its rows. */
static void put_region(struct buf *out, const struct live_scan *s, const struct live_span *p)
{
	buf_printf(out, "region %s of table %s on %s:%u, rows from ",
		   p->visits[p->nvisits - 1].region, s->o.table, p->place.host, p->place.port);
	bytes_escape(out, buf_bytes(&p->start));
	buf_append_str(out, p->start.len ? " to " : "the first to ");
	bytes_escape(out, buf_bytes(&p->end));
	buf_append_str(out, p->end.len ? "" : "the last");
	if (out->len > REGION_TEXT)
		out->len = REGION_TEXT;
	buf_put(out, 0);
}

/* Warn once while the scan retries, so that the user can examine the server. */
static void tell_silence(struct live_scan *s, struct live_span *p)
{
	struct buf region = {0};

	if (p->reported)
		return;
	p->reported = true;
	put_region(&region, s, p);
	report_to(&s->o.listener, "%s: found no answer for %lld s; still retrying",
		  (const char *)region.ptr, (long long)(clock_ms() - p->asked_ms) / 1000);
	buf_release(&region);
}

/* Add the region to the error of a failed span, and if the region may return, a fix. */
static int name_region(const struct live_scan *s, const struct live_span *p, bool may_pass,
		       struct error *err)
{
	struct buf region = {0};

	if (err->code == RC_STOPPED || p->nvisits == 0)
		return err->code;
	put_region(&region, s, p);
	const char *name = (const char *)region.ptr;
	struct error said = *err;
	error_set(err, said.code, "%s: %s%s", name, said.msg,
		  may_pass ? "; --start and --stop read other regions, and `hbase shell` can "
			     "`unassign` and `assign` this region"
			   : "");
	buf_release(&region);
	return err->code;
}

/* Handles a failed call. Returns RC_OK if the caller should retry the call. */
static int recover(struct live_scan *s, struct live_span *p, struct hbase_failure why, int rc,
		   struct error *err)
{
	struct live_visit *v = p->nvisits ? visit_of(p) : NULL;

	if (s->closing)
		return error_set(err, RC_STOPPED, "the scan has ended");
	if (v)
		v->broken = arena_strdup(&p->arena, why.name[0] ? why.name : err->msg);
	go_back(s, p);
	if (is_of_filter(p, &why)) { /* continue without the filter, which only saves work */
		s->unfiltered = true;
		p->attempt = (struct hbase_attempts){0};
		return RC_OK;
	}
	bool silent = why.trouble == TROUBLE_LOST && clock_ms() - p->asked_ms >= SILENCE_MS;
	for (bool moved = why.trouble != TROUBLE_BUSY;;) {
		if (s->closing)
			return error_set(err, RC_STOPPED, "the scan has ended");
		if (!hbase_retry(&why, &p->attempt, err))
			return name_region(s, p, why.trouble != TROUBLE_REFUSED, err);
		if (silent)
			tell_silence(s, p);
		rc = moved ? look_up_regions(s, p, &why, err) : RC_OK;
		if (rc == RC_OK)
			break;
		moved = true;
	}
	return RC_OK;
}

/* Fetch a batch that is not empty. Sets `*out` to NULL at the end of the span. */
static int fetch(struct live_scan *s, struct live_span *p, struct fetched **out, struct error *err)
{
	struct hbase_batch b;
	struct hbase_failure why;

	*out = NULL;
	p->asked_ms = clock_ms();
	for (;;) {
		if (s->closing)
			return error_set(err, RC_STOPPED, "the scan has ended");
		int rc = call(s, p, &b, &why, err);
		if (rc == RC_END) {
			if (!p->again)
				return RC_OK;
			b = (struct hbase_batch){0};
		} else if (rc) {
			rc = recover(s, p, why, rc, err);
			if (rc)
				return rc;
			continue;
		} else {
			p->asked_ms = clock_ms();
			p->reported = false;
			p->finished = has_enough(s, p);
			if (p->finished)
				hbase_scanner_close(s->o.hbase, &p->scanner);
			else if (p->scanner.ended)
				span_leave_region(s, p);
		}
		if (b.cells.len || p->again)
			break;
		hbase_batch_release(&b);
	}
	*out = mem_calloc(1, sizeof **out);
	**out = (struct fetched){.batch = b, .again = p->again};
	p->again = false;
	return RC_OK;
}

/* --- choose the next span --- */

static bool may_fetch(const struct live_span *p, size_t most)
{
	return p->state == SPAN_IDLE && p->nfetched < most;
}

/* Choose among the next spans of each stream. Prefer spans for which a reader waits. */
static struct live_span *pick(struct live_scan *s, size_t most)
{
	for (size_t k = 0; k < s->ahead; k++)
		for (size_t i = 0; i < s->nstreams; i++) {
			struct live_stream *t = &s->streams[i];

			if (t->given + k < t->nspans && may_fetch(&t->spans[t->given + k], most))
				return &t->spans[t->given + k];
		}
	return NULL;
}

static bool needs_renewal(const struct live_span *p, int64_t now)
{
	if (p->state != SPAN_IDLE || !p->scanner.open)
		return false;
	int64_t lease = p->scanner.lease_ms ? p->scanner.lease_ms : LEASE_MS;
	return now - p->touched_ms > lease / 3;
}

static struct live_span *pick_renewal(struct live_scan *s)
{
	int64_t now = clock_ms();

	for (size_t i = 0; i < s->nspans; i++)
		if (needs_renewal(&s->spans[i], now))
			return &s->spans[i];
	return NULL;
}

/* Stores the result of the thread that worked on the span. The caller must have the lock. */
static void put_back(struct live_scan *s, struct live_span *p, struct fetched *f, int rc,
		     const struct error *err)
{
	p->touched_ms = clock_ms();
	p->state = rc ? SPAN_FAILED : f ? SPAN_IDLE : SPAN_DONE;
	if (rc)
		p->err = *err;
	if (f) {
		*p->last_fetched = f;
		p->last_fetched = &f->next;
		p->nfetched++;
	}
	pthread_cond_broadcast(&s->changed);
}

static void fetch_for(struct live_scan *s, struct live_span *p)
{
	struct fetched *f = NULL;
	struct error err = {0};

	p->state = SPAN_BUSY;
	pthread_mutex_unlock(&s->lock);
	int rc = fetch(s, p, &f, &err);
	pthread_mutex_lock(&s->lock);
	put_back(s, p, f, rc, &err);
}

static void renew(struct live_scan *s, struct live_span *p)
{
	struct hbase_failure why;
	struct error unheard;

	p->state = SPAN_BUSY;
	pthread_mutex_unlock(&s->lock);
	if (hbase_scanner_renew(s->o.hbase, &p->scanner, &why, &unheard))
		go_back(s, p); /* the next fetch opens another scanner */
	pthread_mutex_lock(&s->lock);
	p->touched_ms = clock_ms();
	p->state = SPAN_IDLE;
	pthread_cond_broadcast(&s->changed);
}

static void *work(void *arg)
{
	struct live_scan *s = arg;

	stop_leave = &s->left;
	stop_unwatched = s->unwatched;
	pthread_mutex_lock(&s->lock);
	s->nworking++;
	while (!s->closing) {
		struct live_span *p = pick(s, 1);

		if (!p)
			p = pick(s, WAITING_MOST);
		struct live_span *old = p ? NULL : pick_renewal(s);
		if (p) {
			fetch_for(s, p);
		} else if (old) {
			renew(s, old);
		} else {
			clock_wait(&s->changed, &s->lock, LOOK_ROUND_MS);
		}
	}
	s->nworking--;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int fetch_start(struct live_scan *s, struct error *err)
{
	size_t n = s->o.threads ? s->o.threads : WORKERS;

	s->unwatched = stop_unwatched;
	if (n > s->nspans)
		n = s->nspans;
	if (s->q.get) /* a get has one answer, and the caller waits for it */
		n = 0;
	s->ahead = s->nstreams > 1 || s->limited ? 1 : n + 1;
	s->workers = mem_calloc(n + 1, sizeof *s->workers);
	for (size_t i = 0; i < n; i++) {
		int bad = pthread_create(&s->workers[i], NULL, work, s);

		if (bad && i == 0)
			return error_set(err, RC_IO, "cannot start a thread: %s", strerror(bad));
		if (bad)
			break;
		s->nworkers++;
	}
	return RC_OK;
}

/* Stops the threads without waiting for a slow server, because nobody needs their results. */
static void stop_workers(struct live_scan *s)
{
	int64_t until = clock_ms() + LEAVE_MS, left;

	pthread_mutex_lock(&s->lock);
	s->closing = true;
	pthread_cond_broadcast(&s->changed);
	while (s->nworking && (left = until - clock_ms()) > 0)
		clock_wait(&s->changed, &s->lock, left);
	pthread_mutex_unlock(&s->lock);
	s->left = true;
	for (size_t i = 0; i < s->nworkers; i++)
		pthread_join(s->workers[i], NULL);
}

void fetch_stop(struct live_scan *s)
{
	if (!s->workers)
		return;
	stop_workers(s);
	int64_t until = clock_ms() + LEAVE_MS;
	for (size_t i = 0; i < s->nspans && !stop_flag && clock_ms() < until; i++)
		hbase_scanner_close(s->o.hbase, &s->spans[i].scanner);
	mem_free(s->workers);
	s->workers = NULL;
}

int fetch_next(struct live_scan *s, struct live_span *p, struct fetched **out, struct error *err)
{
	int rc = RC_OK;

	pthread_mutex_lock(&s->lock);
	while (!p->first && p->state != SPAN_DONE && p->state != SPAN_FAILED) {
		if (p->state == SPAN_IDLE)
			fetch_for(s, p);
		else
			pthread_cond_wait(&s->changed, &s->lock);
	}
	*out = p->first;
	if (p->first) {
		p->first = p->first->next;
		if (!p->first)
			p->last_fetched = &p->first;
		(*out)->next = NULL;
		p->nfetched--;
		pthread_cond_broadcast(&s->changed); /* the queue has space again */
	} else if (p->state == SPAN_FAILED) {
		*err = p->err;
		rc = p->err.code;
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}
