/* cost.c - ranges, rows, bytes and blocks of a question with a row key */
#include "cost.h"

#define ENTITY_LEAST  200 /* a field with more values than this is an entity */
#define REVERSED_SEEK 2	  /* a reversed scan costs so many times the seeks and the rows */
#define REVERSED_ROW  3

/* --- which parts of the key the question uses --- */

struct used_parts {
	bool entity, span, day;
	bool all;	/* the question binds all parts */
	uint32_t width; /* bytes of the bound parts; 0: they vary */
	bool id;	/* the question names one event, however many there are */
	bool time_next; /* the rows of a range are in the order of the time of `latest` */
	bool falling;	/* the newest row comes first */
};

static bool is_equal(const struct ask *k, size_t field)
{
	for (size_t i = 0; i < k->nequals; i++)
		if (k->equal[i] == field)
			return true;
	for (size_t i = 0; i < k->nfixed; i++)
		if (k->fixed[i] == field)
			return true;
	return false;
}

static bool all_equal(const struct ask *k, const struct key_part *p)
{
	for (size_t i = 0; i < p->nof; i++)
		if (!is_equal(k, p->of[i]))
			return false;
	return p->nof > 0;
}

/* Return true if the walk over the parts continues after this part. */
static bool use_part(struct used_parts *u, const struct ask *k, const struct key_part *p,
		     const struct events *e)
{
	const struct encoding *as = &encodings[p->as];

	switch (p->kind) {
	case PART_CONST:
	case PART_SALT: return true;
	case PART_HASH: return all_equal(k, p);
	case PART_KEY: return false;
	case PART_FIELD: break;
	}
	if (is_equal(k, p->field)) {
		u->id = u->id || e->column[p->field].distinct == e->n;
		u->entity = u->entity || e->column[p->field].distinct > ENTITY_LEAST;
		return true;
	}
	u->time_next = k->latest && p->field == k->time && !u->day && as->order != ORDER_NONE;
	u->falling = as->order == ORDER_FALLING;
	if (p->field == k->range || p->field == k->starts)
		u->span = true;
	if (as->kind == LAY_DATE && p->field == k->range) {
		u->day = true;
		return true;
	}
	return false;
}

static struct used_parts parts_used(const struct ask *k, const struct keyed *keyed)
{
	const struct job_table *t = keyed->table.table;
	struct used_parts u = {0};
	size_t i = 0;

	while (i < t->nrowkey && use_part(&u, k, &t->rowkey[i], keyed->e))
		i++;
	u.all = i == t->nrowkey;
	for (size_t p = 0; p < i; p++) {
		const struct key_part *part = &t->rowkey[p];

		if (!key_part_bytes(part)) {
			u.width = 0;
			break;
		}
		u.width += key_part_bytes(part) + (part->terminator != NO_TERMINATOR);
	}
	return u;
}

/* Return how many times the rows of a range grow with the wanted load. */
static double growth_of(const struct used_parts *u, bool early, double burst,
			const struct wanted_load *l)
{
	double both = l->faster * l->longer;

	if (early || u->id)
		return 1;
	if (u->entity && l->grow_time)
		return u->span ? l->faster : both;
	if (u->entity)
		return u->span ? 1 : l->longer;
	if (!u->span)
		return both;
	/* a burst of the events is at least as busy as the wanted rate is on average */
	return l->faster > 1 && l->faster < burst ? 1
	       : l->faster > 1			  ? l->faster / burst
						  : l->faster;
}

/*
 * Return how many times the rows of a range grow, if its events grow `grow` times. More events of an
 * entity are in the same wide row.
 */
static double row_growth(const struct used_parts *u, const struct keyed *k, double grow,
			 const struct wanted_load *l)
{
	if (!k->candidate->joined)
		return grow;
	return u->all || l->grow_time ? 1 : grow / l->longer;
}

/* Return the figure times `by`, but at most `most`. */
static double grown(double figure, double by, double most)
{
	return figure * by < most ? figure * by : most > figure ? most : figure;
}

void returned_grow(struct design_figure *f, const struct ask *k, const struct draws *d,
		   const struct events *e, const struct wanted_load *load)
{
	struct used_parts u = {.span = k->range != SIZE_MAX || k->starts != SIZE_MAX};

	for (size_t i = 0; i < k->nequals + k->nfixed; i++) {
		size_t field = i < k->nequals ? k->equal[i] : k->fixed[i - k->nequals];
		uint64_t distinct = e->column[field].distinct;

		u.id = u.id || distinct == e->n;
		u.entity = u.entity || distinct > ENTITY_LEAST;
	}
	double by = growth_of(&u, false, d->burst, load);
	double most = k->latest ? (double)k->latest : load->rows;

	if (k->latest && by < 1)
		by = 1; /* the range has more rows than `latest` returns */
	f->median = grown(f->median, by, most);
	f->p99 = grown(f->p99, by, most);
	f->most = grown(f->most, by, most);
	f->mean = grown(f->mean, by, most);
}

/* --- one draw --- */

struct measured_draw {
	uint64_t ranges, rows, bytes;
	uint64_t inside; /* rows of the whole ranges, without the limit of `latest` */
	bool exact, whole, gets;
	bool fixed; /* start and stop of each range share the bound parts, as HBase's filter needs */
};

struct cost_maker {
	const struct ask *k;
	const struct draws *d;
	const struct keyed *keyed;
	const struct written_regions *w;
	const struct wanted_load *load;
	struct used_parts used;
	struct group_places places;
	double *region; /* seconds of each region, at the size of the sample */
};

/*
 * Shorten the places [*lo, *hi) to those that `latest` reads. `latest` stops after N rows, from the
 * newest end.
 */
static void stop_early(struct cost_maker *m, size_t draw, bool exact, size_t *lo, size_t *hi)
{
	uint64_t latest = m->k->latest;
	size_t n = *hi - *lo, read;

	if (!latest || !m->used.time_next)
		return;
	if (exact && !m->keyed->hidden)
		read = n < latest ? n : latest;
	else
		read = latest_read(m->d, draw, m->keyed, &m->places, latest, m->used.falling, *lo,
				   *hi);
	if (m->used.falling)
		*hi = *lo + read;
	else
		*lo = *hi - read;
}

static size_t region_at(const struct cost_maker *m, size_t place)
{
	size_t lo = 0, hi = m->w->splits.count;

	while (lo < hi) {
		size_t mid = (lo + hi + 1) / 2;

		if (m->w->place[mid] <= place)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

/* Add the seconds of rows [lo, hi) to their regions. */
static void add_to_regions(struct cost_maker *m, size_t lo, size_t hi)
{
	const struct design_constants *s = &m->load->constants;
	size_t r = region_at(m, lo);

	m->region[r] += s->seek_s;
	for (; r <= m->w->splits.count && lo < hi; r++) {
		size_t end = m->w->place[r + 1] < hi ? m->w->place[r + 1] : hi;
		uint64_t bytes = m->keyed->bytes_below[end] - m->keyed->bytes_below[lo];

		if (end <= lo)
			continue;
		m->region[r] += (double)bytes / 65536 * s->block_s + (double)(end - lo) * s->row_s;
		lo = end;
	}
}

/* Return true if start and stop of the range have the same first bytes. */
static bool shares(const struct key_range *r, size_t bytes)
{
	return bytes && r->start.len >= bytes && r->stop.len >= bytes &&
	       memcmp(r->start.ptr, r->stop.ptr, bytes) == 0;
}

static void measure_range(struct cost_maker *m, struct measured_draw *out, size_t draw,
			  const struct key_range *r)
{
	const struct keyed *k = m->keyed;
	size_t lo = keyed_below(k, r->start);
	size_t hi = r->stop.len ? keyed_below(k, r->stop) : k->e->n;

	out->inside += k->rows_below[hi] - k->rows_below[lo];
	stop_early(m, draw, out->exact, &lo, &hi);
	out->rows += k->rows_below[hi] - k->rows_below[lo];
	out->bytes += k->bytes_below[hi] - k->bytes_below[lo];
	out->gets = out->gets && key_range_is_row(r);
	out->fixed = out->fixed && shares(r, m->used.width);
	add_to_regions(m, lo, hi);
}

static void measure_whole(struct cost_maker *m, struct measured_draw *out)
{
	const struct keyed *k = m->keyed;
	size_t n = k->e->n;

	out->ranges = m->w->splits.count + 1;
	out->rows = k->rows_below[n];
	out->inside = out->rows;
	out->bytes = k->bytes_below[n];
	out->gets = out->fixed = false;
	add_to_regions(m, 0, n);
}

static int measure_draw(struct cost_maker *m, struct measured_draw *out, size_t draw,
			struct arena *a, struct error *err)
{
	const struct drawn *q = &m->d->drawn[draw];
	struct key_ranges r;

	*out = (struct measured_draw){.gets = true, .fixed = true};
	int rc = key_ranges(&r, &m->keyed->table, m->d->forms, q->q.root ? &q->q : NULL, a, err);
	if (rc)
		return rc;
	out->exact = r.exact;
	out->whole = r.whole;
	if (r.whole && !(m->k->latest && m->used.time_next)) {
		measure_whole(m, out);
		return RC_OK;
	}
	out->ranges = r.n;
	for (size_t i = 0; i < r.n; i++)
		measure_range(m, out, draw, &r.range[i]);
	return RC_OK;
}

/* --- all draws --- */

struct draw_figures {
	double ranges[ASK_DRAWS + 1], rows[ASK_DRAWS + 1], bytes[ASK_DRAWS + 1],
		blocks[ASK_DRAWS + 1], seconds[ASK_DRAWS + 1], returned[ASK_DRAWS + 1];
};

double block_bytes_of(const struct job_table *t)
{
	uint32_t bytes = t->schema.nfamilies ? t->schema.families[0].block_bytes : 0;

	return bytes ? bytes : 65536;
}

static void add_draw(const struct cost_maker *m, const struct measured_draw *r, double grow,
		     bool reversed, struct draw_figures *f, size_t i)
{
	const struct design_constants *s = &m->load->constants;
	double rows = (double)r->rows * row_growth(&m->used, m->keyed, grow, m->load),
	       bytes = (double)r->bytes * grow;
	double most = m->load->rows / (double)m->keyed->e->n * (double)r->rows;

	/* no range has more rows than the table */
	if (r->rows && rows > m->load->rows && most > 0) {
		bytes *= m->load->rows / rows;
		rows = m->load->rows;
	}
	uint64_t latest = m->k->latest;
	f->returned[i] = (double)(latest && latest < r->inside ? latest : r->inside);
	f->ranges[i] = (double)r->ranges;
	f->rows[i] = rows;
	f->bytes[i] = bytes;
	f->blocks[i] = (double)r->ranges + bytes / block_bytes_of(m->keyed->table.table);
	f->seconds[i] = (double)r->ranges * s->seek_s * (reversed ? REVERSED_SEEK : 1) +
			bytes / 65536 * s->block_s +
			rows * s->row_s * (reversed ? REVERSED_ROW : 1);
}

static void note_plan(struct cost *c, const struct measured_draw *r, bool scans)
{
	enum design_plan plan = r->whole	    ? DESIGN_FULL
				: r->gets && !scans ? DESIGN_GET
						    : DESIGN_RANGE;

	c->plan = plan > c->plan ? plan : c->plan;
	c->filtered = c->filtered || !r->exact;
}

static void set_regions(struct cost *c, struct cost_maker *m)
{
	double sum = 0;

	for (size_t i = 0; i <= m->w->splits.count; i++)
		sum += m->region[i];
	for (size_t i = 0; sum > 0 && i <= m->w->splits.count; i++)
		m->region[i] /= sum;
	c->region = m->region;
}

static int measure_all(struct cost *c, struct cost_maker *m, struct draw_figures *f,
		       struct error *err)
{
	bool early = m->k->latest && m->used.time_next;
	double grow = growth_of(&m->used, early, m->d->burst, m->load);
	struct arena a = {0};
	int rc = RC_OK;

	bool fixed = m->d->n > 0;

	c->early = early;
	c->reversed = early && !m->used.falling;
	for (size_t i = 0; rc == RC_OK && i < m->d->n; i++) {
		struct measured_draw r;

		rc = measure_draw(m, &r, i, &a, err);
		arena_release(&a);
		a = (struct arena){0};
		if (rc)
			break;
		double all = m->load->faster * m->load->longer;
		add_draw(m, &r, r.whole && !early ? all : grow, c->reversed, f, i);
		fixed = fixed && r.fixed;
		note_plan(c, &r, m->k->latest && !m->keyed->candidate->joined);
	}
	c->fixed = fixed ? m->used.width : 0;
	return rc;
}

int cost_measure(struct cost *c, const struct ask *k, const struct draws *d,
		 const struct keyed *keyed, const struct written_regions *w,
		 const struct wanted_load *load, struct arena *a, struct error *err)
{
	struct cost_maker m = {.k = k,
			       .d = d,
			       .keyed = keyed,
			       .w = w,
			       .load = load,
			       .used = parts_used(k, keyed),
			       .region = arena_alloc(a, (w->splits.count + 2) * sizeof(double))};
	struct draw_figures *f = mem_alloc(sizeof *f);

	*c = (struct cost){0};
	int rc = measure_all(c, &m, f, err);
	if (rc == RC_OK) {
		c->counted = !c->filtered && !keyed->hidden && !keyed->candidate->joined;
		c->returned = figure_of(f->returned, d->n);
		c->ranges = figure_of(f->ranges, d->n);
		c->rows = figure_of(f->rows, d->n);
		c->bytes = figure_of(f->bytes, d->n);
		c->blocks = figure_of(f->blocks, d->n);
		c->seconds = figure_of(f->seconds, d->n);
		c->ndraws = d->n;
		c->draws = arena_dup(a, f->blocks, d->n * sizeof *c->draws);
		set_regions(c, &m);
	}
	mem_free(m.places.place);
	mem_free(f);
	return rc;
}
