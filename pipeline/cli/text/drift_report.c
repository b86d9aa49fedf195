#include "cli/reports.h"

#include "bar.h"
#include "show_json.h"
#include "bytes.h"

#define BAR_WIDTH 30

/* --- commands --- */

/* In double quotes Ruby makes the bytes; \xHH of all that is no letter or digit needs no more. */
static void put_split(struct buf *out, const struct table *t, struct bytes key)
{
	buf_printf(out, "split '%s', \"", t->name);
	bytes_escape(out, key);
	buf_append_str(out, "\"\n");
}

/*
 * Cuts from..end of one region, halves first: of those, the ones that are `depth` halvings down.
 * Returns how many.
 */
static size_t put_round(struct buf *out, const struct drift_table *t, size_t from, size_t end,
			int depth)
{
	if (from >= end)
		return 0;
	size_t middle = from + (end - from) / 2;
	if (depth == 0) {
		put_split(out, t->schema, t->cuts.keys[middle]);
		return 1;
	}
	return put_round(out, t, from, middle, depth - 1) +
	       put_round(out, t, middle + 1, end, depth - 1);
}

static void put_splits(struct buf *out, const struct drift_table *t)
{
	size_t done = 0;

	for (int depth = 0; done < t->cuts.count; depth++) {
		if (depth == 1)
			buf_append_str(out, "# HBase refuses to split a daughter until its first "
					    "compaction has ended:\n"
					    "# run what follows round by round.\n");
		if (depth)
			buf_printf(out, "# Round %d\n", depth + 1);
		for (size_t i = 0; i < t->nregions; i++) {
			const struct drift_region *r = &t->regions[i];

			done += put_round(out, t, r->cuts_at, r->cuts_at + r->ncuts, depth);
		}
	}
}

static void put_merges(struct buf *out, const struct drift_table *t)
{
	for (size_t i = 0; i + 1 < t->nregions; i++)
		if (t->regions[i].merge_next)
			buf_printf(out, "merge_region \"%s\", \"%s\"\n",
				   t->live->regions[i].encoded, t->live->regions[i + 1].encoded);
}

/* --- findings --- */

static double share(const struct drift_table *t, const struct drift_region *r)
{
	return t->bytes ? (double)r->bytes / (double)t->bytes : 0;
}

static double over_mean(const struct drift_table *t)
{
	return t->bytes ? (double)t->largest * (double)t->nregions / (double)t->bytes : 0;
}

static uint64_t after(const struct drift_region *r)
{
	return r->bytes + (r->live_bytes == EXISTING_UNKNOWN ? 0 : r->live_bytes);
}

static void put_region(struct buf *out, const struct drift_table *t, size_t i)
{
	const struct drift_region *r = &t->regions[i];
	char rows[28], bytes[16], live[16], sum[16];
	struct buf key = {0};

	if (i)
		bytes_escape(&key, t->live->splits.keys[i - 1]);
	buf_printf(out, "# %4zu  %-27.*s %13s rows  %8s  %5.1f%%  ", i,
		   key.len > 27 ? 27 : (int)key.len, key.len ? (const char *)key.ptr : "",
		   format_count(rows, r->rows), format_bytes(bytes, r->bytes), 100 * share(t, r));
	buf_release(&key);
	put_share_bar(out, t->largest ? (double)r->bytes / (double)t->largest : 0, BAR_WIDTH);
	if (r->live_bytes != EXISTING_UNKNOWN)
		buf_printf(out, "  %s -> %s", format_bytes(live, r->live_bytes),
			   format_bytes(sum, after(r)));
	if (r->live_requests != EXISTING_UNKNOWN)
		buf_printf(out, "  %s requests", format_count(rows, r->live_requests));
	if (r->bursts)
		buf_append_str(out, "  BURSTS");
	if ((r->bursts || r->hot) && !r->ncuts)
		buf_append_str(out, "  one row holds it, no split can help");
	buf_put(out, '\n');
}

static void put_table(struct buf *out, const struct drift_table *t)
{
	char rows[28], bytes[16], limit[16];
	size_t bursts = 0, hot = 0, merges = 0;

	buf_printf(out, "# Table %s: %s rows, %s on disk (predicted), on %zu live region%s\n",
		   t->schema->name, format_count(rows, t->rows), format_bytes(bytes, t->bytes),
		   t->nregions, t->nregions == 1 ? "" : "s");
	for (size_t i = 0; i < t->nregions; i++) {
		put_region(out, t, i);
		bursts += t->regions[i].bursts;
		hot += t->regions[i].hot;
		merges += t->regions[i].merge_next;
	}
	buf_printf(out, "# The largest share is %.2f times the mean", over_mean(t));
	if (hot)
		buf_printf(out, "; %zu region%s above %g times", hot, hot == 1 ? " is" : "s are",
			   t->fair);
	buf_printf(out, ".\n# Above the %s at which HBase splits: %zu%s.\n",
		   format_bytes(limit, t->max_filesize), bursts,
		   t->live->regions[0].size_bytes == EXISTING_UNKNOWN
			   ? " by the new bytes alone (list_regions tells what the regions hold)"
			   : "");
	if (t->cuts.count)
		buf_append_str(out, "# Keys are exact for the new rows; what is there is taken to "
				    "be spread alike.\n");
	put_splits(out, t);
	if (merges)
		buf_append_str(out, "# Neighbours that together hold less than half of the mean\n");
	put_merges(out, t);
}

static json_t *known(uint64_t n)
{
	return n == EXISTING_UNKNOWN ? json_null() : json_integer((json_int_t)n);
}

static json_t *region_json(const struct drift_table *t, size_t i)
{
	const struct drift_region *r = &t->regions[i];
	struct bytes none = {0};
	json_t *cuts = json_array();

	for (size_t c = 0; c < r->ncuts; c++)
		json_array_append_new(cuts, show_escaped(t->cuts.keys[r->cuts_at + c]));
	return json_pack("{s:o, s:I, s:I, s:f, s:o, s:o, s:I, s:b, s:b, s:o, s:b}", "start",
			 show_escaped(i ? t->live->splits.keys[i - 1] : none), "rows",
			 (json_int_t)r->rows, "bytes", (json_int_t)r->bytes, "share", share(t, r),
			 "live_bytes", known(r->live_bytes), "live_requests",
			 known(r->live_requests), "bytes_after", (json_int_t)after(r), "bursts",
			 r->bursts, "hot", r->hot, "split_at", cuts, "merge_with_next",
			 r->merge_next);
}

static json_t *table_json(const struct drift_table *t)
{
	struct buf script = {0};
	json_t *regions = json_array();

	for (size_t i = 0; i < t->nregions; i++)
		json_array_append_new(regions, region_json(t, i));
	put_splits(&script, t);
	put_merges(&script, t);
	json_t *out =
		json_pack("{s:s, s:I, s:I, s:I, s:f, s:o, s:s%}", "name", t->schema->name, "rows",
			  (json_int_t)t->rows, "bytes", (json_int_t)t->bytes, "max_filesize",
			  (json_int_t)t->max_filesize, "largest_over_mean", over_mean(t), "regions",
			  regions, "commands", script.len ? (char *)script.ptr : "", script.len);
	buf_release(&script);
	return out;
}

void drift_report_json(struct buf *out, const struct drift *d)
{
	json_t *tables = json_array();

	for (size_t t = 0; t < d->ntables; t++)
		if (d->tables[t].live)
			json_array_append_new(tables, table_json(&d->tables[t]));
	json_t *all = json_pack("{s:I, s:I, s:o}", "read", (json_int_t)d->events, "rejected",
				(json_int_t)d->rejected, "tables", tables);
	show_json(out, all, JSON_INDENT(2));
}

void drift_report_script(struct buf *out, const struct drift *d)
{
	for (size_t t = 0; t < d->ntables; t++)
		if (d->tables[t].live)
			put_table(out, &d->tables[t]);
	buf_append_str(out, "exit\n");
}
