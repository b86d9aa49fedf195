/* page.c - one page of HTML about a published load (page.h) */
#include "page.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "charts.h"
#include "examples.h"
#include "html.h"

#define TIMED_EXTENTS 400
#define LISTED	      500 /* regions in a table; of more only the largest and smallest */
#define FAIR	      1.1 /* a largest region of up to so many times the target is balanced */

struct page {
	struct buf *out;
	const char *dir;
	struct manifest m;
	struct examples examples;
	struct arena arena;
};

static void add(struct page *p, const char *text)
{
	buf_append_str(p->out, text);
}

static void text(struct page *p, const char *s)
{
	html_text(p->out, bytes_str(s));
}

/* --- what a reader wants to know first --- */

static void verdict(struct page *p, const char *class, const char *word)
{
	buf_printf(p->out, "<li class=\"%s\"><b>%s</b> ", class, word);
}

/* read = loaded + rejected + filtered + deduplicated, in each table. */
static bool all_accounted(const struct manifest *m)
{
	for (size_t i = 0; i < m->ntables; i++) {
		const struct manifest_table *t = &m->tables[i];
		if (m->read != t->loaded + m->rejected + t->filtered + t->deduplicated)
			return false;
	}
	return true;
}

static void say_arrived(struct page *p)
{
	const struct manifest *m = &p->m;
	if (!all_accounted(m)) {
		verdict(p, "bad", "Events");
		add(p, "The sums do not meet: this is no load that saltmill published.</li>\n");
		return;
	}
	verdict(p, m->rejected ? "warn" : "good", m->rejected ? "Rejected" : "Complete");
	html_count(p->out, m->read);
	add(p, " events were read; each of them was loaded, filtered, hidden by another one, or "
	       "rejected");
	if (m->rejected) {
		add(p, " (");
		html_count(p->out, m->rejected);
		add(p, ", below with their reasons)");
	}
	add(p, ".</li>\n");
}

static void say_balanced(struct page *p, const struct manifest_table *t)
{
	bool fair = t->largest_over_target <= FAIR;
	verdict(p, fair ? "good" : "warn", fair ? "Balanced" : "Uneven");
	add(p, "<code>");
	text(p, t->name);
	buf_printf(p->out, "</code>: %zu regions; the largest has %.2f times the target of ",
		   t->nregions, t->largest_over_target);
	html_bytes(p->out, t->target_bytes);
	add(p, ".</li>\n");
}

static void say_hidden(struct page *p, const struct manifest_table *t)
{
	if (!t->deduplicated)
		return;
	bool many = t->deduplicated * 100 > p->m.read;
	verdict(p, many ? "warn" : "good", "Duplicates");
	html_count(p->out, t->deduplicated);
	add(p, " events of <code>");
	text(p, t->name);
	add(p, "</code> are hidden by others of the same row key, columns and timestamp.</li>\n");
}

/* A word of a shell's command, whatever is in it. */
static void shell_word(struct page *p, const char *word, const char *behind)
{
	struct buf quoted = {0};
	size_t plain = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=:,./@%");
	bool bare = word[0] && !word[plain];
	buf_append_str(&quoted, bare ? "" : "'");
	for (const char *c = word; *c; c++)
		if (*c == '\'')
			buf_append_str(&quoted, "'\\''");
		else
			buf_append(&quoted, c, 1);
	buf_printf(&quoted, "%s%s", behind, bare ? "" : "'");
	html_text(p->out, buf_bytes(&quoted));
	buf_release(&quoted);
}

static void commands(struct page *p)
{
	add(p, "<h2>What needs doing</h2>\n<p>In the folder of the load, for each table that is "
	       "not there yet its script, then its files:</p>\n<pre>");
	for (size_t i = 0; i < p->m.ntables; i++) {
		const struct manifest_table *t = &p->m.tables[i];
		char *folder = table_dir(p->dir, t->name);
		add(p, "hbase shell -n ");
		shell_word(p, folder, "/create.rb");
		add(p, "\nhbase completebulkload ");
		shell_word(p, folder, "/hfiles");
		add(p, " ");
		shell_word(p, t->name, "");
		add(p, "\n");
		mem_free(folder);
	}
	add(p, "</pre>\n");
}

static void overview(struct page *p)
{
	add(p, "<h1>Load ");
	text(p, p->dir);
	add(p, "</h1>\n<p><small>job <code>");
	text(p, p->m.job_path);
	add(p, "</code></small></p>\n<ul class=\"verdict\">\n");
	say_arrived(p);
	for (size_t i = 0; i < p->m.ntables; i++) {
		say_balanced(p, &p->m.tables[i]);
		say_hidden(p, &p->m.tables[i]);
	}
	add(p, "</ul>\n");
}

/* --- a table --- */

static void count_cell(struct page *p, uint64_t n)
{
	add(p, "<td class=\"n\">");
	html_count(p->out, n);
	add(p, "</td>");
}

static void bytes_cell(struct page *p, uint64_t n)
{
	add(p, "<td class=\"n\">");
	html_bytes(p->out, n);
	add(p, "</td>");
}

static void events(struct page *p)
{
	add(p, "<h2>Events</h2>\n<table><tr><th>table</th><th class=\"n\">read</th><th "
	       "class=\"n\">loaded</th><th class=\"n\">rejected</th><th class=\"n\">filtered</th>"
	       "<th class=\"n\">deduplicated</th><th class=\"n\">rows</th><th "
	       "class=\"n\">cells</th></tr>\n");
	for (size_t i = 0; i < p->m.ntables; i++) {
		const struct manifest_table *t = &p->m.tables[i];
		add(p, "<tr><td><code>");
		text(p, t->name);
		add(p, "</code></td>");
		count_cell(p, p->m.read);
		count_cell(p, t->loaded);
		count_cell(p, p->m.rejected);
		count_cell(p, t->filtered);
		count_cell(p, t->deduplicated);
		count_cell(p, t->rows);
		count_cell(p, t->cells);
		add(p, "</tr>\n");
	}
	add(p, "</table>\n<p><small>Rejected: bad, with a reason. Filtered: gave the table nothing "
	       "(a condition, no cell). Deduplicated: hidden by another event.</small></p>\n");
}

static void region_row(struct page *p, const struct manifest_table *t, size_t i)
{
	const struct manifest_region *r = &t->regions[i];
	buf_printf(p->out, "<tr><td class=\"n\">%zu</td><td><code>", i);
	html_key(p->out, r->start, 60);
	add(p, "</code></td>");
	count_cell(p, r->rows);
	bytes_cell(p, r->bytes);
	bytes_cell(p, r->predicted_bytes);
	buf_printf(p->out, "<td class=\"n\">%.3f</td></tr>\n",
		   t->target_bytes ? (double)r->bytes / (double)t->target_bytes : 0);
}

static void region_table(struct page *p, const struct manifest_table *t)
{
	size_t step = t->nregions > LISTED ? (t->nregions + LISTED - 1) / LISTED : 1;
	buf_printf(p->out, "<details><summary>%s</summary>\n",
		   step > 1 ? "some regions, evenly taken" : "all regions");
	add(p, "<table><tr><th class=\"n\">region</th><th>first key</th><th class=\"n\">rows</th>"
	       "<th class=\"n\">bytes</th><th class=\"n\">predicted</th><th class=\"n\">of the "
	       "target</th></tr>\n");
	for (size_t i = 0; i < t->nregions; i += step)
		region_row(p, t, i);
	add(p, "</table></details>\n");
}

static void figure(struct page *p, const char *caption)
{
	add(p, "<figcaption>");
	add(p, caption);
	add(p, "</figcaption></figure>\n");
}

static void families(struct page *p, const struct manifest_table *t)
{
	if (t->nfamilies < 2)
		return;
	add(p, "<h3>Families</h3>\n<table><tr><th>family</th><th class=\"n\">rows</th><th "
	       "class=\"n\">cells</th><th class=\"n\">bytes</th><th class=\"n\">files</th></tr>\n");
	for (size_t i = 0; i < t->nfamilies; i++) {
		uint64_t rows = 0, cells = 0, bytes = 0, files = 0;
		for (size_t k = 0; k < t->nfiles; k++) {
			const struct manifest_file *f = &t->files[k];
			bool of = strcmp(f->family, t->families[i].name) == 0;
			rows += of ? f->rows : 0;
			cells += of ? f->cells : 0;
			bytes += of ? f->bytes : 0;
			files += of;
		}
		add(p, "<tr><td><code>");
		text(p, t->families[i].name);
		add(p, "</code></td>");
		count_cell(p, rows);
		count_cell(p, cells);
		bytes_cell(p, bytes);
		count_cell(p, files);
		add(p, "</tr>\n");
	}
	add(p, "</table>\n");
}

static void pictures(struct page *p, const struct manifest_table *t, const struct extents *at)
{
	add(p, "<h3>Where the keys lie</h3>\n<figure>\n");
	chart_keys(p->out, at);
	figure(p, "A band for each first byte of the key (a salt's bucket, where the key has one), "
		  "from the lowest to the highest key behind it; the darker, the more bytes. Bands "
		  "alike: the salt spreads. A dark spot at one end: keys that rise with time.");
	if (at->timed > 1) {
		add(p, "<h3>When</h3>\n<figure>\n");
		chart_times(p->out, at);
		buf_printf(
			p->out,
			"<figcaption>Bytes by the time of their cells (UTC), by the first cell of "
			"%zu places in the files.</figcaption></figure>\n",
			at->timed);
	}
	if (t->nregions > 1) {
		add(p, "<h3>How others would have cut</h3>\n<table><tr><th>split keys of</th><th "
		       "class=\"n\">bytes in the largest region</th><th class=\"n\">empty "
		       "regions</th></tr>\n");
		chart_rivals(p->out, t, at);
		add(p, "</table>\n<p><small>The same bytes and number of regions, to the block of "
		       "the files' indexes.</small></p>\n");
	}
}

static int table(struct page *p, const struct manifest_table *t, struct error *err)
{
	struct extents at;
	int rc = extents_read(&at, p->dir, t, TIMED_EXTENTS, &p->arena, err);
	if (rc == RC_OK) {
		add(p, "<h2>Table ");
		text(p, t->name);
		add(p, "</h2>\n<h3>Regions</h3>\n<figure>\n");
		chart_regions(p->out, t);
		figure(p,
		       "Bars: bytes of each region's files. Ticks: what was predicted. Dashed: the "
		       "target.");
		region_table(p, t);
		families(p, t);
		pictures(p, t, &at);
	}
	extents_release(&at);
	return rc;
}

/* --- what was rejected, and what it was made of --- */

static void examples_of(struct page *p, const char *reason)
{
	for (size_t i = 0; i < p->examples.n; i++) {
		const struct example *e = &p->examples.item[i];
		if (strcmp(e->reason, reason) != 0)
			continue;
		add(p, "<br><code>");
		html_text(p->out, bytes_str(e->place));
		add(p, "</code> ");
		text(p, e->detail);
		if (e->raw.len) {
			add(p, "<br><code>");
			html_text(p->out,
				  bytes_of(e->raw.ptr, e->raw.len < 200 ? e->raw.len : 200));
			add(p, e->raw.len > 200 ? "...</code>" : "</code>");
		}
	}
}

static void rejects(struct page *p)
{
	if (!p->m.nreasons)
		return;
	add(p, "<h2>Rejected</h2>\n<table><tr><th class=\"n\">events</th><th>reason, the first "
	       "of them</th></tr>\n");
	for (size_t i = 0; i < p->m.nreasons; i++) {
		add(p, "<tr>");
		count_cell(p, p->m.reasons[i].count);
		add(p, "<td><b>");
		text(p, p->m.reasons[i].reason);
		add(p, "</b>");
		examples_of(p, p->m.reasons[i].reason);
		add(p, "</td></tr>\n");
	}
	add(p, "</table>\n<p><small>All of them: <code>rejects.jsonl</code>.</small></p>\n");
}

static void inputs(struct page *p)
{
	add(p, "<h2>Inputs</h2>\n<table><tr><th>input</th><th class=\"n\">events</th><th "
	       "class=\"n\">bytes</th></tr>\n");
	for (size_t i = 0; i < p->m.ninputs && i < LISTED; i++) {
		add(p, "<tr><td><code>");
		text(p, p->m.inputs[i].path);
		add(p, "</code></td>");
		count_cell(p, p->m.inputs[i].rows);
		bytes_cell(p, p->m.inputs[i].bytes);
		add(p, "</tr>\n");
	}
	for (size_t i = 0; i < p->m.noffsets && i < LISTED; i++) {
		const struct offset_range *o = &p->m.offsets[i];
		const char *topic = o->topic ? o->topic : p->m.topic;
		add(p, "<tr><td><code>");
		text(p, topic ? topic : "");
		buf_printf(p->out, " [%d]</code> from offset %lld</td>", (int)o->partition,
			   (long long)o->start);
		count_cell(p, (uint64_t)o->events);
		add(p, "<td></td></tr>\n");
	}
	add(p, "</table>\n");
}

int page_load(struct buf *out, const char *dir, struct error *err)
{
	struct page p = {.out = out, .dir = dir};
	char *path = mem_format("%s/manifest.json", dir), *title = NULL;
	int rc = manifest_read(&p.m, path, &p.arena, err);
	if (rc == RC_OK)
		rc = examples_read(&p.examples, dir, &p.m, &p.arena, err);
	if (rc == RC_OK) {
		title = mem_format("saltmill: %s", dir);
		html_begin(out, title);
		overview(&p);
		events(&p);
		commands(&p);
	}
	for (size_t i = 0; rc == RC_OK && i < p.m.ntables; i++)
		rc = table(&p, &p.m.tables[i], err);
	if (rc == RC_OK) {
		rejects(&p);
		inputs(&p);
		html_end(out);
	}
	mem_free(title);
	mem_free(path);
	arena_release(&p.arena);
	return rc;
}
