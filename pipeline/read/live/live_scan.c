/* live_scan.c - open a live scan, merge it over salts, and report what it read (query.h) */
#include "spans.h"

#define BYTES_DEFAULT ((uint64_t)32 << 20)
#define CALL_LEAST    ((uint64_t)16 << 10)
#define CALL_MOST     ((uint64_t)2 << 20) /* hbase.client.scanner.max.result.size */

/* --- open --- */

/* Appends the columns that the query wants of a family. */
static void list_family(struct live_scan *s, size_t family, size_t *names)
{
	const struct query *q = &s->q;
	struct hbase_columns *c = &s->columns[s->ncolumns];
	bool any = q->ncolumns == 0, all = any;

	*c = (struct hbase_columns){.family = s->o.families[family].name,
				    .qualifiers = s->qualifiers + *names};
	for (size_t i = 0; i < q->ncolumns; i++) {
		if (q->columns[i].family != family)
			continue;
		any = true;
		all = all || q->columns[i].all;
		s->qualifiers[*names + c->nqualifiers++] = q->columns[i].qualifier;
	}
	if (all)
		c->nqualifiers = 0;
	*names += c->nqualifiers;
	s->ncolumns += any;
}

/*
 * Returns true if a request can name the spans as columns. In a family with MIN_VERSIONS and TTL
 * they cannot, because a server returns another version of a named column.
 */
static bool spans_are_columns(const struct live_scan *s)
{
	const struct query_family *f = &s->o.families[s->q.span_family];

	for (size_t i = 0; i < s->q.nspans; i++) {
		const struct query_range *r = &s->q.spans[i];

		if (r->stop.len != r->start.len + 1 || r->stop.ptr[r->start.len] != 0 ||
		    (r->start.len && memcmp(r->start.ptr, r->stop.ptr, r->start.len) != 0))
			return false;
	}
	return !(f->min_versions && f->ttl_ms);
}

static void list_columns(struct live_scan *s)
{
	size_t names = 0;

	if (s->q.ncolumns == 0 && !s->o.more_families)
		return;
	s->columns = mem_calloc(s->o.nfamilies + 1, sizeof *s->columns);
	s->qualifiers = mem_calloc(s->q.ncolumns + s->q.nspans + 1, sizeof *s->qualifiers);
	for (size_t i = 0; i < s->o.nfamilies; i++)
		list_family(s, i, &names);
	if (!s->q.nspans || s->columns_only)
		return;
	for (size_t i = 0; i < s->ncolumns; i++) {
		struct hbase_columns *c = &s->columns[i];

		if (!bytes_eq(c->family, s->o.families[s->q.span_family].name))
			continue;
		c->qualifiers = s->qualifiers + names;
		for (size_t k = 0; k < s->q.nspans; k++)
			s->qualifiers[names++] = s->q.spans[k].start;
		c->nqualifiers = s->q.nspans;
	}
}

static struct filter *range_filter(struct live_scan *s, struct bytes start, struct bytes stop)
{
	struct filter *f = arena_alloc(&s->arena, sizeof *f);

	*f = (struct filter){.type = FILTER_COLUMN_RANGE,
			     .start = start,
			     .stop = stop,
			     .open_start = start.len == 0,
			     .open_stop = stop.len == 0,
			     .start_inclusive = true};
	return f;
}

/* Widen the first range until it contains all ranges. */
static struct filter *join_ranges(struct filter *const *of, size_t n)
{
	struct filter *all = of[0];

	for (size_t i = 1; i < n; i++) {
		const struct filter *f = of[i];

		all->open_start = all->open_start || f->open_start;
		all->open_stop = all->open_stop || f->open_stop;
		if (!all->open_start && bytes_cmp(f->start, all->start) < 0)
			all->start = f->start;
		if (!all->open_stop && bytes_cmp(f->stop, all->stop) > 0)
			all->stop = f->stop;
		all->stop_inclusive = all->stop_inclusive || f->stop_inclusive;
	}
	return all;
}

/*
 * Limit the columns by filters. ColumnRangeFilter ignores families, and its hints lead to its own
 * range. So the columns that the query names in other families also become ranges.
 */
static void filter_columns(struct live_scan *s)
{
	const struct query *q = &s->q;
	struct filter **of;
	size_t n = 0;

	if (!q->nspans || spans_are_columns(s))
		return;
	of = arena_alloc(&s->arena, (q->nspans + q->ncolumns + 1) * sizeof(struct filter *));
	for (size_t i = 0; i < q->nspans; i++)
		of[n++] = range_filter(s, q->spans[i].start, q->spans[i].stop);
	for (size_t i = 0; i < q->ncolumns; i++) {
		if (q->columns[i].all)
			continue;
		of[n] = range_filter(s, q->columns[i].qualifier, q->columns[i].qualifier);
		of[n]->open_start = of[n]->open_stop = false;
		of[n++]->stop_inclusive = true;
	}
	if (q->reversed && n > 1) { /* in a reversed scan, a list forgets its members with hints */
		s->columns_only = join_ranges(of, n);
		return;
	}
	s->columns_only = arena_alloc(&s->arena, sizeof *s->columns_only);
	*s->columns_only = (struct filter){.type = FILTER_LIST_OR, .of = of, .nof = n};
	if (n == 1)
		s->columns_only = of[0];
}

static int put_question(struct live_scan *s, struct error *err)
{
	struct query *q = &s->q;
	bool judged = q->judge != NULL;
	int rc = query_check(q, err);

	if (rc)
		return rc;
	if (!q->ranges) {
		if (!query_bounds(q, &s->bound, &s->whole))
			return error_memory(err, q->start.len + q->stop.len, "a scan");
		q->ranges = &s->whole;
		q->nranges = !(q->get && q->start.len == 0);
	}
	/* a judge needs all versions */
	s->versions = judged ? INT32_MAX : q->versions ? q->versions : 1;
	s->limited = q->limit && !judged;
	s->o.no_values = s->o.no_values && !judged && !q->raw;
	s->page.type = FILTER_COLUMN_PAGINATION;
	s->page.limit = judged || q->raw ? 0 : q->max_columns;
	s->keys.type = FILTER_KEY_ONLY;
	if (q->raw)
		s->o.filter = NULL; /* the filter would see delete markers as values */
	filter_columns(s);
	list_columns(s);
	return RC_OK;
}

static int read_map(struct live_scan *s, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc;

	while ((rc = hbase_regions(s->o.hbase, s->o.table, &s->map, &why, err)) != RC_OK) {
		hbase_regions_release(&s->map);
		if (!hbase_retry(&why, &attempt, err))
			return rc;
	}
	s->regions = s->map.count;
	return RC_OK;
}

static void share_memory(struct live_scan *s)
{
	uint64_t bytes = s->o.bytes ? s->o.bytes : BYTES_DEFAULT;
	uint64_t at_once = s->nstreams > 8 ? s->nstreams : 8;

	s->bytes_a_call = bytes / at_once / 2;
	if (s->bytes_a_call > CALL_MOST)
		s->bytes_a_call = CALL_MOST;
	if (s->bytes_a_call < CALL_LEAST)
		s->bytes_a_call = CALL_LEAST;
}

int live_open(struct live_scan **out, const struct live_options *o, struct error *err)
{
	struct live_scan *s = mem_calloc(1, sizeof *s);

	s->o = *o;
	s->q = *o->query;
	pthread_mutex_init(&s->map_lock, NULL);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	int rc = put_question(s, err);
	if (rc == RC_OK)
		rc = read_map(s, err);
	if (rc == RC_OK) {
		spans_cut(s);
		share_memory(s);
		rc = fetch_start(s, err);
	}
	*out = s;
	if (rc) {
		live_close(s);
		*out = NULL;
	}
	return rc;
}

static void release_span(struct live_span *p)
{
	while (p->first) {
		struct fetched *next = p->first->next;

		fetched_free(p->first);
		p->first = next;
	}
	buf_release(&p->at);
	buf_release(&p->name);
	buf_release(&p->start);
	buf_release(&p->end);
	buf_release(&p->last);
	mem_free(p->visits);
	arena_release(&p->arena);
}

void live_close(struct live_scan *s)
{
	if (!s)
		return;
	fetch_stop(s);
	for (size_t i = 0; i < s->nstreams; i++)
		stream_release(&s->streams[i]);
	for (size_t i = 0; i < s->nspans; i++)
		release_span(&s->spans[i]);
	hbase_regions_release(&s->map);
	arena_release(&s->arena);
	buf_release(&s->bound);
	mem_free(s->columns);
	mem_free(s->qualifiers);
	mem_free(s->pieces);
	mem_free(s->spans);
	mem_free(s->streams);
	mem_free(s->heap.items);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->map_lock);
	mem_free(s);
}

/* --- the merge --- */

static bool stream_before(const void *q, const void *a, const void *b)
{
	const struct live_stream *x = a, *y = b;

	return query_row_before(q, x->cells[0].row, y->cells[0].row);
}

/* Read the first row of each stream. */
static int start(struct live_scan *s, struct error *err)
{
	s->started = true;
	for (size_t i = 0; i < s->nstreams; i++) {
		int rc = stream_next_row(s, &s->streams[i], err);

		if (rc < 0)
			return rc;
		if (rc == RC_OK)
			s->heap.items[s->heap.n++] = &s->streams[i];
	}
	heap_order(&s->heap, stream_before, &s->q);
	return RC_OK;
}

/* Replace the returned row with the next row of its stream. */
static int step(struct live_scan *s, struct error *err)
{
	int rc = stream_next_row(s, s->heap.items[0], err);

	if (rc < 0)
		return rc;
	if (rc == RC_END)
		heap_pop(&s->heap, stream_before, &s->q);
	else
		heap_sift(&s->heap, 0, stream_before, &s->q);
	return RC_OK;
}

int live_next(struct live_scan *s, struct cell *out, struct error *err)
{
	struct live_stream *t = s->heap.n ? s->heap.items[0] : NULL;

	s->new_row = !t || t->give == t->n;
	if (s->new_row) {
		if (s->q.limit && s->rows == s->q.limit)
			return RC_END;
		int rc = s->started ? t ? step(s, err) : RC_OK : start(s, err);
		if (rc || s->heap.n == 0)
			return rc ? rc : RC_END;
		t = s->heap.items[0];
		s->rows++;
	}
	*out = t->cells[t->give++];
	return RC_OK;
}

bool live_starts_row(const struct live_scan *s)
{
	return s->new_row;
}

/* --- explain --- */

void live_explain(struct live_scan *s, struct live_explained *out)
{
	fetch_stop(s);
	*out = (struct live_explained){.regions = s->regions,
				       .spans = s->nspans,
				       .limited = s->limited,
				       .paged = s->page.limit > 0,
				       .no_values = s->o.no_values,
				       .unfiltered = s->unfiltered};
	for (size_t i = 0; i < s->nspans; i++)
		out->nvisits += s->spans[i].nvisits;
	out->visits = mem_calloc(out->nvisits + 1, sizeof *out->visits);
	out->nvisits = 0;
	for (size_t i = 0; i < s->nspans; i++)
		for (size_t k = 0; k < s->spans[i].nvisits; k++)
			out->visits[out->nvisits++] = s->spans[i].visits[k];
}
