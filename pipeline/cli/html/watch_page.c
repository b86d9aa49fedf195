/* watch_page.c - the page of `watch`: requests of a live table's regions over time */
#include "cli/page.h"

#include "cli/reports.h"
#include "hbase.h"
#include "hotspots.h"
#include "html.h"
#include "page_parts.h"
#include "planning.h"

static void append_text(struct buf *out, const char *text)
{
	html_text(out, bytes_str(text));
}

static void append_verdict(struct buf *out, const struct watch *w)
{
	struct buf text = {0};

	buf_append_str(out, "<ul class=\"verdict\">\n");
	if (w->hot.kind == HOT_NONE) {
		part_verdict(out, "good", "even");
		buf_append_str(out, "No region is hot in the newest window.");
	} else {
		part_verdict(out, "bad", "hot");
		watch_hot_text(&text, w);
		html_text(out, buf_bytes(&text));
		buf_append_str(out, ". ");
		text.len = 0;
		watch_advice_text(&text, w);
		html_text(out, buf_bytes(&text));
	}
	part_verdict_end(out);
	buf_append_str(out, "</ul>\n");
	buf_release(&text);
}

static void append_map(struct buf *out, const struct watch *w, enum watch_kind k)
{
	const struct heat_words words = {k == WATCH_READS ? "reads" : "writes", w->table, "start",
					 "now"};
	struct hotspot h;
	struct arena a = {0};

	watch_hotspot(w, k, &h);
	if (h.replay.events) {
		const struct plan_hotspot_view v = hotspot_view(&h, &a);

		part_figure(out);
		part_heat_map(out, &words, &v);
		buf_append_str(out, "<figcaption>");
		html_count(out, w->all[k]);
		buf_printf(out,
			   " %s: busiest server %.1f %%, busiest region %.1f %%, %.1f of %zu "
			   "regions busy at a time</figcaption></figure>\n",
			   words.of, 100 * v.server_mean, 100 * v.region_mean, v.written,
			   v.regions);
	}
	arena_release(&a);
	hotspot_release(&h);
}

static void append_regions(struct buf *out, const struct watch *w)
{
	struct arena a = {0};
	const char **names = watch_names(w, &a);

	buf_append_str(out, "<h2>Regions</h2>\n");
	html_table(out, "regions of the table",
		   "#number|start|region|server|#reads/s|#writes/s|#all requests|#MiB");
	for (size_t g = 0; g < w->nregions && g < LISTED; g++) {
		const struct watched_region *r = &w->regions[g];
		struct bytes encoded = hbase_encoded_name(r->name);
		double s = w->window_s > 0 ? w->window_s : 1;

		buf_append_str(out, "<tr>");
		html_count_cell(out, g);
		html_code_cell(out, names[g]);
		html_code_cell(out, arena_strndup(&a, encoded.ptr, encoded.len));
		html_code_cell(out, w->servers[r->server]);
		html_real_cell(out, 1, (double)r->last[WATCH_READS] / s, "");
		html_real_cell(out, 1, (double)r->last[WATCH_WRITES] / s, "");
		html_count_cell(out, r->requests);
		html_count_cell(out, r->mib);
		buf_append_str(out, "</tr>\n");
	}
	html_table_end(out);
	arena_release(&a);
}

void page_watch(struct buf *out, const struct watch *w, int64_t wall_ms)
{
	html_begin(out, "saltmill: requests of a live table");
	buf_append_str(out, "<h1>Requests of table ");
	append_text(out, w->table);
	buf_append_str(out, "</h1>\n<p><small>");
	html_count(out, w->nregions);
	buf_printf(out, " regions on %zu servers, in %zu windows up to ", w->nservers, w->nwindows);
	html_time(out, wall_ms);
	buf_printf(out,
		   " UTC. %zu regions are from splits or merges since the start, %zu moved, and "
		   "%zu counters restarted.</small></p>\n",
		   w->cut, w->moved, w->restarted);
	append_verdict(out, w);
	buf_append_str(
		out, "<h2>Requests over time</h2>\n<p><small>A row is a region, or the busiest of "
		     "several regions; the strongest colour is 4 times the even share. The line "
		     "is the busiest server, and the dashed line is the even "
		     "share.</small></p>\n<div class=\"side\">\n");
	append_map(out, w, WATCH_READS);
	append_map(out, w, WATCH_WRITES);
	part_hotspots_end(out);
	append_regions(out, w);
	html_end(out);
}
