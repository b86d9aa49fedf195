/* hotspot.c - replay events against regions, in the order of their arrival */
#include <string.h>

#include "hot_keys.h"
#include "key.h"

#define MINUTE_S    60
#define NEWEST_PART 5	 /* the newest fifth of the events shows whether split points last */
#define CUT_K	    4096 /* keys of the sketch that gives the regions of the older events */

/* Return the largest count, relative to the mean. */
static double over_mean(const uint64_t *count, size_t n)
{
	uint64_t sum = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		sum += count[i];
		most = count[i] > most ? count[i] : most;
	}
	return sum ? (double)most * (double)n / (double)sum : 0;
}

/* Cut the older events into as many regions of equal numbers of events. */
static int cut_older(const struct job_table *t, const struct hot_list *e, size_t n, size_t regions,
		     struct splits *out, struct error *err)
{
	const struct plan_options o = {.rule = {.count = (uint32_t)regions}};
	const struct key_shape shape = key_shape(t);
	struct sample *s = sample_new(CUT_K, 1, &shape);
	struct plan p;

	for (size_t i = 0; i < n; i++)
		sample_add(s, hot_key_at(e, i), 1);
	int rc = plan_make(&p, s, &o, err);
	if (rc == RC_OK)
		rc = splits_copy(out, &p.splits, err);
	plan_release(&p);
	sample_free(s);
	return rc;
}

/* Measure the growth of the largest region while the newest events arrive. */
static int measure_growth(struct hotspot *h, const struct job_table *t, const struct hot_list *e,
			  const struct hotspot_options *o, struct error *err)
{
	size_t n = e->n, older = n - n / NEWEST_PART;
	struct splits s = {0};
	int rc = o->planned ? cut_older(t, e, older, o->splits->count + 1, &s, err)
			    : splits_copy(&s, o->splits, err);
	uint64_t *count = mem_calloc(s.count + 1, sizeof *count);
	double before = 0;

	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		if (i == older)
			before = over_mean(count, s.count + 1);
		count[splits_region(&s, hot_key_at(e, i))]++;
	}
	h->grown = before > 0 ? over_mean(count, s.count + 1) / before : 0;
	mem_free(count);
	splits_release(&s);
	return rc;
}

/* Sum a column of windows, and keep the shares of the busiest regions and of the busiest server. */
static void draw_column(struct hotspot *h, size_t column, uint64_t *servers)
{
	const struct write_replay *r = &h->replay;
	size_t from = column * r->windows / h->columns, to = (column + 1) * r->windows / h->columns;
	uint64_t all = 0, most = 0;

	memset(servers, 0, r->servers * sizeof *servers);
	for (size_t g = 0; g < r->regions; g++) {
		int64_t *band = &h->share[g * h->bands / r->regions * h->columns + column];
		uint64_t sum = 0;

		for (size_t w = from; w < to; w++)
			sum += r->counts[w * r->regions + g];
		all += sum;
		servers[replay_server(r, g)] += sum;
		*band = (int64_t)sum > *band ? (int64_t)sum : *band;
	}
	for (size_t i = 0; i < r->servers; i++)
		most = servers[i] > most ? servers[i] : most;
	for (size_t b = 0; all && b < h->bands; b++)
		h->share[b * h->columns + column] =
			h->share[b * h->columns + column] * HOT_WHOLE / (int64_t)all;
	h->server[column] = all ? (int64_t)(most * HOT_WHOLE / all) : 0;
}

void hotspot_map(struct hotspot *h)
{
	const struct write_replay *r = &h->replay;
	uint64_t *servers = mem_calloc(r->servers, sizeof *servers);

	h->bands = r->regions < HOT_BANDS ? r->regions : HOT_BANDS;
	h->columns = r->windows < HOT_COLUMNS ? r->windows : HOT_COLUMNS;
	h->share = mem_calloc(h->bands * h->columns + 1, sizeof *h->share);
	h->server = mem_calloc(h->columns + 1, sizeof *h->server);
	for (size_t c = 0; c < h->columns; c++)
		draw_column(h, c, servers);
	mem_free(servers);
}

/* Return the events of a second, or 0 if the events have no times. */
static double rate_of(const struct hot_list *all, double writes)
{
	double span = (double)all->newest_ms - (double)all->oldest_ms;

	if (writes > 0)
		return writes;
	return all->n && span > 0 ? (double)all->events * 1000 / span : 0;
}

int hotspot_make(struct hotspot *h, struct hot_keys *a, size_t table,
		 const struct hotspot_options *o, struct error *err)
{
	const struct hot_list *all = hot_keys_sorted(a, table);
	uint32_t *region = mem_alloc((all->n + 1) * sizeof *region);

	*h = (struct hotspot){.every = UINT64_C(1) << all->rarity};
	for (size_t i = 0; i < all->n; i++)
		region[i] = (uint32_t)splits_region(o->splits, hot_key_at(all, i));
	double rate = rate_of(all, o->writes) / (double)h->every;
	double minute = rate * MINUTE_S;
	const struct replay_options replay = {.regions = o->splits->count + 1,
					      .servers = o->servers,
					      .window = minute < 1e15 ? (uint64_t)minute : 0};
	replay_make(&h->replay, region, all->n, &replay);
	h->window_s = rate > 0 ? (double)h->replay.window / rate : 0;
	hotspot_map(h);
	int rc = all->n ? measure_growth(h, &a->job->tables[table], all, o, err) : RC_OK;
	mem_free(region);
	return rc;
}

void hotspot_release(struct hotspot *h)
{
	replay_release(&h->replay);
	mem_free(h->share);
	mem_free(h->server);
	*h = (struct hotspot){0};
}
