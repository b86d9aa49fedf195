/* hotspot_report.c - reports the regions that events write over time */
#include <math.h>

#include "bar.h"
#include "cli/answer.h"
#include "cli/report_views.h"
#include "cli/reports.h"
#include "planning.h"

static const struct form_member band_members[] = {
	{"region", FORM_COUNT, IN(hot_band_view, region), "first region of the row, from 0"},
	{"share", FORM_INTS, IN(hot_band_view, share),
	 "by column: share of the row's busiest region, in 1/10000 of the column's events",
	 COUNT_AT(hot_band_view, nshares)},
};
static const struct form band_form = FORM(hot_band_view, band_members);

static const struct form_member members[] = {
	{"events", FORM_COUNT, IN(plan_hotspot_view, events), "number of replayed events"},
	{"every", FORM_COUNT, IN(plan_hotspot_view, every), "the replay has one event of so many"},
	{"windows", FORM_COUNT, IN(plan_hotspot_view, windows), "windows of events"},
	{"window_events", FORM_COUNT, IN(plan_hotspot_view, window_events),
	 "replayed events in a window"},
	{"window_seconds", FORM_REAL, IN(plan_hotspot_view, window_s),
	 "time of a window; 0 if the events have no times"},
	{"servers", FORM_SIZE, IN(plan_hotspot_view, servers), "region servers"},
	{"regions", FORM_SIZE, IN(plan_hotspot_view, regions), "regions"},
	{"even", FORM_REAL, IN(plan_hotspot_view, even),
	 "share of each server if the writes are even"},
	{"server_mean", FORM_REAL, IN(plan_hotspot_view, server_mean),
	 "share of the busiest server of a window, mean of all windows"},
	{"server_p99", FORM_REAL, IN(plan_hotspot_view, server_p99),
	 "the same share, in the window that is busier than 99 % of the windows"},
	{"region_mean", FORM_REAL, IN(plan_hotspot_view, region_mean),
	 "share of the busiest region of a window, mean of all windows"},
	{"region_p99", FORM_REAL, IN(plan_hotspot_view, region_p99),
	 "the same share, in the window that is busier than 99 % of the windows"},
	{"written", FORM_REAL, IN(plan_hotspot_view, written),
	 "mean number of regions with at least 1 % of a window"},
	{"noise", FORM_REAL, IN(plan_hotspot_view, noise),
	 "a smaller difference of two shares is chance"},
	{"grown", FORM_REAL, IN(plan_hotspot_view, grown),
	 "growth of the largest region's share while the newest fifth of the events arrives"},
	{"map", FORM_LIST, IN(plan_hotspot_view, bands), "heat map of regions and time",
	 ITEMS(plan_hotspot_view, band_form, nbands)},
	{"busiest", FORM_INTS, IN(plan_hotspot_view, busiest),
	 "by column of the map: share of the busiest server, in 1/10000",
	 COUNT_AT(plan_hotspot_view, nbusiest)},
};
const struct form hotspot_form = FORM(plan_hotspot_view, members);

/* Returns the first region of a row of the heat map. */
static uint64_t band_first(const struct hotspot *h, size_t band)
{
	return (band * h->replay.regions + h->bands - 1) / h->bands;
}

struct plan_hotspot_view hotspot_view(const struct hotspot *h, struct arena *a)
{
	const struct write_replay *r = &h->replay;
	struct plan_hotspot_view v = {.any = true,
				      .events = r->events,
				      .every = h->every,
				      .windows = r->windows,
				      .window_events = r->window,
				      .window_s = h->window_s,
				      .servers = r->servers,
				      .regions = r->regions,
				      .even = 1 / (double)r->servers,
				      .server_mean = r->server.mean,
				      .server_p99 = r->server.p99,
				      .region_mean = r->region.mean,
				      .region_p99 = r->region.p99,
				      .written = r->written,
				      .noise = r->noise,
				      .grown = h->grown,
				      .bands = arena_alloc(a, (h->bands + 1) * sizeof *v.bands),
				      .nbands = h->bands,
				      .busiest = h->server,
				      .nbusiest = h->columns};

	for (size_t b = 0; b < h->bands; b++)
		v.bands[b] = (struct hot_band_view){band_first(h, b), h->share + b * h->columns,
						    h->columns};
	return v;
}

double hotspot_heat(double share, size_t regions)
{
	return fmin(share * (double)regions / 4, 1);
}

static double heat_of(const struct hotspot *h, size_t band, size_t column)
{
	double share = (double)h->share[band * h->columns + column] / HOT_WHOLE;

	return hotspot_heat(share, h->replay.regions);
}

void hotspot_map_text(struct buf *out, const struct hotspot *h, const char *const *names)
{
	for (size_t b = 0; b < h->bands; b++) {
		buf_printf(out, "    %6llu  ", (unsigned long long)band_first(h, b));
		if (names)
			buf_printf(out, "%-32s  ", names[band_first(h, b)]);
		for (size_t c = 0; c < h->columns; c++)
			put_shade(out, heat_of(h, b, c));
		while (out->len && out->ptr[out->len - 1] == ' ')
			out->len--;
		buf_put(out, '\n');
	}
}

void hotspot_report_text(struct buf *out, const struct hotspot *h)
{
	const struct write_replay *r = &h->replay;
	char a[28], b[28];

	if (!r->windows)
		return;
	buf_printf(out, "  hot spots: %s windows of %s events", format_count(a, r->windows),
		   format_count(b, r->window * h->every));
	if (h->window_s > 0) {
		buf_append_str(out, " (");
		put_age(out, h->window_s);
		buf_append_str(out, ")");
	}
	buf_printf(out, ", %zu servers\n", r->servers);
	if (h->every > 1)
		buf_printf(out, "    the replay has 1 event of %llu\n",
			   (unsigned long long)h->every);
	buf_printf(out,
		   "    busiest server of a window %.1f%% (p99 %.1f%%, even %.1f%%, noise %.1f%%), "
		   "busiest region %.1f%% (p99 %.1f%%)\n",
		   100 * r->server.mean, 100 * r->server.p99, 100 / (double)r->servers,
		   100 * r->noise, 100 * r->region.mean, 100 * r->region.p99);
	buf_printf(out,
		   "    %.1f of %zu regions get writes at a time; the newest fifth of the events "
		   "makes the largest region %.2f times as large, relative to the mean\n",
		   r->written, r->regions, h->grown);
	hotspot_map_text(out, h, NULL);
}
