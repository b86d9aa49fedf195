/* plan_page.c - writes the page of a plan from the JSON of `saltmill plan` (pages.h) */
#include <string.h>

#include "cli/report_views.h"
#include "cli/reports.h"
#include "html.h"
#include "hotspots.h"
#include "pages.h"
#include "page_parts.h"

struct plan_page {
	struct buf *out;
	struct plan_view plan;
	const char *dir; /* folder of the plan; NULL if the plan is a single file */
	struct extras extras;
	struct arena arena;
};

static void add(struct plan_page *p, const char *text)
{
	buf_append_str(p->out, text);
}

/* Returns the target size of a region on disk, in bytes. */
static uint64_t target_of(const struct plan_table_view *t)
{
	double v = t->target * t->disk_per_byte;

	return v > 0 && v < 1e18 ? (uint64_t)v : 0;
}

static int read_plan(struct plan_page *p, const char *path, struct error *err)
{
	static const char what[] = "the output of `plan --json` or the plan.json of a plan folder";
	int rc = form_read(&plan_form, &p->plan, path, what, &p->arena, err);

	for (size_t i = 0; rc == RC_OK && i < p->plan.ntables; i++)
		if (!p->plan.tables[i].nregions)
			rc = error_set(err, RC_DATA, "%s: table %s has no regions, expected %s",
				       path, p->plan.tables[i].name, what);
	return rc;
}

/* --- summary --- */

static void say_read(struct plan_page *p)
{
	uint64_t rejected = p->plan.rejected;

	part_verdict(p->out, rejected ? "warn" : "good", rejected ? "Rejected" : "Complete");
	html_count(p->out, p->plan.events);
	add(p, " events were read");
	if (rejected) {
		add(p, ", of which ");
		html_count(p->out, rejected);
		add(p, " are invalid. By default, invalid events end a load; "
		       "<code>--max-rejects</code> accepts them");
	}
	add(p, ".");
	part_verdict_end(p->out);
}

static void say_warnings(struct plan_page *p, const struct plan_table_view *t)
{
	for (size_t i = 0; i < t->nwarnings; i++) {
		part_verdict(p->out, "warn", "Warning");
		html_code(p->out, t->name);
		add(p, ": ");
		html_text(p->out, bytes_str(t->warnings[i]));
		part_verdict_end(p->out);
	}
}

static void overview(struct plan_page *p, const char *name)
{
	add(p, "<h1>Plan ");
	html_text(p->out, bytes_str(name));
	add(p, "</h1>\n<p><small>Nothing was loaded. This page predicts the result of a "
	       "load.</small></p>\n<ul class=\"verdict\">\n");
	say_read(p);
	for (size_t i = 0; i < p->plan.ntables; i++) {
		const struct plan_table_view *t = &p->plan.tables[i];

		part_balance(p->out, t->name, t->nregions, t->largest, target_of(t),
			     "will have about");
		say_warnings(p, t);
	}
	part_findings_verdict(p->out, &p->extras);
	add(p, "</ul>\n");
}

static void commands(struct plan_page *p)
{
	add(p, "<h2>Next steps</h2>\n");
	if (p->extras.nfindings)
		add(p, "<p>Fix the findings below before you load anything.</p>\n");
	add(p, "<p>Load the same events");
	add(p, p->dir ? ", split into these regions:</p>\n" : ":</p>\n");
	add(p, "<pre class=\"run\"><code>saltmill load JOB");
	if (p->dir) {
		add(p, " --plan ");
		part_shell_word(p->out, p->dir, "");
	}
	add(p, " -o DIR\n</code></pre>\n");
}

/* --- tables --- */

static void totals(struct plan_page *p)
{
	add(p, "<h2>Tables</h2>\n");
	html_table(p->out, "predicted size of each table",
		   "table|#rows|#bytes of cells|#bytes on disk|#regions|#largest of the "
		   "target|#smallest|#error");
	for (size_t i = 0; i < p->plan.ntables; i++) {
		const struct plan_table_view *t = &p->plan.tables[i];

		add(p, "<tr>");
		html_code_cell(p->out, t->name);
		html_count_cell(p->out, t->rows);
		html_bytes_cell(p->out, t->bytes);
		html_bytes_cell(p->out, t->disk_bytes);
		html_count_cell(p->out, t->nregions);
		html_real_cell(p->out, 3, t->largest, "");
		html_real_cell(p->out, 3, t->smallest, "");
		html_real_cell(p->out, 3, t->error, "");
		add(p, "</tr>\n");
	}
	html_table_end(p->out);
	add(p, "<p><small>Error: possible deviation of the largest region, as a share of "
	       "the target, with 99 % confidence.</small></p>\n");
}

static void regions(struct plan_page *p, const struct plan_table_view *t)
{
	struct region_bar *r = arena_alloc(&p->arena, t->nregions * sizeof *r);

	for (size_t i = 0; i < t->nregions; i++) {
		const struct plan_region_view *from = &t->regions[i];

		r[i] = (struct region_bar){from->start, from->rows, from->disk_bytes,
					   from->disk_bytes};
	}
	part_regions(p->out, r, t->nregions, target_of(t), false);
}

static void heavy_row(struct plan_page *p, const struct plan_heavy_view *h)
{
	struct buf key = {0};
	bool is_salt = h->name.len > 0;

	for (size_t i = 0; i < h->name.len; i++)
		is_salt = is_salt && h->name.ptr[i] >= '0' && h->name.ptr[i] <= '9';
	bytes_escape(&key, h->key);
	add(p, is_salt ? "<tr><td>salt <code>" : "<tr><td><code>");
	html_text(p->out, h->name.len ? h->name : buf_bytes(&key));
	add(p, "</code></td>");
	add(p, h->is_row ? "<td>a row</td>" : "<td>rows with this prefix</td>");
	html_count_cell(p->out, h->rows);
	html_bytes_cell(p->out, h->bytes);
	html_bytes_cell(p->out, h->at_least);
	html_bytes_cell(p->out, h->at_most);
	html_count_cell(p->out, h->salts);
	add(p, "</tr>\n");
	buf_release(&key);
}

static void heavy(struct plan_page *p, const struct plan_table_view *t)
{
	add(p, "<h3>Heavy keys</h3>\n");
	if (!t->nheavy) {
		add(p, "<p>None: no row key and no prefix is large enough to make a region "
		       "uneven.</p>\n");
		return;
	}
	html_table(p->out, "heavy keys", "key|of|#rows|#bytes of cells|#at least|#at most|#salts");
	for (size_t i = 0; i < t->nheavy; i++)
		heavy_row(p, &t->heavy[i]);
	html_table_end(p->out);
}

/* Draws the places of a table. Older plans have no list of places. */
static void places(struct plan_page *p, const struct plan_table_view *t)
{
	struct extents at = {.item = arena_alloc(&p->arena, t->nplaces * sizeof *at.item),
			     .n = t->nplaces};

	for (size_t i = 0; i < at.n; i++) {
		at.item[i] = (struct extent){.row = t->places[i].key, .bytes = t->places[i].bytes};
		at.bytes += at.item[i].bytes;
		if (i)
			at.item[i - 1].last = at.item[i].row;
	}
	part_keys(p->out, &at);
}

static void rival_row(struct plan_page *p, const char *name, double largest_share, size_t empty,
		      size_t nregions)
{
	add(p, "<tr><td>");
	html_text(p->out, bytes_str(name));
	add(p, "</td>");
	html_real_cell(p->out, 1, 100 * largest_share, " %");
	html_count_cell(p->out, empty);
	html_count_cell(p->out, nregions);
	add(p, "</tr>\n");
}

static void rivals(struct plan_page *p, const struct plan_table_view *t)
{
	uint64_t largest = 0, all = 0;
	size_t empty = 0;

	if (!t->nrivals)
		return;
	for (size_t i = 0; i < t->nregions; i++) {
		uint64_t bytes = t->regions[i].bytes;

		largest = bytes > largest ? bytes : largest;
		all += bytes;
		empty += bytes == 0;
	}
	add(p, "<h3>Other split algorithms</h3>\n");
	html_table(p->out, "other split algorithms",
		   "split keys of|#bytes in the largest region|#empty regions|#regions");
	rival_row(p, "these regions", all ? (double)largest / (double)all : 0, empty, t->nregions);
	for (size_t i = 0; i < t->nrivals; i++) {
		const struct plan_rival_view *r = &t->rivals[i];

		rival_row(p, r->algorithm, r->largest_share, r->empty, r->regions);
	}
	html_table_end(p->out);
}

static void table(struct plan_page *p, const struct plan_table_view *t)
{
	add(p, "<h2>Table ");
	html_text(p->out, bytes_str(t->name));
	add(p, "</h2>\n");
	if (t->is_scaled)
		buf_printf(
			p->out,
			"<p>Predicted from %.1f %% of the input. Counts are right within %.1f %%, "
			"with 99 %% confidence.</p>\n",
			100 * t->input_share, 100 * t->scale_error);
	regions(p, t);
	heavy(p, t);
	places(p, t);
	rivals(p, t);
}

int page_plan(struct buf *out, const char *json, const char *dir, const struct page_files *f,
	      struct error *err)
{
	struct plan_page p = {.out = out, .dir = dir};
	int rc = read_plan(&p, json, err);

	if (rc == RC_OK)
		rc = extras_read(&p.extras, f, NULL, &p.arena, err);
	if (rc == RC_OK) {
		const char *name = dir ? dir : json;
		char *title = mem_format("saltmill: plan %s", name);

		if (p.plan.linted && !p.extras.linted) {
			p.extras.linted = true;
			p.extras.findings = p.plan.findings;
			p.extras.nfindings = p.plan.nfindings;
		}
		html_begin(out, title);
		overview(&p, name);
		commands(&p);
		totals(&p);
		part_hotspots(out, p.plan.tables, p.plan.ntables);
		for (size_t i = 0; i < p.plan.ntables; i++)
			table(&p, &p.plan.tables[i]);
		part_findings(out, &p.extras);
		html_end(out);
		mem_free(title);
	}
	arena_release(&p.arena);
	return rc;
}
