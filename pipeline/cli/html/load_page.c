/* load_page.c - writes the page of a published load (pages.h) */
#include <stdio.h>
#include <string.h>

#include "examples.h"
#include "heavy.h"
#include "html.h"
#include "pages.h"
#include "page_parts.h"

#define TIMED_EXTENTS 600

struct load_page {
	struct buf *out;
	const char *dir;
	struct progress *progress;
	struct manifest m;
	struct examples examples;
	struct extras extras;
	struct extents *at; /* [m.ntables] */
	struct heavy_keys *heavy;
	struct arena arena;
};

static void add(struct load_page *p, const char *text)
{
	buf_append_str(p->out, text);
}

static void text(struct load_page *p, const char *s)
{
	html_text(p->out, bytes_str(s));
}

/* --- summary --- */

/* Returns true if read = loaded + rejected + filtered + deduplicated in each table. */
static bool all_accounted(const struct manifest *m)
{
	for (size_t i = 0; i < m->ntables; i++) {
		const struct manifest_table *t = &m->tables[i];

		if (m->read != t->loaded + m->rejected + t->filtered + t->deduplicated)
			return false;
	}
	return true;
}

static void say_arrived(struct load_page *p)
{
	const struct manifest *m = &p->m;

	if (!all_accounted(m)) {
		part_verdict(p->out, "bad", "Events");
		add(p, "The counts do not add up, so saltmill did not publish this load.");
		part_verdict_end(p->out);
		return;
	}
	part_verdict(p->out, m->rejected ? "warn" : "good", m->rejected ? "Rejected" : "Complete");
	html_count(p->out, m->read);
	add(p, " events were read. saltmill loaded, filtered, overwrote or rejected each event");
	if (m->rejected) {
		add(p, " (");
		html_count(p->out, m->rejected);
		add(p, "; see below for the reasons)");
	}
	add(p, ".");
	part_verdict_end(p->out);
}

static void say_hidden(struct load_page *p, const struct manifest_table *t)
{
	if (!t->deduplicated)
		return;
	bool many = t->deduplicated * 100 > p->m.read;
	part_verdict(p->out, many ? "warn" : "good", "Duplicates");
	html_count(p->out, t->deduplicated);
	add(p, " events of ");
	html_code(p->out, t->name);
	add(p,
	    " have the same row key, columns and timestamp as other events, which overwrite them.");
	part_verdict_end(p->out);
}

static void heavy_name(struct load_page *p, const struct heavy_key *k,
		       const struct manifest_table *t)
{
	struct buf name = {0};

	heavy_key_name(&name, k, t);
	add(p, "<code>");
	html_text(p->out, buf_bytes(&name));
	add(p, "</code>");
	buf_release(&name);
}

static void say_heavy(struct load_page *p, size_t table)
{
	const struct manifest_table *t = &p->m.tables[table];
	const struct heavy_keys *h = &p->heavy[table];

	if (!h->n)
		return;
	part_verdict(p->out, "warn", "Heavy keys");
	html_code(p->out, t->name);
	buf_printf(p->out, ": %s ", h->item->part == HEAVY_ROW ? "row" : "rows with");
	heavy_name(p, h->item, t);
	buf_printf(p->out, " %s %.1f %% of the bytes, more than %s",
		   h->item->part == HEAVY_ROW ? "has" : "have",
		   100 * (double)h->item->at_least / (double)p->at[table].bytes,
		   heavy_key_is_bucket(h->item, t) ? "twice a bucket's share"
						   : "a region should have");
	if (h->n > 1) {
		add(p, "; ");
		html_count(p->out, h->n - 1);
		add(p, " more below");
	}
	add(p, ".");
	part_verdict_end(p->out);
}

/* Returns true if the load has files for HBase. */
static bool has_files(const struct manifest *m)
{
	size_t files = 0;

	for (size_t i = 0; i < m->ntables; i++)
		files += m->tables[i].nfiles;
	return files > 0;
}

static void commands(struct load_page *p)
{
	add(p, "<h2>Next steps</h2>\n");
	if (p->m.rejected)
		add(p, "<p>Fix the rejected events, then load them. <code>rejects.jsonl</code> "
		       "contains these events unchanged.</p>\n");
	for (size_t i = 0; i < p->m.ntables; i++)
		if (p->m.tables[i].largest_over_target > FAIR) {
			add(p, "<p>The regions of ");
			html_code(p->out, p->m.tables[i].name);
			add(p,
			    " are uneven. Before you create the table, load again with "
			    "<code>regions: "
			    "{split: sampled}</code>, or check the heavy keys with <code>saltmill "
			    "plan</code>.</p>\n");
		}
	if (!has_files(&p->m)) {
		add(p, "<p>Nothing: no table has rows.</p>\n");
		return;
	}
	add(p, "<p>Load the files into HBase. Run the script of each table that does not "
	       "exist yet, then load its files.</p>\n<pre class=\"run\"><code>");
	for (size_t i = 0; i < p->m.ntables; i++)
		part_bulk_load(p->out, p->dir, p->m.tables[i].name, true);
	add(p, "</code></pre>\n<p>Or do everything with one command, without a "
	       "JVM:</p>\n<pre class=\"run\"><code>saltmill apply ");
	part_shell_word(p->out, p->dir, "");
	add(p, " --hbase HOST --create\n</code></pre>\n");
}

static void overview(struct load_page *p)
{
	add(p, "<h1>Load ");
	text(p, p->dir);
	add(p, "</h1>\n<p><small>Table");
	for (size_t i = 0; i < p->m.ntables; i++) {
		add(p, i ? ", " : p->m.ntables > 1 ? "s " : " ");
		html_code(p->out, p->m.tables[i].name);
	}
	add(p, " by job ");
	html_code(p->out, p->m.job_path);
	add(p, "</small></p>\n<ul class=\"verdict\">\n");
	say_arrived(p);
	for (size_t i = 0; i < p->m.ntables; i++) {
		const struct manifest_table *t = &p->m.tables[i];

		part_balance(p->out, t->name, t->nregions, t->largest_over_target, t->target_bytes,
			     "has");
		say_heavy(p, i);
		say_hidden(p, t);
	}
	part_findings_verdict(p->out, &p->extras);
	add(p, "</ul>\n");
}

/* --- tables --- */

static void events(struct load_page *p)
{
	add(p, "<h2>Events</h2>\n");
	html_table(p->out, "events of each table",
		   "table|#read|#loaded|#rejected|#filtered|#deduplicated|#rows|#cells");
	for (size_t i = 0; i < p->m.ntables; i++) {
		const struct manifest_table *t = &p->m.tables[i];

		add(p, "<tr>");
		html_code_cell(p->out, t->name);
		html_count_cell(p->out, p->m.read);
		html_count_cell(p->out, t->loaded);
		html_count_cell(p->out, p->m.rejected);
		html_count_cell(p->out, t->filtered);
		html_count_cell(p->out, t->deduplicated);
		html_count_cell(p->out, t->rows);
		html_count_cell(p->out, t->cells);
		add(p, "</tr>\n");
	}
	html_table_end(p->out);
	add(p, "<p><small>Rejected: invalid, with a reason. Filtered: a condition excluded "
	       "the event, or it has no cell. Deduplicated: overwritten by another "
	       "event.</small></p>\n");
}

static void regions(struct load_page *p, const struct manifest_table *t)
{
	struct region_bar *r = arena_alloc(&p->arena, (t->nregions + 1) * sizeof *r);

	for (size_t i = 0; i < t->nregions; i++) {
		const struct manifest_region *from = &t->regions[i];

		r[i] = (struct region_bar){from->start, from->rows, from->bytes,
					   from->predicted_bytes};
	}
	part_regions(p->out, r, t->nregions, t->target_bytes, true);
}

static void family_row(struct load_page *p, const struct manifest_table *t, const char *name,
		       uint64_t all)
{
	uint64_t rows = 0, cells = 0, bytes = 0, files = 0;

	for (size_t k = 0; k < t->nfiles; k++) {
		const struct manifest_file *f = &t->files[k];
		bool of = strcmp(f->family, name) == 0;

		rows += of ? f->rows : 0;
		cells += of ? f->cells : 0;
		bytes += of ? f->bytes : 0;
		files += of;
	}
	add(p, "<tr>");
	html_code_cell(p->out, name);
	html_count_cell(p->out, rows);
	html_count_cell(p->out, cells);
	html_bytes_cell(p->out, bytes);
	html_real_cell(p->out, 1, all ? 100 * (double)bytes / (double)all : 0, " %");
	html_count_cell(p->out, files);
	add(p, "</tr>\n");
}

static void families(struct load_page *p, const struct manifest_table *t)
{
	uint64_t largest;

	if (t->nfamilies < 2)
		return;
	add(p, "<h3>Families</h3>\n");
	html_table(p->out, "families", "family|#rows|#cells|#bytes|#of all|#files");
	for (size_t i = 0; i < t->nfamilies; i++)
		family_row(p, t, t->families[i].name, manifest_region_bytes(t, &largest));
	html_table_end(p->out);
	add(p, "<p><small>HBase flushes and splits families together. A family that is much "
	       "smaller than the others makes many small files.</small></p>\n");
}

static void times(struct load_page *p, const struct extents *at)
{
	char said[200];

	add(p, "<h3>When</h3>\n");
	part_figure(p->out);
	chart_times(p->out, at);
	snprintf(said, sizeof said,
		 "Bytes by cell timestamp (UTC), from the first cell of %zu places in the files.",
		 at->timed);
	part_figure_end(p->out, said);
	add(p, "<h3>Key space and time</h3>\n");
	part_figure(p->out);
	chart_times_of_keys(p->out, at);
	part_figure_end(
		p->out,
		"The same places by key (first to last) and time. If the dots are evenly "
		"distributed, new events go to all regions. If they form a slope or a cluster, new "
		"events go to few regions.");
}

static void heavy(struct load_page *p, size_t table)
{
	const struct manifest_table *t = &p->m.tables[table];
	const struct heavy_keys *h = &p->heavy[table];
	double all = (double)p->at[table].bytes;

	add(p, "<h3>Heavy keys</h3>\n");
	if (!h->n) {
		add(p, "<p>None: no row and no key prefix is larger than the target of a "
		       "region.</p>\n");
		return;
	}
	html_table(p->out, "heavy keys", "key|of|#bytes at least|#at most|#of all|#of the target");
	for (size_t i = 0; i < h->n; i++) {
		const struct heavy_key *k = &h->item[i];

		add(p, "<tr><td>");
		heavy_name(p, k, t);
		add(p, k->part == HEAVY_ROW ? "</td><td>a row</td>"
					    : "</td><td>rows with this prefix</td>");
		html_bytes_cell(p->out, k->at_least);
		html_bytes_cell(p->out, k->at_most);
		html_real_cell(p->out, 1, all > 0 ? 100 * (double)k->at_least / all : 0, " %");
		html_real_cell(p->out, 2,
			       t->target_bytes ? (double)k->at_least / (double)t->target_bytes : 0,
			       "");
		add(p, "</tr>\n");
	}
	html_table_end(p->out);
	add(p, "<p><small>Measured in blocks of the files; some blocks also contain other keys. "
	       "HBase cannot split a row. Compute the salt from more fields of the key, or use a "
	       "longer key. HBase can split rows with the same prefix after the "
	       "prefix.</small></p>\n");
}

static void pictures(struct load_page *p, const struct manifest_table *t, const struct extents *at)
{
	part_keys(p->out, at);
	if (at->timed > 1)
		times(p, at);
	if (t->nregions < 2)
		return;
	add(p, "<h3>Other split algorithms</h3>\n");
	html_table(p->out, "other split algorithms",
		   "split keys of|#bytes in the largest region|#empty regions");
	chart_rivals(p->out, t, at);
	html_table_end(p->out);
	add(p, "<p><small>These algorithms divide the same bytes into the same number of regions. "
	       "The precision is one entry of the files' indexes.</small></p>\n");
}

static void table(struct load_page *p, size_t table)
{
	const struct manifest_table *t = &p->m.tables[table];

	add(p, "<h2>Table ");
	text(p, t->name);
	add(p, "</h2>\n");
	regions(p, t);
	heavy(p, table);
	families(p, t);
	pictures(p, t, &p->at[table]);
}

/* Reads the distribution of the bytes of all tables. */
static int look(struct load_page *p, struct error *err)
{
	size_t files = 0, n = p->m.ntables;
	int rc = RC_OK;

	for (size_t i = 0; i < n; i++)
		files += p->m.tables[i].nfiles;
	progress_begin(p->progress, "reading", PROGRESS_FILES, files);
	p->at = arena_alloc(&p->arena, (n + 1) * sizeof *p->at);
	p->heavy = arena_alloc(&p->arena, (n + 1) * sizeof *p->heavy);
	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		rc = extents_read(&p->at[i], p->dir, &p->m.tables[i], TIMED_EXTENTS, p->progress,
				  &p->arena, err);
		if (rc == RC_OK)
			heavy_keys_find(&p->heavy[i], &p->at[i], &p->m.tables[i], &p->arena);
	}
	return rc;
}

/* --- rejected events and inputs --- */

static void examples_of(struct load_page *p, const char *reason)
{
	for (size_t i = 0; i < p->examples.n; i++) {
		const struct example *e = &p->examples.item[i];

		if (strcmp(e->reason, reason) != 0)
			continue;
		add(p, "<br>");
		html_code(p->out, e->place);
		add(p, " ");
		text(p, e->detail);
		if (e->raw.len) {
			add(p, "<br><code>");
			html_text(p->out,
				  bytes_of(e->raw.ptr, e->raw.len < 200 ? e->raw.len : 200));
			add(p, e->raw.len > 200 ? "...</code>" : "</code>");
		}
	}
}

static void rejects(struct load_page *p)
{
	if (!p->m.nreasons)
		return;
	add(p, "<h2>Rejected</h2>\n");
	html_table(p->out, "rejected events by reason", "#events|reason and first examples");
	for (size_t i = 0; i < p->m.nreasons; i++) {
		add(p, "<tr>");
		html_count_cell(p->out, p->m.reasons[i].count);
		add(p, "<td><b>");
		text(p, p->m.reasons[i].reason);
		add(p, "</b>");
		examples_of(p, p->m.reasons[i].reason);
		add(p, "</td></tr>\n");
	}
	html_table_end(p->out);
	add(p, "<p><small><code>rejects.jsonl</code> contains all rejected events.</small></p>\n");
}

static void inputs(struct load_page *p)
{
	add(p, "<h2>Inputs</h2>\n");
	html_table(p->out, "inputs", "input|#events|#bytes");
	for (size_t i = 0; i < p->m.ninputs && i < LISTED; i++) {
		add(p, "<tr>");
		html_code_cell(p->out, p->m.inputs[i].path);
		html_count_cell(p->out, p->m.inputs[i].rows);
		html_bytes_cell(p->out, p->m.inputs[i].bytes);
		add(p, "</tr>\n");
	}
	for (size_t i = 0; i < p->m.noffsets && i < LISTED; i++) {
		const struct offset_range *o = &p->m.offsets[i];
		const char *topic = o->topic ? o->topic : p->m.topic;

		add(p, "<tr><td><code>");
		text(p, topic ? topic : "");
		buf_printf(p->out, " [%d]</code> from offset %lld</td>", (int)o->partition,
			   (long long)o->start);
		html_count_cell(p->out, (uint64_t)o->events);
		add(p, "<td></td></tr>\n");
	}
	html_table_end(p->out);
	if (p->m.ninputs > LISTED || p->m.noffsets > LISTED)
		add(p, "<p><small>The table lists only the first inputs; "
		       "<code>manifest.json</code> lists all.</small></p>\n");
}

int page_load(struct buf *out, const char *dir, const struct page_files *f, struct error *err)
{
	struct load_page p = {.out = out, .dir = dir, .progress = f->progress};
	char *path = mem_format("%s/manifest.json", dir), *title = NULL;
	int rc = manifest_read(&p.m, path, &p.arena, err);

	if (rc == RC_OK)
		rc = examples_read(&p.examples, dir, &p.m, &p.arena, err);
	if (rc == RC_OK)
		rc = extras_read(&p.extras, f, &p.m, &p.arena, err);
	if (rc == RC_OK)
		rc = look(&p, err);
	if (rc == RC_OK) {
		title = mem_format("saltmill: load %s", dir);
		html_begin(out, title);
		overview(&p);
		commands(&p);
		events(&p);
	}
	if (rc == RC_OK) {
		for (size_t i = 0; i < p.m.ntables; i++)
			table(&p, i);
		rejects(&p);
		part_findings(out, &p.extras);
		part_timings(out, &p.extras, p.m.read);
		inputs(&p);
		html_end(out);
	}
	for (size_t i = 0; p.at && i < p.m.ntables; i++)
		extents_release(&p.at[i]);
	mem_free(title);
	mem_free(path);
	arena_release(&p.arena);
	return rc;
}
