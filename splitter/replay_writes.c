/*
 * replay_writes.c - count the events of each region in windows of time
 *
 * A table can be even over a day and still have all writes in one region at a time. The cause is a
 * row key with a rising value first. Only the order of arrival shows that, so the replay counts
 * windows.
 */
#include <math.h>
#include <stdlib.h>

#include "mem.h"
#include "plan.h"

#define WRITTEN_SHARE 0.01 /* with this share of a window, a region counts as busy */

static uint64_t window_of(const struct replay_options *o, size_t n)
{
	uint64_t window = o->window > REPLAY_WINDOW_LEAST ? o->window : REPLAY_WINDOW_LEAST;

	if (window > n / 5)
		window = n / 5;
	if (window < n / REPLAY_WINDOWS_MOST + 1)
		window = n / REPLAY_WINDOWS_MOST + 1;
	return window;
}

static int compare_shares(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Set mean and p99 of the shares of all windows. Sorts the shares. */
static void share_set(struct replay_share *s, double *share, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += share[i];
	qsort(share, n, sizeof *share, compare_shares);
	s->mean = sum / (double)n;
	s->p99 = share[(size_t)ceil(0.99 * (double)n) - 1];
}

static size_t largest(const uint64_t *count, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (count[i] > count[best])
			best = i;
	return best;
}

/* The shares of one window: the busiest region and server. Adds to the sums of all windows. */
struct window_sums {
	uint64_t *servers, *all_servers, *all_regions;
	double written;
};

static void window_take(const struct write_replay *r, const uint32_t *count, struct window_sums *s,
			double *region, double *server)
{
	uint64_t total = 0, most = 0;

	memset(s->servers, 0, r->servers * sizeof *s->servers);
	for (size_t i = 0; i < r->regions; i++) {
		total += count[i];
		most = count[i] > most ? count[i] : most;
		s->servers[replay_server(r, i)] += count[i];
		s->all_regions[i] += count[i];
	}
	for (size_t i = 0; i < r->regions; i++)
		s->written += count[i] && count[i] >= WRITTEN_SHARE * (double)total;
	for (size_t i = 0; i < r->servers; i++)
		s->all_servers[i] += s->servers[i];
	double all = total ? (double)total : 1;
	*region = (double)most / all;
	*server = (double)s->servers[largest(s->servers, r->servers)] / all;
}

static double growth(const struct write_replay *r, const uint64_t *added, const uint64_t *before)
{
	uint64_t sum = 0, most = 0;

	for (size_t i = 0; i < r->regions; i++) {
		uint64_t rows = added[i] + (before ? before[i] : 0);

		sum += rows;
		most = rows > most ? rows : most;
	}
	return sum ? (double)most * (double)r->regions / (double)sum : 0;
}

void replay_summarize(struct write_replay *r, const uint64_t *before)
{
	struct window_sums s = {mem_calloc(r->servers, sizeof *s.servers),
				mem_calloc(r->servers, sizeof *s.all_servers),
				mem_calloc(r->regions, sizeof *s.all_regions), 0};
	double *region = mem_calloc(r->windows, sizeof *region);
	double *server = mem_calloc(r->windows, sizeof *server);

	for (size_t w = 0; w < r->windows; w++)
		window_take(r, r->counts + w * r->regions, &s, &region[w], &server[w]);
	share_set(&r->region, region, r->windows);
	share_set(&r->server, server, r->windows);
	r->region.which = largest(s.all_regions, r->regions);
	r->server.which = largest(s.all_servers, r->servers);
	r->written = s.written / (double)r->windows;
	r->grown = growth(r, s.all_regions, before);
	r->noise = 1.4 * sqrt(r->server.mean / (double)r->window);
	for (size_t i = 0; i < r->servers; i++)
		r->server_share[i] = (double)s.all_servers[i] / (double)r->events;
	mem_free(region);
	mem_free(server);
	mem_free(s.servers);
	mem_free(s.all_servers);
	mem_free(s.all_regions);
}

void replay_make(struct write_replay *r, const uint32_t *region, size_t n,
		 const struct replay_options *o)
{
	*r = (struct write_replay){.regions = o->regions, .servers = o->servers, .events = n};
	r->server_share = mem_calloc(r->servers, sizeof *r->server_share);
	if (!n)
		return;
	r->window = window_of(o, n);
	/* a short rest joins the last window, because its shares would be noise */
	r->windows = n / r->window;
	r->counts = mem_calloc(r->windows * r->regions, sizeof *r->counts);
	for (size_t i = 0; i < n; i++) {
		size_t w = i / r->window;

		w = w < r->windows ? w : r->windows - 1;
		r->counts[w * r->regions + region[i]]++;
	}
	replay_summarize(r, o->before);
}

void replay_release(struct write_replay *r)
{
	mem_free(r->counts);
	mem_free(r->server_share);
	mem_free(r->server_of);
	*r = (struct write_replay){0};
}
