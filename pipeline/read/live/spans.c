/* spans.c - cut the query's ranges at the table's regions, and find the region of each call */
#include "clock.h"
#include "spans.h"

#define RANGES_MOST 500 /* most ranges in one filter of a request */

static struct bytes lesser_stop(struct bytes a, struct bytes b)
{
	if (!a.len || !b.len)
		return a.len ? a : b;
	return bytes_cmp(a, b) < 0 ? a : b;
}

static struct bytes greater(struct bytes a, struct bytes b)
{
	return bytes_cmp(a, b) < 0 ? b : a;
}

/*
 * Finds the last region that begins at or before `row`. If `behind` is true, the region begins
 * before `row`.
 */
static size_t region_at(const struct hbase_regions *r, struct bytes row, bool behind)
{
	size_t low = 0, high = r->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		int c = bytes_cmp(r->item[middle].start, row);

		if (c < 0 || (c == 0 && !behind))
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* --- at the start --- */

static struct bytes keep(struct arena *a, struct bytes b)
{
	return bytes_of(arena_strndup(a, b.len ? (const char *)b.ptr : "", b.len), b.len);
}

struct span_cutter {
	struct live_scan *s;
	size_t npieces;
	size_t *first; /* first piece of each span */
	size_t region; /* region of the last piece */
};

static void add_piece(struct span_cutter *c, struct query_range piece, size_t region,
		      bool new_stream)
{
	struct live_scan *s = c->s;
	size_t room = s->nspans ? c->npieces - c->first[s->nspans - 1] : 0;

	s->pieces = mem_grow(s->pieces, c->npieces, sizeof *s->pieces);
	if (new_stream || region != c->region || room == RANGES_MOST) {
		c->first = mem_grow(c->first, s->nspans, sizeof *c->first);
		c->first[s->nspans++] = c->npieces;
	}
	c->region = region;
	s->pieces[c->npieces++] =
		(struct query_range){keep(&s->arena, piece.start), keep(&s->arena, piece.stop)};
}

static void cut_range(struct span_cutter *c, struct query_range range, bool new_stream)
{
	const struct hbase_regions *r = &c->s->map;

	for (size_t i = region_at(r, range.start, false); i < r->count; i++) {
		struct query_range piece = {greater(range.start, r->item[i].start),
					    lesser_stop(range.stop, r->item[i].end)};

		if (range.stop.len && bytes_cmp(piece.start, range.stop) >= 0)
			return;
		add_piece(c, piece, i, new_stream);
		new_stream = false;
	}
}

static void make_spans(struct live_scan *s, const struct span_cutter *c)
{
	s->spans = mem_calloc(s->nspans + 1, sizeof *s->spans);
	for (size_t i = 0; i < s->nspans; i++) {
		size_t end = i + 1 < s->nspans ? c->first[i + 1] : c->npieces;
		struct live_span *p = &s->spans[i];

		p->ranges = s->pieces + c->first[i];
		p->nranges = end - c->first[i];
		p->last_fetched = &p->first;
		const struct query_range *last = &p->ranges[p->nranges - 1];
		struct bytes at = s->q.reversed ? last->stop : p->ranges[0].start;
		p->at_end = s->q.reversed && at.len == 0;
		buf_append(&p->at, at.ptr, at.len);
	}
}

static void turn_round(struct live_stream *t)
{
	for (size_t i = 0; i < t->nspans / 2; i++) {
		struct live_span *a = &t->spans[i], *b = &t->spans[t->nspans - 1 - i], moved = *a;

		*a = *b;
		*b = moved;
	}
	for (size_t i = 0; i < t->nspans; i++)
		t->spans[i].last_fetched = &t->spans[i].first;
}

void spans_cut(struct live_scan *s)
{
	struct span_cutter c = {.s = s};
	const struct query *q = &s->q;
	/* for each stream, the index after its last span */
	size_t *end = mem_calloc(q->nranges + 1, sizeof *end);

	for (size_t i = 0; i < q->nranges; i++) {
		bool starts = i == 0 || (q->salt_bytes &&
					 !query_same_salt(q, &q->ranges[i - 1], &q->ranges[i]));

		s->nstreams += starts;
		size_t before = s->nstreams > 1 ? end[s->nstreams - 2] : 0;
		cut_range(&c, q->ranges[i], s->nspans == before);
		end[s->nstreams - 1] = s->nspans;
	}
	make_spans(s, &c);
	s->streams = mem_calloc(s->nstreams + 1, sizeof *s->streams);
	s->heap.items = mem_calloc(s->nstreams + 1, sizeof(struct live_stream *));
	for (size_t i = 0; i < s->nstreams; i++) {
		size_t from = i ? end[i - 1] : 0;

		s->streams[i] =
			(struct live_stream){.spans = s->spans + from, .nspans = end[i] - from};
		if (q->reversed)
			turn_round(&s->streams[i]);
	}
	mem_free(c.first);
	mem_free(end);
}

/* --- the next call --- */

bool spans_limited(const struct live_scan *s)
{
	return s->limited && !s->unfiltered;
}

static bool is_behind(const struct query_range *r, struct bytes row)
{
	return r->stop.len && bytes_cmp(r->stop, row) <= 0;
}

/*
 * Finds the ranges `*i` to `*j`, from `p->at` on, that are in one region. Sets `*rows` to the range
 * from their first row to their last row.
 */
static bool find_forward(struct live_scan *s, const struct live_span *p, size_t *i, size_t *j,
			 const struct hbase_region **in, struct query_range *rows)
{
	struct bytes at = buf_bytes(&p->at);

	for (*i = 0; *i < p->nranges && is_behind(&p->ranges[*i], at); ++*i)
		;
	if (*i == p->nranges)
		return false;
	rows->start = greater(at, p->ranges[*i].start);
	*in = &s->map.item[region_at(&s->map, rows->start, false)];
	for (*j = *i; *j + 1 < p->nranges &&
		      !((*in)->end.len && bytes_cmp(p->ranges[*j + 1].start, (*in)->end) >= 0);
	     ++*j)
		;
	rows->stop = lesser_stop(p->ranges[*j].stop, (*in)->end);
	return true;
}

/* Does the same as find_forward for the rows before `p->at`. */
static bool find_reversed(struct live_scan *s, const struct live_span *p, size_t *i, size_t *j,
			  const struct hbase_region **in, struct query_range *rows)
{
	struct bytes at = p->at_end ? (struct bytes){0} : buf_bytes(&p->at);
	size_t n = p->nranges;

	while (n && !p->at_end && bytes_cmp(p->ranges[n - 1].start, at) >= 0)
		n--;
	if (n == 0)
		return false;
	*j = n - 1;
	rows->stop = lesser_stop(at, p->ranges[*j].stop);
	*in = rows->stop.len ? &s->map.item[region_at(&s->map, rows->stop, true)]
			     : &s->map.item[s->map.count - 1];
	for (*i = *j; *i && bytes_cmp(p->ranges[*i - 1].stop, (*in)->start) > 0; --*i)
		;
	rows->start = greater((*in)->start, p->ranges[*i].start);
	return true;
}

static void copy(struct buf *to, struct bytes b)
{
	to->len = 0;
	buf_append(to, b.ptr, b.len);
}

static bool ends_in_zero(struct bytes b)
{
	return b.len && b.ptr[b.len - 1] == 0;
}

/*
 * Puts the range into the request. The rows before the key "x 00" are the rows up to "x", so the
 * request gets "x" as an inclusive stop. A request for one row is then a get, which uses Bloom
 * filters. No bound exceeds the length of a row key.
 */
static void put_rows(struct hbase_scan *scan, struct query_range rows, bool reversed)
{
	bool up_to = ends_in_zero(rows.stop), above = rows.start.len > CELL_ROW_MAX;

	rows.stop.len -= up_to;
	rows.start.len -= above;
	scan->reversed = reversed;
	scan->start = reversed ? rows.stop : rows.start;
	scan->stop = reversed ? rows.start : rows.stop;
	scan->start_exclusive = reversed ? rows.stop.len && !up_to : above;
	scan->stop_inclusive = reversed ? rows.start.len && !above : up_to;
}

static void put_filters(struct live_scan *s, struct span_call *c, const struct query_range *ranges,
			size_t n)
{
	size_t members = 0;

	if (n > 1) {
		c->items = mem_calloc(n, sizeof *c->items);
		for (size_t i = 0; i < n; i++)
			c->items[i] = (struct filter_range){.start = ranges[i].start,
							    .stop = ranges[i].stop,
							    .start_inclusive = true};
		c->ranges = (struct filter){.type = FILTER_MULTI_ROW_RANGE,
					    .ranges = c->items,
					    .nranges = n};
		c->members[members++] = &c->ranges;
	}
	if (s->o.filter)
		c->members[members++] = (struct filter *)(uintptr_t)s->o.filter;
	if (s->columns_only)
		c->members[members++] = s->columns_only;
	if (s->page.limit)
		c->members[members++] = &s->page;
	if (s->o.no_values)
		c->members[members++] = &s->keys;
	c->list = (struct filter){.type = FILTER_LIST_AND, .of = c->members, .nof = members};
	if (members && !s->unfiltered)
		c->scan.filter = members == 1 ? c->members[0] : &c->list;
}

int span_place(struct live_scan *s, struct live_span *p, struct span_call *out)
{
	const struct hbase_region *in;
	struct query_range rows;
	size_t i, j;

	*out = (struct span_call){.scan = {.columns = s->columns,
					   .ncolumns = s->ncolumns,
					   .versions = s->versions,
					   .from_ms = s->q.from_ms,
					   .to_ms = s->q.to_ms,
					   .raw = s->q.raw,
					   .leave_cache = !s->q.get && !s->q.limit,
					   .rows_a_call = INT32_MAX,
					   .bytes_a_call = s->bytes_a_call}};
	if (p->finished)
		return RC_END;
	pthread_mutex_lock(&s->map_lock);
	bool any = (s->q.reversed ? find_reversed : find_forward)(s, p, &i, &j, &in, &rows);
	if (any) {
		copy(&p->name, in->name);
		copy(&p->start, in->start);
		copy(&p->end, in->end);
		p->place = in->place;
		p->map_age = s->map_age;
		/*
		 * copy the bound, because it may point into the region, whose memory ends with the
		 * map
		 */
		if (rows.stop.ptr == in->end.ptr)
			rows.stop = buf_bytes(&p->end);
		if (rows.start.ptr == in->start.ptr)
			rows.start = buf_bytes(&p->start);
	}
	pthread_mutex_unlock(&s->map_lock);
	p->finished = !any;
	if (!any)
		return RC_END;
	out->region = (struct hbase_region){.start = buf_bytes(&p->start),
					    .end = buf_bytes(&p->end),
					    .name = buf_bytes(&p->name),
					    .place = p->place};
	put_rows(&out->scan, rows, s->q.reversed);
	put_filters(s, out, p->ranges + i, j - i + 1);
	if (spans_limited(s))
		out->scan.limit = s->q.limit - p->rows;
	return RC_OK;
}

void span_call_release(struct span_call *c)
{
	mem_free(c->items);
}

void span_leave_region(const struct live_scan *s, struct live_span *p)
{
	const struct buf *behind = s->q.reversed ? &p->start : &p->end;

	p->attempt = (struct hbase_attempts){0};
	p->has_last = false;
	p->at_end = false;
	p->finished = behind->len == 0;
	copy(&p->at, buf_bytes(behind));
}
