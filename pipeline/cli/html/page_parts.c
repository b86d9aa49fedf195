/*
 * page_parts.c - writes the parts that the pages of a load, a plan and a state share (page_parts.h)
 */
#include "page_parts.h"

#include <stdio.h>
#include <string.h>

#include "html.h"

void part_verdict(struct buf *out, const char *class, const char *word)
{
	buf_printf(out, "<li class=\"%s\"><b>%s</b> <span>", class, word);
}

void part_verdict_end(struct buf *out)
{
	buf_append_str(out, "</span></li>\n");
}

void part_balance(struct buf *out, const char *table, size_t regions, double largest_over_target,
		  uint64_t target_bytes, const char *promise)
{
	bool fair = largest_over_target <= FAIR;

	part_verdict(out, fair ? "good" : "warn", fair ? "Balanced" : "Uneven");
	html_code(out, table);
	buf_append_str(out, ": ");
	html_count(out, regions);
	buf_printf(out, " region%s; the largest %s ", regions == 1 ? "" : "s", promise);
	if (largest_over_target < 100)
		buf_printf(out, "%.2f", largest_over_target);
	else
		html_count(out, (uint64_t)(largest_over_target + .5));
	buf_append_str(out, " times the target of ");
	html_bytes(out, target_bytes);
	buf_append_str(out, ".");
	part_verdict_end(out);
}

void part_figure(struct buf *out)
{
	buf_append_str(out, "<figure>\n");
}

void part_figure_end(struct buf *out, const char *caption)
{
	buf_printf(out, "<figcaption>%s</figcaption></figure>\n", caption);
}

void part_keys(struct buf *out, const struct extents *p)
{
	char said[640], balance[80] = "";
	size_t n;
	double fullest = chart_keys_balance(p, &n);

	if (p->n < 2)
		return;
	buf_append_str(out, "<h3>Key distribution</h3>\n");
	part_figure(out);
	chart_keys(out, p);
	if (fullest > 0)
		snprintf(balance, sizeof balance,
			 "; there are %zu, and the fullest has %.1f times the mean", n, fullest);
	snprintf(said, sizeof said,
		 "Each band is a first byte of the key (the salt bucket, if the key has a salt%s). "
		 "The band runs from the lowest to the highest key with this byte. A stronger "
		 "colour "
		 "means more bytes. If the bands are similar, the salt distributes the rows "
		 "evenly. One strong spot shows a heavy key. A strong spot at an end shows keys "
		 "that increase with time.",
		 balance);
	part_figure_end(out, said);
}

/* --- commands --- */

void part_shell_word(struct buf *out, const char *word, const char *tail)
{
	struct buf quoted = {0};

	text_shell(&quoted, word, tail);
	html_text(out, buf_bytes(&quoted));
	buf_release(&quoted);
}

void part_bulk_load(struct buf *out, const char *dir, const char *table, bool create)
{
	char *folder = table_dir(dir, table);

	if (create) {
		buf_append_str(out, "hbase shell -n ");
		part_shell_word(out, folder, "/create.rb");
		buf_append_str(out, "\n");
	}
	buf_append_str(out, "hbase completebulkload ");
	part_shell_word(out, folder, "/hfiles");
	buf_append_str(out, " ");
	part_shell_word(out, table, "");
	buf_append_str(out, "\n");
	mem_free(folder);
}

/* --- findings and phase times --- */

void part_findings_verdict(struct buf *out, const struct extras *e)
{
	size_t severe = 0;

	for (size_t i = 0; i < e->nfindings; i++)
		severe += e->findings[i].severity == LINT_SEVERE;
	if (!e->linted)
		return;
	part_verdict(out, severe ? "bad" : e->nfindings ? "warn" : "good", "Design");
	if (severe)
		buf_printf(out,
			   "%zu of %zu findings can overwrite or lose rows; see below for the "
			   "fix.",
			   severe, e->nfindings);
	else if (e->nfindings)
		buf_printf(out, "%zu finding%s in the job; see below for %s.", e->nfindings,
			   e->nfindings == 1 ? "" : "s",
			   e->nfindings == 1 ? "the fix" : "the fixes");
	else
		buf_append_str(out, "Lint found no problem in the job.");
	part_verdict_end(out);
}

void part_findings(struct buf *out, const struct extras *e)
{
	if (!e->nfindings)
		return;
	buf_append_str(out, "<h2>Design</h2>\n");
	for (size_t i = 0; i < e->nfindings; i++) {
		const struct lint_finding *f = &e->findings[i];

		buf_append_str(out, "<h3>");
		html_text(out, bytes_str(f->rule));
		buf_append_str(out, ", ");
		html_text(out, bytes_str(lint_severities[f->severity]));
		buf_append_str(out, ": table ");
		html_text(out, bytes_str(f->table));
		buf_printf(out, ", line %u of the job</h3>\n<p>", f->pos.line);
		html_text(out, bytes_str(f->what));
		buf_append_str(out, "</p>\n<p><small>Why: ");
		html_text(out, bytes_str(f->why));
		buf_append_str(out, "</small></p>\n");
		if (!f->fix)
			continue;
		buf_append_str(out, "<pre>");
		for (const char *s = f->fix; *s;) {
			size_t n = strcspn(s, "\n");

			html_text(out, bytes_of(s, n));
			buf_append_str(out, "\n");
			s += n + (s[n] != 0);
		}
		buf_append_str(out, "</pre>\n");
	}
}

void part_timings(struct buf *out, const struct extras *e, uint64_t events)
{
	double all = 0;

	for (size_t i = 0; i < e->ntimings; i++)
		all += e->timings[i].seconds;
	if (!e->ntimings)
		return;
	buf_append_str(out, "<h2>Time</h2>\n");
	html_table(out, "seconds of each phase", "phase|#seconds|#of all");
	for (size_t i = 0; i < e->ntimings; i++) {
		double s = e->timings[i].seconds;

		buf_append_str(out, "<tr><td>");
		html_text(out, bytes_str(e->timings[i].phase));
		buf_append_str(out, "</td>");
		html_real_cell(out, 2, s, "");
		html_real_cell(out, 1, all > 0 ? 100 * s / all : 0, " %");
		buf_append_str(out, "</tr>\n");
	}
	html_table_end(out);
	buf_printf(out, "<p><small>%.2f s in total", all);
	if (all > 0) {
		buf_append_str(out, ", ");
		html_count(out, (uint64_t)((double)events / all));
		buf_append_str(out, " events a second");
	}
	if (e->spilled_bytes) {
		buf_append_str(out, "; ");
		html_bytes(out, e->spilled_bytes);
		buf_append_str(out, " exceeded memory and went to disk");
	}
	buf_append_str(out, ". These figures come from the output of the run, not from its "
			    "files.</small></p>\n");
}

/* --- regions --- */

static void region_row(struct buf *out, const struct region_bar *r, size_t i, uint64_t target,
		       bool achieved)
{
	buf_printf(out, "<tr><td class=\"n\">%zu</td><td><code>", i);
	html_key(out, r->start, 60);
	buf_append_str(out, "</code></td>");
	html_count_cell(out, r->rows);
	html_bytes_cell(out, r->bytes);
	if (achieved)
		html_bytes_cell(out, r->foreseen);
	html_real_cell(out, 3, target ? (double)r->bytes / (double)target : 0, "");
	buf_append_str(out, "</tr>\n");
}

void part_regions(struct buf *out, const struct region_bar *r, size_t n, uint64_t target,
		  bool achieved)
{
	size_t step = n > LISTED ? (n + LISTED - 1) / LISTED : 1, largest = 0;

	buf_append_str(out, "<h3>Regions</h3>\n");
	part_figure(out);
	chart_regions(out, r, n, target);
	part_figure_end(
		out,
		achieved ? "The bars show the bytes of each region's files. Ticks: prediction. "
			   "The dashed line shows the target (all bytes divided by the requested "
			   "number of regions)."
			 : "The bars show the predicted bytes of each region's files. Dashed "
			   "line: target.");
	for (size_t i = 1; i < n; i++)
		if (r[i].bytes > r[largest].bytes)
			largest = i;
	buf_printf(out, "<details><summary>%s</summary>\n",
		   step > 1 ? "The largest region and an even sample" : "All regions");
	html_table(out, "regions",
		   achieved ? "#region|first key|#rows|#bytes|#predicted|#of the target"
			    : "#region|first key|#rows|#bytes|#of the target");
	if (step > 1 && largest % step)
		region_row(out, &r[largest], largest, target, achieved);
	for (size_t i = 0; i < n; i += step)
		region_row(out, &r[i], i, target, achieved);
	html_table_end(out);
	buf_append_str(out, "</details>\n");
}
