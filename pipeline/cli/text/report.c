#include "cli/reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bar.h"
#include "cli/report_views.h"
#include "clock.h"
#include "mem.h"

#define BAR_WIDTH 40
#define BARS_MOST 48 /* largest number of regions of which the report prints all */

char *format_count(char *text, uint64_t n)
{
	char plain[24];
	int len = snprintf(plain, sizeof plain, "%llu", (unsigned long long)n), k = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text[k++] = ',';
		text[k++] = plain[i];
	}
	text[k] = 0;
	return text;
}

/* --- summary --- */

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void put_region(struct buf *out, size_t region, const struct manifest_region *r,
		       uint64_t largest)
{
	char rows[28], bytes[16], start[28];
	struct buf key = {0};

	bytes_escape(&key, r->start);
	snprintf(start, sizeof start, "%.*s", (int)key.len, key.ptr ? (const char *)key.ptr : "");
	if (key.len >= sizeof start)
		memcpy(start + sizeof start - 4, "...", 4);
	buf_release(&key);
	buf_printf(out, "  %4zu  %-27s %13s rows  %8s  ", region, start,
		   format_count(rows, r->rows), format_bytes(bytes, r->bytes));
	put_share_bar(out, largest ? (double)r->bytes / (double)largest : 0, BAR_WIDTH);
	buf_put(out, '\n');
}

static int by_bytes(const void *a, const void *b)
{
	const struct manifest_region *x = *(const struct manifest_region *const *)a;
	const struct manifest_region *y = *(const struct manifest_region *const *)b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static void put_extremes(struct buf *out, const struct manifest_table *t)
{
	const struct manifest_region **order = mem_alloc(t->nregions * sizeof *order);

	for (size_t i = 0; i < t->nregions; i++)
		order[i] = &t->regions[i];
	qsort(order, t->nregions, sizeof *order, by_bytes);
	static const char *const what[] = {"largest", "middle", "smallest"};
	const size_t at[] = {0, t->nregions / 2, t->nregions - 1};
	for (int i = 0; i < 3; i++) {
		buf_printf(out, "  %s:\n", what[i]);
		put_region(out, (size_t)(order[at[i]] - t->regions), order[at[i]], order[0]->bytes);
	}
	mem_free(order);
}

static void put_tuning(struct buf *out, const struct manifest_tuning *t)
{
	buf_printf(out, "  family %s: ZSTD level %lld", t->family, (long long)t->level);
	if (t->hash_log)
		buf_printf(out, ", hash log %zu", t->hash_log);
	if (t->min_match)
		buf_printf(out, ", ready-made sequences from %zu bytes", t->min_match);
	if (t->encoding)
		buf_printf(out, ", %s", t->encoding);
	if (t->block_bytes)
		buf_printf(out, ", blocks of %zu KB", t->block_bytes >> 10);
	if (!t->plain_bytes) {
		buf_printf(out, ", for %s, chosen without a sample\n", t->aim);
		return;
	}
	buf_printf(out, ", best for %s: %.1f%% of the cells' bytes", t->aim,
		   100 * (double)t->stored_bytes / (double)t->plain_bytes);
	if (t->usual_bytes)
		buf_printf(out, "; ZSTD level 3 alone: %.1f%%",
			   100 * (double)t->usual_bytes / (double)t->plain_bytes);
	buf_put(out, '\n');
}

/* Compares the prediction of the sample with the written files. */
static void put_prediction(struct buf *out, const struct manifest_table *t, uint64_t bytes)
{
	char a[16], b[16];
	double worst = 0;

	for (size_t i = 0; i < t->nregions; i++) {
		const struct manifest_region *r = &t->regions[i];
		double off = (double)r->predicted_bytes - (double)r->bytes;

		off = r->bytes ? 100 * (off < 0 ? -off : off) / (double)r->bytes : 0;
		worst = off > worst ? off : worst;
	}
	buf_printf(out, "  predicted %s, achieved %s; regions within %.1f%% of their prediction\n",
		   format_bytes(a, t->predicted_bytes), format_bytes(b, bytes), worst);
}

static void put_table(struct buf *out, const struct manifest_table *t, const struct load_promise *p)
{
	char a[28], b[28], c[16], d[28], e[28];
	uint64_t largest, bytes = manifest_region_bytes(t, &largest);

	buf_printf(out, "table %s: %s row%s, %s cells, %s in %s file%s, %s region%s\n", t->name,
		   format_count(a, t->rows), plural(t->rows), format_count(b, t->cells),
		   format_bytes(c, bytes), format_count(d, t->nfiles), plural(t->nfiles),
		   format_count(e, t->nregions), plural(t->nregions));
	buf_printf(out, "  loaded %s", format_count(a, t->loaded));
	if (t->filtered)
		buf_printf(out, ", filtered %s", format_count(a, t->filtered));
	if (t->deduplicated)
		buf_printf(out, ", deduplicated %s", format_count(a, t->deduplicated));
	if (t->cells_deduplicated)
		buf_printf(out, " (%s cells overwritten by duplicates)",
			   format_count(d, t->cells_deduplicated));
	buf_printf(out, "\n");
	for (size_t i = 0; i < t->ntuned; i++)
		put_tuning(out, &t->tuned[i]);
	if (t->nregions > BARS_MOST)
		put_extremes(out, t);
	for (size_t i = 0; t->nregions <= BARS_MOST && i < t->nregions; i++)
		put_region(out, i, &t->regions[i], largest);
	if (bytes && t->nregions > 1)
		buf_printf(out, "  largest region is %.2f times the target of %s%s\n",
			   t->largest_over_target, format_bytes(c, t->target_bytes),
			   p->broken ? ": TOLERANCE EXCEEDED" : "");
	if (bytes)
		put_prediction(out, t, bytes);
	if (p->broken)
		buf_printf(out,
			   "  the job allows %g times the target (`tolerance` in `regions:`)\n",
			   p->tolerance);
}

static double total_seconds(const struct load_result *r)
{
	double s = 0;

	for (int i = 0; i < PHASES; i++)
		s += r->seconds[i];
	return s;
}

static size_t count_topics(const struct manifest *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->noffsets; i++)
		n += i == 0 || place_order(m->offsets[i].topic, 0, m->offsets[i - 1].topic, 0) != 0;
	return n;
}

/* Prints the counts of a table. Each event counts exactly once. */
static void put_sum(struct buf *out, const struct manifest_table *t, const struct manifest *m)
{
	char read[28], loaded[28], rejected[28], filtered[28], hidden[28];

	buf_printf(out, "%s: read %s = loaded %s + rejected %s + filtered %s + deduplicated %s\n",
		   t->name, format_count(read, m->read), format_count(loaded, t->loaded),
		   format_count(rejected, m->rejected), format_count(filtered, t->filtered),
		   format_count(hidden, t->deduplicated));
}

/*
 * Prints how many lines belong to events outside of the load. A stray quote can merge many lines
 * into one event.
 */
static void put_more_lines(struct buf *out, const struct manifest *m)
{
	char a[28], b[28];

	if (m->rejected_lines + m->filtered_lines == 0)
		return;
	buf_printf(out,
		   "events of several lines: %s more line%s inside rejected events, %s inside "
		   "filtered events; if these lines are events, remove the stray quote before "
		   "them\n",
		   format_count(a, m->rejected_lines), plural(m->rejected_lines),
		   format_count(b, m->filtered_lines));
}

void report_text(struct buf *out, const struct load_result *r, const char *output_dir)
{
	const struct manifest *m = &r->manifest;
	char a[28], b[28], c[16];
	uint64_t in = 0;

	for (size_t i = 0; i < m->ninputs; i++)
		in += m->inputs[i].bytes;
	buf_printf(out, "read %s events", format_count(a, m->read));
	if (m->topic)
		buf_printf(out, " from %zu partition%s of topic %s", m->noffsets,
			   plural(m->noffsets), m->topic);
	else if (manifest_is_of_topics(m))
		buf_printf(out, " from %zu partition%s of %zu topic%s", m->noffsets,
			   plural(m->noffsets), count_topics(m), plural(count_topics(m)));
	else
		buf_printf(out, " (%s) from %zu input%s", format_bytes(c, in), m->ninputs,
			   plural(m->ninputs));
	if (r->blank_lines)
		buf_printf(out, ", %s blank lines", format_count(b, r->blank_lines));
	buf_printf(out, "\n");
	for (size_t i = 0; i < m->ntables; i++) {
		put_table(out, &m->tables[i], &r->promises[i]);
		if (!r->hidden_cells || !r->hidden_cells[i])
			continue;
		text_visible(out, bytes_str(r->hidden_cells[i]));
		buf_append_str(out, "\n");
	}
	if (m->joined)
		buf_printf(out, "joined %zu loads; a row of several loads counts in each of them\n",
			   m->joined);
	buf_printf(out, "rejected %s%s", format_count(a, m->rejected), m->rejected ? ":" : "\n");
	for (size_t i = 0; i < m->nreasons; i++)
		buf_printf(out, " %s %s%s", format_count(a, m->reasons[i].count),
			   m->reasons[i].reason,
			   i + 1 < m->nreasons ? "," : "; see rejects.jsonl\n");
	put_more_lines(out, m);
	for (size_t i = 0; i < m->ntables; i++)
		put_sum(out, &m->tables[i], m);
	double all = total_seconds(r);
	buf_printf(out, "%.2f s (read %.2f, splits %.2f, write %.2f, publish %.2f), %s events/s",
		   all, r->seconds[PHASE_OPEN] + r->seconds[PHASE_READ], r->seconds[PHASE_SPLIT],
		   r->seconds[PHASE_WRITE], r->seconds[PHASE_PUBLISH],
		   format_count(a, all > 0 ? (uint64_t)((double)m->read / all) : 0));
	if (r->spilled_bytes)
		buf_printf(out, ", %s spilled", format_bytes(c, r->spilled_bytes));
	buf_append_str(out, "\npublished as ");
	text_visible(out, bytes_str(output_dir));
	buf_put(out, '\n');
}

/* --- JSON --- */

static const struct form_member table_members[] = {
	{"name", FORM_TEXT, IN(load_report_table, t.name),
	 "name of the table, with its namespace "
	 "if the table has one"},
	{"rows", FORM_COUNT, IN(load_report_table, t.rows), "row keys"},
	{"cells", FORM_COUNT, IN(load_report_table, t.cells), "stored cells"},
	{"loaded", FORM_COUNT, IN(load_report_table, t.loaded), "events that became cells"},
	{"filtered", FORM_COUNT, IN(load_report_table, t.filtered),
	 "events without a cell for this table"},
	{"deduplicated", FORM_COUNT, IN(load_report_table, t.deduplicated),
	 "events that other events overwrite"},
	{"files", FORM_SIZE, IN(load_report_table, t.nfiles), "number of HFiles"},
	{"regions", FORM_SIZE, IN(load_report_table, t.nregions), "number of regions"},
	{"predicted_bytes", FORM_COUNT, IN(load_report_table, t.predicted_bytes),
	 "size of all files, predicted from a sample"},
	{"target_bytes", FORM_COUNT, IN(load_report_table, t.target_bytes),
	 "size that a region should have"},
	{"largest_over_target", FORM_RATIO, IN(load_report_table, t.largest_over_target),
	 "size of the largest region divided by target_bytes"},
	{"promise_kept", FORM_FLAG, IN(load_report_table, promise_kept),
	 "true if the largest region is within the job's tolerance"},
};
static const struct form table_form = FORM(load_report_table, table_members);

static const struct form_member seconds_members[] = {
	{"total", FORM_REAL, IN(load_report_seconds, total), "all phases"},
	{"read", FORM_REAL, IN(load_report_seconds, read), "reading and sorting"},
	{"splits", FORM_REAL, IN(load_report_seconds, splits), "choosing split points"},
	{"write", FORM_REAL, IN(load_report_seconds, write), "writing files"},
	{"publish", FORM_REAL, IN(load_report_seconds, publish), "syncing and publishing"},
};
static const struct form seconds_form = FORM(load_report_seconds, seconds_members);

static const struct form_member load_members[] = {
	{"output", FORM_TEXT, IN(load_report_load, output), "the published folder"},
	{"read", FORM_COUNT, IN(load_report_load, read), "events"},
	{"rejected", FORM_COUNT, IN(load_report_load, rejected), "bad events, in rejects.jsonl"},
	{"rejected_lines", FORM_COUNT, IN(load_report_load, rejected_lines),
	 "line ends inside rejected events", FORM_IF_ANY},
	{"filtered_lines", FORM_COUNT, IN(load_report_load, filtered_lines),
	 "line ends inside filtered events", FORM_IF_ANY},
	{"tables", FORM_LIST, IN(load_report_load, tables), "tables, in the order of the job",
	 ITEMS(load_report_load, table_form, ntables)},
	{"spilled_bytes", FORM_COUNT, IN(load_report_load, spilled_bytes),
	 "bytes in temporary files, because memory was full"},
	{"seconds", FORM_PART, IN(load_report_load, seconds), "duration of the phases",
	 .items = &seconds_form},
};
const struct form load_form = NAMED_FORM(load_report_load, load_members, "load",
					 "`load --json`, `unite --json` and "
					 "`replay --json`");

void report_json(struct buf *out, const struct load_result *r, const char *output_dir)
{
	const struct manifest *m = &r->manifest;
	struct arena a = {0};
	struct load_report_load v = {.output = output_dir,
				     .read = m->read,
				     .rejected = m->rejected,
				     .rejected_lines = m->rejected_lines,
				     .filtered_lines = m->filtered_lines,
				     .spilled_bytes = r->spilled_bytes,
				     .tables = arena_alloc(&a, m->ntables * sizeof *v.tables),
				     .ntables = m->ntables,
				     .seconds = {.total = total_seconds(r),
						 .read = r->seconds[PHASE_OPEN] +
							 r->seconds[PHASE_READ],
						 .splits = r->seconds[PHASE_SPLIT],
						 .write = r->seconds[PHASE_WRITE],
						 .publish = r->seconds[PHASE_PUBLISH]}};

	for (size_t i = 0; i < m->ntables; i++)
		v.tables[i] = (struct load_report_table){m->tables[i], !r->promises[i].broken};
	form_put(out, &load_form, &v, FORM_REPORT);
	arena_release(&a);
}

/* Prints a warning on one line, even if a file name contains line feeds. */
static void put_warning(struct buf *out, const char *about, const char *what)
{
	buf_append_str(out, "warning: ");
	text_visible(out, bytes_str(about));
	buf_printf(out, "%s\n", what);
}

void report_collisions(struct buf *out, const struct load_result *r)
{
	for (size_t i = 0; r->collisions && i < r->manifest.ntables; i++)
		if (r->collisions[i])
			put_warning(out, r->collisions[i], "");
	for (size_t i = 0; r->lost_cells && i < r->manifest.ntables; i++)
		if (r->lost_cells[i])
			put_warning(out, r->lost_cells[i], "");
	if (r->finer_times)
		put_warning(out, r->finer_times, "");
}

void report_empty(struct buf *out, const struct load_result *r)
{
	for (size_t i = 0; i < r->manifest.ninputs; i++)
		if (r->manifest.inputs[i].rows == 0)
			put_warning(out, r->manifest.inputs[i].path, ": found no rows");
}

bool report_promises(struct buf *out, const struct load_result *r)
{
	bool kept = true;

	for (size_t i = 0; i < r->manifest.ntables; i++) {
		const struct manifest_table *t = &r->manifest.tables[i];

		if (!r->promises[i].broken)
			continue;
		kept = false;
		buf_printf(out,
			   "table %s: found a region of %.4f times the target, expected at most %g "
			   "(`tolerance`); the load is published\n",
			   t->name, t->largest_over_target, r->promises[i].tolerance);
	}
	return kept;
}

void report_ttl(struct buf *out, const struct table *t, size_t family, int64_t newest_ms)
{
	const struct family *f = &t->families[family];
	time_t newest = (time_t)(newest_ms / 1000), now = (time_t)(clock_wall_ms() / 1000);
	struct tm day;

	if (f->ttl_s == TTL_FOREVER || f->min_versions > 0 || now - newest <= f->ttl_s ||
	    !gmtime_r(&newest, &day))
		return;
	buf_printf(
		out,
		"warning: table %s, family %s: the newest cell is from %04d-%02d-%02d, older than "
		"the TTL of %d s, so HBase will show no cell\n",
		t->name, f->name, day.tm_year + 1900, day.tm_mon + 1, day.tm_mday, f->ttl_s);
}

void report_framing(struct buf *out, const struct table *t)
{
	for (size_t f = 0; f < t->nfamilies; f++) {
		if (t->families[f].codec != CODEC_ZSTD || t->families[f].framing_said)
			continue;
		buf_printf(
			out,
			"warning: table %s: found ZSTD without `framing:`, so the files have the "
			"framing of HBase's own codec (hbase.io.compress.zstd.codec = "
			"...zstd.ZstdCodec); a stock cluster and all of HBase 2.4 read only "
			"`compression: {codec: ZSTD, framing: hadoop}`; write `framing: hbase` to "
			"turn off this warning\n",
			t->name);
		return;
	}
}

void report_hidden(struct buf *out, const struct load_result *r, const struct job *job)
{
	for (size_t i = 0; i < r->manifest.ntables; i++) {
		const struct manifest_table *m = &r->manifest.tables[i];
		const struct table *t = &job->tables[i].schema;

		for (size_t f = 0; f < t->nfamilies; f++) {
			int64_t newest = INT64_MIN;

			for (size_t k = 0; k < m->nfiles; k++)
				if (!strcmp(m->files[k].family, t->families[f].name) &&
				    m->files[k].max_ts > newest)
					newest = m->files[k].max_ts;
			if (newest != INT64_MIN)
				report_ttl(out, t, f, newest);
		}
	}
}
