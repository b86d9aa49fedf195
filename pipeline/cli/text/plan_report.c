#include "cli/reports.h"

#include <stdlib.h>

#include "bar.h"
#include "key.h"
#include "mem.h"
#include "show_json.h"

#define BAR_WIDTH  40
#define LINES_MOST 48 /* of regions; more are shown as the first, the last and the extremes */

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

/* The risk-bounded error of a region, as a share of the target. */
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
			"  %s would put %.0f%% of the bytes in one region, %zu of its %zu empty\n",
			split_algorithm_name(r->algorithm), r->largest_share * 100, r->empty,
			r->regions);
	}
}

void plan_report_text(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts,
		      const struct lint *lint)
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
		for (size_t i = 0; i < p->nwarnings; i++)
			buf_printf(out, "  warning: %s\n", p->warnings[i]);
	}
	lint_report_text(out, job, lint);
}

/* --- JSON --- */

static json_t *json_regions(const struct plan *p)
{
	json_t *list = json_array();
	struct bytes none = {0};
	size_t n = p->splits.count + 1;

	for (size_t i = 0; i < n; i++) {
		const struct plan_region *r = &p->regions[i];

		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:I, s:I, s:I, s:f}", "start",
						show_escaped(i ? p->splits.keys[i - 1] : none),
						"end",
						show_escaped(i + 1 < n ? p->splits.keys[i] : none),
						"rows", (json_int_t)(r->rows + 0.5), "cell_bytes",
						(json_int_t)r->bytes, "disk_bytes",
						(json_int_t)r->disk_bytes, "cell_bytes_error",
						r->bytes_error));
	}
	return list;
}

static json_t *json_rivals(const struct plan *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->nrivals; i++)
		json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:f}", "algorithm",
						      split_algorithm_name(p->rivals[i].algorithm),
						      "regions", (json_int_t)p->rivals[i].regions,
						      "empty", (json_int_t)p->rivals[i].empty,
						      "largest_share", p->rivals[i].largest_share));
	return list;
}

static json_t *json_heavy(const struct job *job, const struct plan *p, const struct table_sample *s)
{
	struct key_table keys;
	json_t *list = json_array();

	key_table_open(&keys, job, s->table);
	for (size_t i = 0; i < p->nheavy; i++) {
		const struct plan_heavy *h = &p->heavy[i];
		struct buf name = {0};

		key_name(&keys, h->key, h->part, &name);
		json_array_append_new(list,
				      json_pack("{s:b, s:o, s:s%, s:I, s:I, s:I, s:I, s:I}", "row",
						h->part == SHAPE_ROW, "key", show_escaped(h->key),
						"name", name.ptr ? (const char *)name.ptr : "",
						name.len, "rows", (json_int_t)(h->rows + 0.5),
						"cell_bytes", (json_int_t)h->bytes, "at_least",
						(json_int_t)h->at_least, "at_most",
						(json_int_t)h->at_most, "salts",
						(json_int_t)h->salts));
		buf_release(&name);
	}
	key_table_close(&keys);
	return list;
}

static json_t *json_places(const struct plan *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->nplaces; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:I}", "key", show_escaped(p->places[i].key),
						"cell_bytes", (json_int_t)p->places[i].bytes));
	return list;
}

static json_t *json_table(const struct job *job, const struct job_table *t, const struct plan *p,
			  const struct table_sample *s)
{
	json_t *warnings = json_array();

	for (size_t i = 0; i < p->nwarnings; i++)
		json_array_append_new(warnings, json_string(p->warnings[i]));
	json_t *table =
		json_pack("{s:s, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o}",
			  "name", t->schema.name, "rows", (json_int_t)(p->rows + 0.5), "cell_bytes",
			  (json_int_t)(p->bytes + 0.5), "disk_bytes", (json_int_t)total_disk(p),
			  "disk_per_byte", s->disk_per_byte, "target_cell_bytes", p->target_bytes,
			  "largest_over_target", over_target(p, p->largest), "smallest_over_target",
			  over_target(p, p->smallest), "error_over_target",
			  error_share(p, p->largest), "regions", json_regions(p), "rivals",
			  json_rivals(p), "heavy", json_heavy(job, p, s), "places", json_places(p),
			  "warnings", warnings);
	if (s->scale > 1) {
		json_object_set_new(table, "input_share", json_real(1 / s->scale));
		json_object_set_new(table, "scale_error", json_real(s->scale_error));
	}
	return table;
}

void plan_report_json(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts,
		      const struct lint *lint)
{
	json_t *tables = json_array();

	for (size_t t = 0; t < job->ntables; t++)
		json_array_append_new(tables,
				      json_table(job, &job->tables[t], &plans[t], &samples[t]));
	json_t *all = json_pack("{s:I, s:I, s:o}", "events", (json_int_t)counts->events, "rejected",
				(json_int_t)counts->rejected, "tables", tables);
	if (lint)
		json_object_set_new(all, "lint", show_findings(lint));
	show_json(out, all, JSON_INDENT(2));
}
