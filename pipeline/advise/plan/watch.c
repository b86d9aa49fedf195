/*
 * watch.c - count the requests of a live table's regions in windows of time
 *
 * HBase counts from the opening of a region. The counters restart if the region moves, or if its
 * server restarts. All requests since then are in the newest window.
 */
#include <stdlib.h>
#include <string.h>

#include "hbase.h"
#include "planning.h"

struct watch *watch_new(const char *table, struct key_table *keys)
{
	struct watch *w = mem_calloc(1, sizeof *w);

	w->table = table;
	w->keys = keys;
	return w;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	mem_free(w->counts[WATCH_READS]);
	mem_free(w->counts[WATCH_WRITES]);
	arena_release(&w->arena);
	mem_free(w);
}

/* --- one reading --- */

/* The regions and servers of a reading. All its memory is in `arena`. */
struct watch_reading {
	struct watched_region *regions;
	size_t n;
	const char **servers;
	size_t nservers;
	struct arena arena;
};

static size_t server_index(struct watch_reading *to, const struct hbase_place *at)
{
	const char *name = at->host[0] ? arena_format(&to->arena, "%s:%u", at->host, at->port) : "";
	size_t i = 0;

	while (i < to->nservers && strcmp(to->servers[i], name) != 0)
		i++;
	if (i == to->nservers) {
		to->servers = arena_grow(&to->arena, to->servers, i, sizeof *to->servers);
		to->servers[to->nservers++] = name;
	}
	return i;
}

static bool same_place(const struct hbase_place *a, const struct hbase_place *b)
{
	return a->port == b->port && strcmp(a->host, b->host) == 0;
}

/*
 * Find the report about a region. After a move, the old server's last report can still be there, so
 * prefer the report of the server in hbase:meta.
 */
static const struct hbase_store_files *find_report(const struct hbase_status *s,
						   const struct hbase_region *r)
{
	const struct hbase_store_files *any = hbase_status_stores(s, r->name);
	const struct hbase_store_files *end = s->stores + s->nstores;

	if (!any)
		return NULL;
	while (any > s->stores && bytes_cmp(any[-1].region, r->name) == 0)
		any--;
	for (const struct hbase_store_files *f = any; f < end && bytes_cmp(f->region, r->name) == 0;
	     f++)
		if (same_place(&s->servers[f->server].place, &r->place))
			return f;
	return any;
}

static void read_regions(struct watch_reading *to, const struct hbase_regions *r,
			 const struct hbase_status *s)
{
	struct arena *a = &to->arena;

	to->n = r->count;
	to->regions = arena_alloc(a, (r->count + 1) * sizeof *to->regions);
	for (size_t i = 0; i < r->count; i++) {
		const struct hbase_region *one = &r->item[i];
		const struct hbase_store_files *f = find_report(s, one);
		struct watched_region *w = &to->regions[i];

		*w = (struct watched_region){.start = arena_bytes(a, one->start),
					     .end = arena_bytes(a, one->end),
					     .name = arena_bytes(a, one->name),
					     .server = server_index(to, &one->place)};
		if (!f)
			continue;
		const struct hbase_server *by = &s->servers[f->server];
		w->known = true;
		w->start_code = by->start_code;
		w->reporter = arena_bytes(a, bytes_str(arena_format(a, "%s:%u", by->place.host,
								    by->place.port)));
		w->seen[WATCH_READS] = f->reads;
		w->seen[WATCH_WRITES] = f->writes;
		w->mib = f->mib;
	}
}

/* --- the regions of the last reading --- */

static int by_name(const void *a, const void *b)
{
	return bytes_cmp((*(const struct watched_region *const *)a)->name,
			 (*(const struct watched_region *const *)b)->name);
}

/* Return the regions of the last reading, sorted by name. */
static const struct watched_region **sort_names(const struct watch *w)
{
	const struct watched_region **list = mem_alloc((w->nregions + 1) * sizeof(void *));

	for (size_t i = 0; i < w->nregions; i++)
		list[i] = &w->regions[i];
	qsort(list, w->nregions, sizeof *list, by_name);
	return list;
}

static bool same_opening(const struct watched_region *a, const struct watched_region *b)
{
	return a->start_code == b->start_code && bytes_cmp(a->reporter, b->reporter) == 0 &&
	       a->seen[WATCH_READS] >= b->seen[WATCH_READS] &&
	       a->seen[WATCH_WRITES] >= b->seen[WATCH_WRITES];
}

/* Keep the counters of a region that no server reports now. */
static void keep_counters(struct watch_reading *to, struct watched_region *r,
			  const struct watched_region *was)
{
	r->known = was->known;
	r->start_code = was->start_code;
	r->reporter = arena_bytes(&to->arena, was->reporter);
	memcpy(r->seen, was->seen, sizeof r->seen);
	r->mib = was->mib;
}

/* Count the requests of a region since the last reading. `was` is NULL for a new region. */
static void count_requests(struct watch *w, struct watch_reading *to, struct watched_region *r,
			   const struct watched_region *was)
{
	bool restarted = !was;

	r->fresh = !was || was->fresh;
	if (was && !r->known)
		keep_counters(to, r, was);
	else if (was && was->known && !same_opening(r, was))
		restarted = true;
	w->restarted += was && restarted;
	w->cut += !was;
	if (was && strcmp(to->servers[r->server], w->servers[was->server]) != 0)
		w->moved++;
	for (int k = 0; k < WATCH_KINDS && r->known; k++) {
		bool begins = was && !was->known && !was->fresh;

		r->last[k] = begins ? 0 : restarted ? r->seen[k] : r->seen[k] - was->seen[k];
	}
}

static void compare_readings(struct watch *w, struct watch_reading *to)
{
	const struct watched_region **old = sort_names(w);

	for (size_t i = 0; i < to->n; i++) {
		const struct watched_region *key = &to->regions[i];
		const struct watched_region **was =
			bsearch(&key, old, w->nregions, sizeof *old, by_name);

		count_requests(w, to, &to->regions[i], was ? *was : NULL);
	}
	mem_free(old);
}

/* --- windows --- */

static bool before_end(struct bytes key, struct bytes end)
{
	return !end.len || bytes_cmp(key, end) < 0;
}

/* Divide the requests of an old region between the regions `from` up to `to`. */
static void divide_count(uint64_t *counts, uint64_t count, size_t from, size_t to)
{
	size_t n = to - from;

	for (size_t i = from; i < to; i++)
		counts[i] += count / n + (i - from < count % n);
}

/* Give the windows of the last regions to the regions of the new reading. */
static void map_windows(struct watch *w, const struct watch_reading *to)
{
	size_t from = 0;
	uint64_t *moved[WATCH_KINDS];

	for (int k = 0; k < WATCH_KINDS; k++)
		moved[k] = mem_calloc((w->nwindows + 1) * to->n + 1, sizeof **moved);
	for (size_t g = 0; g < w->nregions; g++) {
		const struct watched_region *old = &w->regions[g];

		while (from + 1 < to->n && bytes_cmp(to->regions[from + 1].start, old->start) <= 0)
			from++;
		size_t end = from + 1;
		while (end < to->n && before_end(to->regions[end].start, old->end))
			end++;
		for (size_t t = 0; t < w->nwindows; t++)
			for (int k = 0; k < WATCH_KINDS; k++)
				divide_count(moved[k] + t * to->n,
					     w->counts[k][t * w->nregions + g], from, end);
	}
	for (int k = 0; k < WATCH_KINDS; k++) {
		mem_free(w->counts[k]);
		w->counts[k] = moved[k];
	}
}

/* Sum pairs of windows, to make room for new windows. */
static void join_windows(struct watch *w)
{
	size_t n = w->nregions;

	w->nwindows /= 2;
	for (int k = 0; k < WATCH_KINDS; k++) {
		uint64_t *c = w->counts[k];

		for (size_t t = 0; t < w->nwindows; t++)
			for (size_t g = 0; g < n; g++)
				c[t * n + g] = c[2 * t * n + g] + c[(2 * t + 1) * n + g];
		memset(c + w->nwindows * n, 0, w->nwindows * n * sizeof *c);
	}
}

static void sum_regions(struct watch *w)
{
	for (size_t g = 0; g < w->nregions; g++) {
		w->regions[g].requests = 0;
		for (size_t t = 0; t < w->nwindows; t++)
			for (int k = 0; k < WATCH_KINDS; k++)
				w->regions[g].requests += w->counts[k][t * w->nregions + g];
	}
}

/* Append the window that ends with the newest reading. */
static void add_window(struct watch *w)
{
	if (w->nwindows == WATCH_WINDOWS)
		join_windows(w);
	for (int k = 0; k < WATCH_KINDS; k++) {
		w->total[k] = 0;
		for (size_t g = 0; g < w->nregions; g++) {
			w->counts[k][w->nwindows * w->nregions + g] = w->regions[g].last[k];
			w->total[k] += w->regions[g].last[k];
		}
		w->all[k] += w->total[k];
	}
	w->nwindows++;
	sum_regions(w);
}

void watch_take(struct watch *w, const struct hbase_regions *r, const struct hbase_status *s,
		int64_t now_ms)
{
	bool first = !w->readings++;
	struct watch_reading to = {0};

	read_regions(&to, r, s);
	if (!first)
		compare_readings(w, &to);
	map_windows(w, &to);
	arena_release(&w->arena);
	w->regions = to.regions;
	w->nregions = to.n;
	w->servers = to.servers;
	w->nservers = to.nservers;
	w->arena = to.arena;
	if (first)
		w->since_ms = now_ms;
	w->window_s = first ? 0 : (double)(now_ms - w->taken_ms) / 1000;
	w->taken_ms = now_ms;
	w->hot = (struct watch_hot){.name = ""};
	if (!first)
		add_window(w);
}

/* --- the heat map --- */

static uint64_t largest_count(const uint64_t *counts, size_t n)
{
	uint64_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = counts[i] > most ? counts[i] : most;
	return most;
}

void watch_hotspot(const struct watch *w, enum watch_kind kind, struct hotspot *out)
{
	size_t cells = w->nwindows * w->nregions;
	uint64_t scale = largest_count(w->counts[kind], cells) / UINT32_MAX + 1;
	double seconds = (double)(w->taken_ms - w->since_ms) / 1000;

	*out = (struct hotspot){.every = scale, .grown = 1};
	struct write_replay *r = &out->replay;
	*r = (struct write_replay){.regions = w->nregions,
				   .servers = w->nservers,
				   .windows = w->nwindows};
	r->server_share = mem_calloc(r->servers + 1, sizeof *r->server_share);
	r->server_of = mem_calloc(r->regions + 1, sizeof *r->server_of);
	r->counts = mem_calloc(cells + 1, sizeof *r->counts);
	for (size_t g = 0; g < w->nregions; g++)
		r->server_of[g] = (uint32_t)w->regions[g].server;
	for (size_t i = 0; i < cells; i++) {
		r->counts[i] = (uint32_t)(w->counts[kind][i] / scale);
		r->events += r->counts[i];
	}
	if (!w->nwindows)
		return;
	r->window = r->events / w->nwindows + 1;
	out->window_s = seconds / (double)w->nwindows;
	replay_summarize(r, NULL);
	hotspot_map(out);
}
