#include "cli/reports.h"

#include "bar.h"
#include "bytes.h"

#define BAR_WIDTH 30

/* --- commands --- */

/* Ruby reads \xHH only in double quotes. Escaping all bytes except letters and digits is enough. */
static void put_split(struct buf *out, const struct table *t, struct bytes key)
{
	buf_printf(out, "split '%s', \"", t->name);
	bytes_escape(out, key);
	buf_append_str(out, "\"\n");
}

/*
 * Writes the split points from..end of a region that are `depth` halvings down. Each round of
 * splits then halves the regions. Returns the number of split points.
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
			buf_append_str(out, "# HBase refuses to split a daughter region until its "
					    "first compaction has ended:\n# run the following "
					    "commands round by round.\n");
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
		buf_append_str(out, "  one row has most of the bytes, and HBase cannot "
				    "split a row");
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
	buf_printf(out, "# The largest share is %.2f times the mean", drift_over_mean(t));
	if (hot)
		buf_printf(out, "; %zu region%s above %g times", hot, hot == 1 ? " is" : "s are",
			   t->fair);
	buf_printf(out, ".\n# Above the %s at which HBase splits: %zu%s.\n",
		   format_bytes(limit, t->max_filesize), bursts,
		   t->live->regions[0].size_bytes == EXISTING_UNKNOWN
			   ? " by the new bytes alone (list_regions prints the present sizes)"
			   : "");
	if (t->cuts.count)
		buf_append_str(out, "# Keys are exact for the new rows; the figures assume an even "
				    "distribution of present rows.\n");
	put_splits(out, t);
	if (merges)
		buf_append_str(out, "# Adjacent regions that together have less than half of the "
				    "mean\n");
	put_merges(out, t);
}

/* --- JSON --- */

struct drift_region_view {
	struct bytes start;
	struct drift_region r;
	double share;
	bool no_bytes, no_requests; /* HBase did not report this figure */
	uint64_t bytes_after;
	struct bytes *split_at;
};
struct drift_table_view {
	const char *name;
	struct drift_table t;
	double over_mean;
	struct drift_region_view *regions;
	struct bytes commands;
};
struct drift_view {
	uint64_t read, rejected;
	struct drift_table_view *tables;
	size_t ntables;
};

static const struct form_member region_members[] = {
	{"start", FORM_KEY, IN(drift_region_view, start),
	 "first row key; empty if there is no "
	 "bound"},
	{"rows", FORM_COUNT, IN(drift_region_view, r.rows), "row keys of the events"},
	{"bytes", FORM_COUNT, IN(drift_region_view, r.bytes),
	 "predicted size of the files of these rows"},
	{"share", FORM_REAL, IN(drift_region_view, share), "share of the bytes of all regions"},
	{"live_bytes", FORM_COUNT, IN(drift_region_view, r.live_bytes),
	 "present size of the region's files; null if unknown", FORM_NULL_IF,
	 IF(drift_region_view, no_bytes)},
	{"live_requests", FORM_COUNT, IN(drift_region_view, r.live_requests),
	 "requests since the opening of the region; null if unknown", FORM_NULL_IF,
	 IF(drift_region_view, no_requests)},
	{"bytes_after", FORM_COUNT, IN(drift_region_view, bytes_after),
	 "size of the region after "
	 "the load"},
	{"bursts", FORM_FLAG, IN(drift_region_view, r.bursts),
	 "true if HBase will split the "
	 "region"},
	{"hot", FORM_FLAG, IN(drift_region_view, r.hot),
	 "true if the region gets much more than "
	 "the mean"},
	{"split_at", FORM_KEYS, IN(drift_region_view, split_at),
	 "split points to add before the load", COUNT_AT(drift_region_view, r.ncuts)},
	{"merge_with_next", FORM_FLAG, IN(drift_region_view, r.merge_next),
	 "true if this region and the next region are small together"},
};
static const struct form region_form = FORM(drift_region_view, region_members);

static const struct form_member table_members[] = {
	{"name", FORM_TEXT, IN(drift_table_view, name),
	 "name of the table, with its namespace if "
	 "the table has one"},
	{"rows", FORM_COUNT, IN(drift_table_view, t.rows), "row keys of the events"},
	{"bytes", FORM_COUNT, IN(drift_table_view, t.bytes),
	 "predicted size of the files of these rows"},
	{"max_filesize", FORM_COUNT, IN(drift_table_view, t.max_filesize),
	 "size at which HBase splits a region"},
	{"largest_over_mean", FORM_REAL, IN(drift_table_view, over_mean),
	 "bytes of the region with the most bytes, divided by the mean"},
	{"regions", FORM_LIST, IN(drift_table_view, regions), "existing regions, in order",
	 ITEMS(drift_table_view, region_form, t.nregions)},
	{"commands", FORM_BYTES, IN(drift_table_view, commands), "commands for `hbase shell`"},
};
static const struct form table_form = FORM(drift_table_view, table_members);

static const struct form_member drift_members[] = {
	{"read", FORM_COUNT, IN(drift_view, read), "events"},
	{"rejected", FORM_COUNT, IN(drift_view, rejected), "bad events, which the report ignores"},
	{"tables", FORM_LIST, IN(drift_view, tables), "tables with known regions",
	 ITEMS(drift_view, table_form, ntables)},
};
const struct form drift_form = NAMED_FORM(drift_view, drift_members, "drift", "drift --json");

static struct drift_region_view drift_region_view(const struct drift_table *t, size_t i)
{
	const struct drift_region *r = &t->regions[i];

	return (struct drift_region_view){.start = i ? t->live->splits.keys[i - 1]
						     : (struct bytes){0},
					  .r = *r,
					  .share = share(t, r),
					  .no_bytes = r->live_bytes == EXISTING_UNKNOWN,
					  .no_requests = r->live_requests == EXISTING_UNKNOWN,
					  .bytes_after = after(r),
					  .split_at = r->ncuts ? t->cuts.keys + r->cuts_at : NULL};
}

static struct drift_table_view drift_table_view(const struct drift_table *t, struct arena *a)
{
	struct buf script = {0};
	struct drift_table_view v = {.name = t->schema->name,
				     .t = *t,
				     .over_mean = drift_over_mean(t),
				     .regions = arena_alloc(a, t->nregions * sizeof *v.regions)};

	for (size_t i = 0; i < t->nregions; i++)
		v.regions[i] = drift_region_view(t, i);
	put_splits(&script, t);
	put_merges(&script, t);
	v.commands = bytes_of(arena_strndup(a, (const char *)script.ptr, script.len), script.len);
	buf_release(&script);
	return v;
}

void drift_report_json(struct buf *out, const struct drift *d)
{
	struct arena a = {0};
	struct drift_view v = {.read = d->events,
			       .rejected = d->rejected,
			       .tables = arena_alloc(&a, d->ntables * sizeof *v.tables)};

	for (size_t t = 0; t < d->ntables; t++)
		if (d->tables[t].live)
			v.tables[v.ntables++] = drift_table_view(&d->tables[t], &a);
	form_put(out, &drift_form, &v, FORM_REPORT);
	arena_release(&a);
}

void drift_report_script(struct buf *out, const struct drift *d)
{
	for (size_t t = 0; t < d->ntables; t++)
		if (d->tables[t].live)
			put_table(out, &d->tables[t]);
	buf_append_str(out, "exit\n");
}
