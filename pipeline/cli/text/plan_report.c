#include "cli/reports.h"

#include <stdlib.h>

#include "bar.h"
#include "cli/report_views.h"
#include "key.h"
#include "mem.h"

#define BAR_WIDTH  40
#define LINES_MOST 48 /* largest number of lines for regions */

static uint64_t total_disk(const struct plan *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i <= p->splits.count; i++)
		n += p->regions[i].disk_bytes;
	return n;
}

static double over_target(const struct plan *p, size_t region)
{
	return p->target_bytes > 0 ? (double)p->regions[region].bytes / p->target_bytes : 0;
}

/* Returns the error of a region's size as a share of the target, with 99 % confidence. */
static double error_share(const struct plan *p, size_t region)
{
	return p->target_bytes > 0 ? p->regions[region].bytes_error / p->target_bytes : 0;
}

static void put_key(struct buf *out, struct bytes key, size_t width)
{
	struct buf text = {0};

	bytes_escape(&text, key);
	if (text.len > width)
		buf_printf(out, "%.*s...", (int)(width - 3), (const char *)text.ptr);
	else
		buf_printf(out, "%-*.*s", (int)width, (int)text.len,
			   text.ptr ? (const char *)text.ptr : "");
	buf_release(&text);
}

static void put_region(struct buf *out, const struct plan *p, size_t i)
{
	char rows[28], bytes[16];
	const struct plan_region *r = &p->regions[i];
	struct bytes none = {0};

	buf_printf(out, "  %4zu  ", i);
	put_key(out, i ? p->splits.keys[i - 1] : none, 27);
	buf_printf(out, " %13s rows  %8s  ", format_count(rows, (uint64_t)(r->rows + 0.5)),
		   format_bytes(bytes, r->disk_bytes));
	uint64_t largest = p->regions[p->largest].bytes;
	put_share_bar(out, largest ? (double)r->bytes / (double)largest : 0, BAR_WIDTH);
	buf_append_str(out, "\n");
}

static void put_regions(struct buf *out, const struct plan *p)
{
	size_t n = p->splits.count + 1;

	for (size_t i = 0; i < n; i++) {
		bool shown = n <= LINES_MOST || i < 8 || i + 8 >= n || i == p->largest ||
			     i == p->smallest;

		if (shown)
			put_region(out, p, i);
		else if (i == 8)
			buf_printf(out, "   ...  (%zu regions in all)\n", n);
	}
	buf_printf(out,
		   "  largest %.3f, smallest %.3f of the target (+- %.3f, with 99%% confidence for "
		   "one region)\n",
		   over_target(p, p->largest), over_target(p, p->smallest),
		   error_share(p, p->largest));
}

static void put_rivals(struct buf *out, const struct plan *p)
{
	for (size_t i = 0; i < p->nrivals; i++) {
		const struct plan_rival *r = &p->rivals[i];

		buf_printf(
			out,
			"  with %s, one region has %.0f%% of the bytes, and %zu of %zu are empty\n",
			split_algorithm_name(r->algorithm), r->largest_share * 100, r->empty,
			r->regions);
	}
}

void plan_report_text(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts,
		      const struct lint *lint, double rows)
{
	char a[28], b[28], c[16], d[16];

	if (counts->events)
		buf_printf(out, "looked at %s events, %s of them bad\n",
			   format_count(a, counts->events), format_count(b, counts->rejected));
	for (size_t t = 0; t < job->ntables; t++) {
		const struct plan *p = &plans[t];
		uint64_t disk = total_disk(p);
		size_t n = p->splits.count + 1;

		buf_printf(out,
			   "table %s: %s rows, %s predicted on disk (%.3f of the cells' bytes), "
			   "%zu region%s of %s\n",
			   job->tables[t].schema.name, format_count(a, (uint64_t)(p->rows + 0.5)),
			   format_bytes(c, disk), samples[t].disk_per_byte, n, n == 1 ? "" : "s",
			   format_bytes(d, disk / n));
		if (samples[t].scale > 1)
			buf_printf(out,
				   "  scaled up from %.1f%% of the input: rows and bytes are "
				   "+- %.1f%%, with 99%% confidence\n",
				   100 / samples[t].scale, 100 * samples[t].scale_error);
		put_regions(out, p);
		put_rivals(out, p);
		if (counts->hotspots)
			hotspot_report_text(out, &counts->hotspots[t]);
		for (size_t i = 0; i < p->nwarnings; i++)
			buf_printf(out, "  warning: %s\n", p->warnings[i]);
		if (rows > 0) {
			struct key_cost cost;

			key_cost_of(&cost, &job->tables[t], &samples[t], p, rows);
			key_cost_report(out, &cost);
		}
	}
	lint_report_text(out, job, lint);
}

/* --- JSON --- */

static const struct form_member region_members[] = {
	{"start", FORM_KEY, IN(plan_region_view, start),
	 "first row key; empty if there is no "
	 "bound"},
	{"end", FORM_KEY, IN(plan_region_view, end),
	 "first row key after the region; empty if "
	 "there is no bound"},
	{"rows", FORM_COUNT, IN(plan_region_view, rows), "predicted row keys"},
	{"cell_bytes", FORM_COUNT, IN(plan_region_view, bytes),
	 "predicted size of the region's cells as KeyValues"},
	{"disk_bytes", FORM_COUNT, IN(plan_region_view, disk_bytes),
	 "predicted size of the region's files"},
	{"cell_bytes_error", FORM_REAL, IN(plan_region_view, bytes_error),
	 "error of cell_bytes, with 99 % confidence"},
};
static const struct form region_form = FORM(plan_region_view, region_members);

static const struct form_member rival_members[] = {
	{"algorithm", FORM_TEXT, IN(plan_rival_view, algorithm), "name of the split algorithm"},
	{"regions", FORM_SIZE, IN(plan_rival_view, regions), "number of regions, as in this plan"},
	{"empty", FORM_SIZE, IN(plan_rival_view, empty), "regions without a row"},
	{"largest_share", FORM_REAL, IN(plan_rival_view, largest_share),
	 "share of all bytes in the largest region"},
};
static const struct form rival_form = FORM(plan_rival_view, rival_members);

static const struct form_member heavy_members[] = {
	{"row", FORM_FLAG, IN(plan_heavy_view, is_row),
	 "true for a whole row key, false for a "
	 "prefix"},
	{"key", FORM_KEY, IN(plan_heavy_view, key), "the row key or prefix"},
	{"name", FORM_BYTES, IN(plan_heavy_view, name),
	 "the row key or prefix as fields and "
	 "values"},
	{"rows", FORM_COUNT, IN(plan_heavy_view, rows), "predicted rows with this prefix"},
	{"cell_bytes", FORM_COUNT, IN(plan_heavy_view, bytes),
	 "predicted size of the cells of "
	 "these rows"},
	{"at_least", FORM_COUNT, IN(plan_heavy_view, at_least), "lower bound of cell_bytes"},
	{"at_most", FORM_COUNT, IN(plan_heavy_view, at_most), "upper bound of cell_bytes"},
	{"salts", FORM_UINT, IN(plan_heavy_view, salts),
	 "salt buckets that would reduce this key to the size of a region"},
};
static const struct form heavy_form = FORM(plan_heavy_view, heavy_members);

static const struct form_member place_members[] = {
	{"key", FORM_KEY, IN(plan_place, key), "a row key"},
	{"cell_bytes", FORM_COUNT, IN(plan_place, bytes),
	 "predicted size of the cells from this key up to the next"},
};
static const struct form place_form = FORM(plan_place, place_members);

static const struct form_member table_members[] = {
	{"name", FORM_TEXT, IN(plan_table_view, name),
	 "name of the table, with its namespace if "
	 "the table has one"},
	{"rows", FORM_COUNT, IN(plan_table_view, rows), "predicted row keys"},
	{"cell_bytes", FORM_COUNT, IN(plan_table_view, bytes),
	 "predicted size of the table's cells as KeyValues"},
	{"disk_bytes", FORM_COUNT, IN(plan_table_view, disk_bytes),
	 "predicted size of the table's files"},
	{"disk_per_byte", FORM_REAL, IN(plan_table_view, disk_per_byte),
	 "size of the files divided by the size of the cells"},
	{"target_cell_bytes", FORM_REAL, IN(plan_table_view, target),
	 "cell bytes that a region should have"},
	{"largest_over_target", FORM_REAL, IN(plan_table_view, largest),
	 "size of the largest region divided by the target"},
	{"smallest_over_target", FORM_REAL, IN(plan_table_view, smallest),
	 "size of the smallest region divided by the target"},
	{"error_over_target", FORM_REAL, IN(plan_table_view, error),
	 "error of the largest region divided by the target, with 99 % confidence"},
	{"regions", FORM_LIST, IN(plan_table_view, regions),
	 "regions, in the order of the row keys", ITEMS(plan_table_view, region_form, nregions)},
	{"rivals", FORM_LIST, IN(plan_table_view, rivals),
	 "the same rows under HBase's own split algorithms",
	 ITEMS(plan_table_view, rival_form, nrivals)},
	{"heavy", FORM_LIST, IN(plan_table_view, heavy),
	 "rows and row key prefixes with many bytes", ITEMS(plan_table_view, heavy_form, nheavy)},
	{"places", FORM_LIST, IN(plan_table_view, places),
	 "distribution of the bytes; at most 512 keys", FORM_NEWER,
	 ITEMS(plan_table_view, place_form, nplaces)},
	{"warnings", FORM_TEXTS, IN(plan_table_view, warnings),
	 "settings of the job that the plan cannot follow", COUNT_AT(plan_table_view, nwarnings)},
	{"hotspot", FORM_PART, IN(plan_table_view, hotspot),
	 "replay of the events in the order of their arrival; only with --hotspot", FORM_IF_ANY,
	 .items = &hotspot_form},
	{"key_cost", FORM_PART, IN(plan_table_view, key_cost),
	 "with --rows: what the row key costs", FORM_IF_ANY, .items = &key_cost_form},
	{"input_share", FORM_REAL, IN(plan_table_view, input_share),
	 "read share of the input; absent if saltmill read all of it", FORM_IF,
	 IF(plan_table_view, is_scaled)},
	{"scale_error", FORM_REAL, IN(plan_table_view, scale_error),
	 "relative error of the figures that saltmill scales up from this share", FORM_IF,
	 IF(plan_table_view, is_scaled)},
};
static const struct form table_form = FORM(plan_table_view, table_members);

static const struct form_member plan_members[] = {
	{"events", FORM_COUNT, IN(plan_view, events), "read events"},
	{"rejected", FORM_COUNT, IN(plan_view, rejected), "bad events among the read events"},
	{"tables", FORM_LIST, IN(plan_view, tables), "tables, in the order of the job",
	 ITEMS(plan_view, table_form, ntables)},
	{"lint", FORM_LIST, IN(plan_view, findings),
	 "findings of lint; not in plan.json, because some rules depend on the clock", FORM_IF,
	 ITEMS(plan_view, lint_form, nfindings), IF(plan_view, linted)},
};
const struct form plan_form = NAMED_FORM(plan_view, plan_members, "plan",
					 "`plan --json`, and plan.json of a plan's "
					 "folder");

static struct plan_region_view plan_region_view(const struct plan *p, size_t i)
{
	const struct plan_region *r = &p->regions[i];
	struct bytes none = {0};

	return (struct plan_region_view){.start = i ? p->splits.keys[i - 1] : none,
					 .end = i < p->splits.count ? p->splits.keys[i] : none,
					 .rows = (uint64_t)(r->rows + 0.5),
					 .bytes = r->bytes,
					 .disk_bytes = r->disk_bytes,
					 .bytes_error = r->bytes_error};
}

static struct plan_heavy_view plan_heavy_view(struct key_table *keys, const struct plan_heavy *h,
					      struct arena *a)
{
	struct buf name = {0};

	key_name(keys, h->key, h->part, &name);
	struct plan_heavy_view v = {
		.is_row = h->part == SHAPE_ROW,
		.key = h->key,
		.name = bytes_of(arena_strndup(a, (const char *)name.ptr, name.len), name.len),
		.rows = (uint64_t)(h->rows + 0.5),
		.bytes = h->bytes,
		.at_least = h->at_least,
		.at_most = h->at_most,
		.salts = h->salts};
	buf_release(&name);
	return v;
}

static struct plan_heavy_view *heavy_views(const struct job *job, const struct plan *p,
					   const struct table_sample *s, struct arena *a)
{
	struct key_table keys;
	struct plan_heavy_view *v = arena_alloc(a, p->nheavy * sizeof *v);

	key_table_open(&keys, job, s->table);
	for (size_t i = 0; i < p->nheavy; i++)
		v[i] = plan_heavy_view(&keys, &p->heavy[i], a);
	key_table_close(&keys);
	return v;
}

static struct plan_table_view plan_table_view(const struct job *job, const struct job_table *t,
					      const struct plan *p, const struct table_sample *s,
					      const struct hotspot *hotspot, struct arena *a)
{
	size_t nregions = p->splits.count + 1;
	struct plan_table_view v = {.name = t->schema.name,
				    .rows = (uint64_t)(p->rows + 0.5),
				    .bytes = (uint64_t)(p->bytes + 0.5),
				    .disk_bytes = total_disk(p),
				    .disk_per_byte = s->disk_per_byte,
				    .target = p->target_bytes,
				    .largest = over_target(p, p->largest),
				    .smallest = over_target(p, p->smallest),
				    .error = error_share(p, p->largest),
				    .is_scaled = s->scale > 1,
				    .input_share = 1 / s->scale,
				    .scale_error = s->scale_error,
				    .regions = arena_alloc(a, nregions * sizeof *v.regions),
				    .nregions = nregions,
				    .rivals = arena_alloc(a, p->nrivals * sizeof *v.rivals),
				    .nrivals = p->nrivals,
				    .heavy = heavy_views(job, p, s, a),
				    .nheavy = p->nheavy,
				    .places = p->places,
				    .nplaces = p->nplaces,
				    .warnings = p->warnings,
				    .nwarnings = p->nwarnings};

	if (hotspot)
		v.hotspot = hotspot_view(hotspot, a);
	for (size_t i = 0; i < nregions; i++)
		v.regions[i] = plan_region_view(p, i);
	for (size_t i = 0; i < p->nrivals; i++) {
		const struct plan_rival *r = &p->rivals[i];

		v.rivals[i] = (struct plan_rival_view){split_algorithm_name(r->algorithm),
						       r->regions, r->empty, r->largest_share};
	}
	return v;
}

void plan_report_json(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts,
		      const struct lint *lint, double rows)
{
	struct arena a = {0};
	struct plan_view v = {.events = counts->events,
			      .rejected = counts->rejected,
			      .tables = arena_alloc(&a, job->ntables * sizeof *v.tables),
			      .ntables = job->ntables,
			      .linted = lint != NULL,
			      .findings = lint ? lint->findings : NULL,
			      .nfindings = lint ? lint->count : 0};

	for (size_t t = 0; t < job->ntables; t++) {
		v.tables[t] = plan_table_view(job, &job->tables[t], &plans[t], &samples[t],
					      counts->hotspots ? &counts->hotspots[t] : NULL, &a);
		if (rows > 0)
			key_cost_of(&v.tables[t].key_cost, &job->tables[t], &samples[t], &plans[t],
				    rows);
	}
	form_put(out, &plan_form, &v, FORM_REPORT);
	arena_release(&a);
}
