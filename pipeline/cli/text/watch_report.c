/* watch_report.c - reports the requests of a live table's regions over time */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "bar.h"
#include "cli/reports.h"
#include "hbase.h"
#include "planning.h"

#define STRIP	64 /* the most characters of the line's heat */
#define NAME	32
#define FEW_MIB 1024 /* two idle regions of this size together could be one region */

static const char *const kinds[] = {"reads", "writes", NULL};
static const char *const reasons[] = {"none", "only_region", "newest", "entity",
				      "salt", "range",	     "server", NULL};

static struct bytes encoded_of(const struct watch *w, size_t region)
{
	return hbase_encoded_name(w->regions[region].name);
}

/* --- the hot spot --- */

/* Return the server of a region as text. */
static const char *server_text(const struct watch *w, size_t region)
{
	const char *name = w->servers[w->regions[region].server];

	return *name ? name : "no server";
}

void watch_hot_text(struct buf *out, const struct watch *w)
{
	const struct watch_hot *h = &w->hot;
	struct bytes encoded = encoded_of(w, h->region);
	const char *server = server_text(w, h->region);

	if (h->kind == HOT_SERVER)
		buf_printf(out, "hot: server %s gets %.0f%% of the %s, and no region is hot",
			   server, 100 * h->share, kinds[h->of]);
	else
		buf_printf(out, "hot: %s gets %.0f%% of the %s (region %.*s on %s)", h->name,
			   100 * h->share, kinds[h->of], (int)encoded.len,
			   (const char *)encoded.ptr, server);
}

static size_t homeless(const struct watch *w)
{
	size_t n = 0;

	for (size_t g = 0; g < w->nregions; g++)
		n += !*w->servers[w->regions[g].server];
	return n;
}

static void put_shell(struct buf *out, const struct watch *w, const char *verb)
{
	struct bytes encoded = encoded_of(w, w->hot.region);

	buf_printf(out, "echo \"%s '%.*s'\" | hbase shell -n", verb, (int)encoded.len,
		   (const char *)encoded.ptr);
}

static void advise_entity(struct buf *out, const struct watch *w)
{
	const struct watch_hot *h = &w->hot;

	if (h->of == WATCH_READS && h->rest) {
		buf_append_str(out, "split the rows of this value: ");
		put_shell(out, w, "split");
	} else {
		buf_printf(out,
			   "spread the value over several salts, in a new table: {salt: 16, of: "
			   "[%s], fanout: 4} as first part of the row key",
			   h->field);
	}
}

void watch_advice_text(struct buf *out, const struct watch *w)
{
	const struct watch_hot *h = &w->hot;

	switch (h->kind) {
	case HOT_NONE: return;
	case HOT_NEWEST:
		buf_append_str(out, "a split does not last, because the newest rows always go to "
				    "this region. Use another row key: saltmill design FILE --ask "
				    "QUESTION");
		return;
	case HOT_ENTITY: advise_entity(out, w); return;
	case HOT_SALT:
		buf_printf(out, "one value of the salted field is probably hot. Split the salt: ");
		put_shell(out, w, "split");
		if (h->field)
			buf_printf(
				out,
				". If one %s stays hot, use fanout: 4 in the salt of a new table",
				h->field);
		return;
	case HOT_SERVER:
		buf_append_str(out, "move its busiest region to another server: ");
		put_shell(out, w, "move");
		return;
	case HOT_ONLY_REGION:
	case HOT_RANGE:
		buf_append_str(out, "split the region: ");
		put_shell(out, w, "split");
		return;
	}
}

/* --- one window --- */

/* Append the heat of all regions in one line, from the first region to the last one. */
static void put_strip(struct buf *out, const struct watch *w)
{
	size_t n = w->nregions < STRIP ? w->nregions : STRIP;
	uint64_t all = w->total[WATCH_READS] + w->total[WATCH_WRITES];

	buf_append_str(out, "  |");
	for (size_t i = 0; i < n; i++) {
		uint64_t most = 0;

		for (size_t g = i * w->nregions / n; g < (i + 1) * w->nregions / n; g++) {
			const uint64_t *last = w->regions[g].last;
			uint64_t sum = last[WATCH_READS] + last[WATCH_WRITES];

			most = sum > most ? sum : most;
		}
		put_shade(out, all ? hotspot_heat((double)most / (double)all, w->nregions) : 0);
	}
	buf_append_str(out, "|");
	if (homeless(w))
		buf_printf(out, "  %zu on no server", homeless(w));
	buf_put(out, '\n');
}

static double rate_of(const struct watch *w, enum watch_kind k)
{
	return w->window_s > 0 ? (double)w->total[k] / w->window_s : 0;
}

void watch_line_text(struct buf *out, const struct watch *w, int64_t wall_ms)
{
	char when[32], reads[28], writes[28];
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(when, sizeof when, "%H:%M:%SZ", &tm);
	buf_printf(out, "%s  %9s reads/s  %9s writes/s", when,
		   format_count(reads, (uint64_t)round(rate_of(w, WATCH_READS))),
		   format_count(writes, (uint64_t)round(rate_of(w, WATCH_WRITES))));
	put_strip(out, w);
	if (w->hot.kind == HOT_NONE)
		return;
	buf_append_str(out, "  ");
	watch_hot_text(out, w);
	buf_append_str(out, "\n    ");
	watch_advice_text(out, w);
	buf_put(out, '\n');
}

/* --- JSON --- */

struct watch_region_view {
	struct bytes start, end, encoded;
	const char *server;
	uint64_t reads, writes;
};
struct watch_hot_view {
	bool any;
	const char *of, *reason, *name, *server, *advice;
	struct bytes start, end, encoded;
	double share;
};
struct watch_view {
	const char *table;
	int64_t time_ms;
	double seconds;
	uint64_t reads, writes, window;
	size_t moved, restarted, cut;
	struct watch_region_view *regions;
	size_t nregions;
	struct watch_hot_view hot;
};

static const struct form_member region_members[] = {
	{"start", FORM_KEY, IN(watch_region_view, start), "first row key"},
	{"end", FORM_KEY, IN(watch_region_view, end), "first row key after the region"},
	{"region", FORM_BYTES, IN(watch_region_view, encoded), "encoded name"},
	{"server", FORM_TEXT, IN(watch_region_view, server),
	 "host and port; null if the region is on no server", FORM_OR_NULL},
	{"reads", FORM_COUNT, IN(watch_region_view, reads), "read requests in the window"},
	{"writes", FORM_COUNT, IN(watch_region_view, writes), "write requests in the window"},
};
static const struct form region_form = FORM(watch_region_view, region_members);

static const struct form_member hot_members[] = {
	{"of", FORM_TEXT, IN(watch_hot_view, of), "reads or writes"},
	{"reason", FORM_TEXT, IN(watch_hot_view, reason),
	 "only_region, newest (times or rising keys), entity, salt, range or server",
	 .choices = reasons + 1},
	{"name", FORM_TEXT, IN(watch_hot_view, name),
	 "keys of the region, as fields of the job if there is one"},
	{"share", FORM_REAL, IN(watch_hot_view, share),
	 "share of the window's requests of this kind, 0 to 1"},
	{"region", FORM_BYTES, IN(watch_hot_view, encoded),
	 "encoded name; for a server, of its busiest region"},
	{"start", FORM_KEY, IN(watch_hot_view, start), "first row key of the region"},
	{"end", FORM_KEY, IN(watch_hot_view, end), "first row key after the region"},
	{"server", FORM_TEXT, IN(watch_hot_view, server), "server of the region"},
	{"advice", FORM_TEXT, IN(watch_hot_view, advice), "the command or change that helps"},
};
static const struct form hot_form = FORM(watch_hot_view, hot_members);

static const struct form_member members[] = {
	{"table", FORM_TEXT, IN(watch_view, table), "with its namespace, if it has one"},
	{"time", FORM_INT, IN(watch_view, time_ms), "end of the window, in ms since 1970"},
	{"window", FORM_COUNT, IN(watch_view, window), "number of the window, from 1"},
	{"seconds", FORM_REAL, IN(watch_view, seconds), "length of the window"},
	{"reads", FORM_COUNT, IN(watch_view, reads), "read requests of the table in the window"},
	{"writes", FORM_COUNT, IN(watch_view, writes), "write requests of the table in the window"},
	{"regions_made", FORM_SIZE, IN(watch_view, cut),
	 "regions that splits and merges made since the start"},
	{"regions_moved", FORM_SIZE, IN(watch_view, moved), "moves of regions since the start"},
	{"counters_restarted", FORM_SIZE, IN(watch_view, restarted),
	 "counters that restarted since the start, because a region was opened again"},
	{"regions", FORM_LIST, IN(watch_view, regions), "in the order of their keys",
	 ITEMS(watch_view, region_form, nregions)},
	{"hot", FORM_PART, IN(watch_view, hot), "the hot spot, if there is one", FORM_IF_ANY,
	 .items = &hot_form},
};
const struct form watch_form = NAMED_FORM(watch_view, members, "watch", "a line of watch --json");

static const char *server_of(const struct watch *w, size_t region)
{
	const char *name = w->servers[w->regions[region].server];

	return *name ? name : NULL;
}

static struct watch_hot_view view_hot(const struct watch *w, struct arena *a)
{
	const struct watch_hot *h = &w->hot;
	const struct watched_region *r = &w->regions[h->region];
	struct buf advice = {0};

	watch_advice_text(&advice, w);
	struct watch_hot_view v = {.any = true,
				   .of = kinds[h->of],
				   .reason = reasons[h->kind],
				   .name = h->name,
				   .share = h->share,
				   .server = w->servers[r->server],
				   .start = r->start,
				   .end = r->end,
				   .encoded = encoded_of(w, h->region),
				   .advice = arena_strndup(a, advice.ptr, advice.len)};
	buf_release(&advice);
	return v;
}

void watch_line_json(struct buf *out, const struct watch *w, int64_t wall_ms)
{
	struct arena a = {0};
	struct watch_view v = {.table = w->table,
			       .time_ms = wall_ms,
			       .seconds = w->window_s,
			       .reads = w->total[WATCH_READS],
			       .writes = w->total[WATCH_WRITES],
			       .window = w->readings - 1,
			       .moved = w->moved,
			       .restarted = w->restarted,
			       .cut = w->cut,
			       .nregions = w->nregions};

	v.regions = arena_alloc(&a, (w->nregions + 1) * sizeof *v.regions);
	for (size_t g = 0; g < w->nregions; g++) {
		const struct watched_region *r = &w->regions[g];

		v.regions[g] = (struct watch_region_view){.start = r->start,
							  .end = r->end,
							  .encoded = encoded_of(w, g),
							  .server = server_of(w, g),
							  .reads = r->last[WATCH_READS],
							  .writes = r->last[WATCH_WRITES]};
	}
	if (w->hot.kind != HOT_NONE)
		v.hot = view_hot(w, &a);
	form_put(out, &watch_form, &v, FORM_SPACED);
	arena_release(&a);
}

/* --- all windows --- */

const char **watch_names(const struct watch *w, struct arena *a)
{
	const char **names = arena_alloc(a, (w->nregions + 1) * sizeof *names);

	for (size_t g = 0; g < w->nregions; g++) {
		struct buf text = {0};

		watch_name(w, &text, w->regions[g].start);
		names[g] = arena_strndup(a, text.ptr, text.len < NAME ? text.len : NAME);
		buf_release(&text);
	}
	return names;
}

static void put_kind(struct buf *out, const struct watch *w, enum watch_kind k,
		     const char *const *names)
{
	struct hotspot h;
	char count[28];

	watch_hotspot(w, k, &h);
	buf_printf(out, "  %s: %s", kinds[k], format_count(count, w->all[k]));
	if (h.replay.events)
		buf_printf(
			out,
			", busiest server of a window %.1f%%, busiest region %.1f%%, %.1f of %zu "
			"regions busy at a time",
			100 * h.replay.server.mean, 100 * h.replay.region.mean, h.replay.written,
			w->nregions);
	buf_put(out, '\n');
	if (h.replay.events)
		hotspot_map_text(out, &h, names);
	hotspot_release(&h);
}

static bool is_idle(const struct watched_region *r)
{
	return !r->requests && r->known;
}

/* Advise to merge the smallest two idle neighbours. */
static void put_merge(struct buf *out, const struct watch *w)
{
	size_t best = SIZE_MAX, idle = 0;
	uint64_t least = FEW_MIB + 1;

	for (size_t g = 0; g < w->nregions; g++)
		idle += is_idle(&w->regions[g]);
	for (size_t g = 0; g + 1 < w->nregions; g++) {
		const struct watched_region *r = &w->regions[g];

		if (is_idle(r) && is_idle(r + 1) && r->mib + r[1].mib < least) {
			least = r->mib + r[1].mib;
			best = g;
		}
	}
	if (best == SIZE_MAX || w->nregions <= 2 * w->nservers)
		return;
	struct bytes a = encoded_of(w, best), b = encoded_of(w, best + 1);
	buf_printf(out,
		   "  %zu of %zu regions had no request. To merge two small neighbours: echo "
		   "\"merge_region '%.*s', '%.*s'\" | hbase shell -n\n",
		   idle, w->nregions, (int)a.len, (const char *)a.ptr, (int)b.len,
		   (const char *)b.ptr);
}

void watch_report_text(struct buf *out, const struct watch *w)
{
	struct arena a = {0};
	const char **names = watch_names(w, &a);
	size_t servers = w->nservers;

	buf_printf(out, "table %s: %zu regions on %zu server%s, ", w->table, w->nregions, servers,
		   servers == 1 ? "" : "s");
	put_age(out, (double)(w->taken_ms - w->since_ms) / 1000);
	buf_printf(out, "; %zu regions from splits or merges, %zu moved, %zu counters restarted\n",
		   w->cut, w->moved, w->restarted);
	for (int k = 0; k < WATCH_KINDS; k++)
		put_kind(out, w, (enum watch_kind)k, names);
	if (w->hot.kind != HOT_NONE) {
		buf_append_str(out, "  ");
		watch_hot_text(out, w);
		buf_append_str(out, "\n    ");
		watch_advice_text(out, w);
		buf_put(out, '\n');
	}
	put_merge(out, w);
	arena_release(&a);
}
