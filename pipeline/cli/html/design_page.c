/* design_page.c - writes the page of `design` (page.h) */
#include <math.h>
#include <stdio.h>

#include "cli/page.h"
#include "cli/reports.h"
#include "design.h"
#include "hotspots.h"
#include "html.h"
#include "page_parts.h"
#include "planning.h"

#define STRIP_WIDTH 640.0
#define STRIP_LEFT  40.0
#define STRIP_TALL  24.0 /* of a question */

struct design_page {
	struct buf *out;
	const struct design_result *r;
	struct arena arena;
};

static void add(const struct design_page *p, const char *text)
{
	buf_append_str(p->out, text);
}

static void add_text(const struct design_page *p, const char *text)
{
	html_text(p->out, bytes_str(text));
}

/* --- summary --- */

static void verdicts(const struct design_page *p)
{
	const struct design *best = &p->r->list[0];
	double load = best->busiest;

	add(p, "<ul class=\"verdict\">\n");
	part_verdict(p->out, load > 1 ? "bad" : load > 0.8 ? "warn" : "good", "Design 1");
	add_text(p, best->sentence);
	add(p, ".");
	part_verdict_end(p->out);
	if (p->r->too_busy) {
		part_verdict(p->out, "bad", "Too busy");
		buf_printf(p->out,
			   "No design keeps the busiest of %u servers below 100 %%; about %.0f "
			   "servers would do.",
			   p->r->servers, p->r->servers_needed);
		part_verdict_end(p->out);
	}
	for (size_t i = 0; i < p->r->nnotes; i++) {
		part_verdict(p->out, "plain", "Note");
		add_text(p, p->r->notes[i]);
		add(p, ".");
		part_verdict_end(p->out);
	}
	add(p, "</ul>\n");
}

static void questions(const struct design_page *p)
{
	const struct design *best = &p->r->list[0];

	add(p, "<h2>Questions</h2>\n");
	html_table(p->out, "questions",
		   "name|question|#a second|#rows returned (median)|#most rows");
	for (size_t q = 0; q < best->nanswers; q++) {
		const struct design_answer *a = &best->answers[q];

		buf_printf(p->out, "<tr><td>q%zu</td>", q + 1);
		html_code_cell(p->out, a->ask);
		buf_printf(p->out, "<td class=\"n\">%.4g</td>", a->rate);
		html_count_cell(p->out, (uint64_t)a->returned.median);
		html_count_cell(p->out, (uint64_t)a->returned.most);
		add(p, "</tr>\n");
	}
	html_table_end(p->out);
}

/* --- the designs as a table --- */

static void design_row(const struct design_page *p, const struct design *g)
{
	char text[48];

	buf_printf(p->out, "<tr%s><td>", g->obvious ? " class=\"idle\"" : "");
	add_text(p, g->name);
	add(p, "</td>");
	for (size_t q = 0; q < g->nanswers; q++)
		buf_printf(p->out, "<td class=\"n\">%s</td>",
			   design_cost_text(text, &g->answers[q]));
	buf_printf(p->out, "<td class=\"n\">%s</td>", design_load_text(text, g->busiest));
	html_real_cell(p->out, 0, 100 * g->busiest_write, " %");
	buf_printf(p->out, "<td class=\"n\">%.0f of %zu</td>", g->tables[0].written,
		   g->tables[0].regions);
	html_bytes_cell(p->out, (uint64_t)g->stored);
	html_count_cell(p->out, g->ntables);
	add(p, "</tr>\n");
}

static void designs(const struct design_page *p)
{
	struct buf heads = {0};

	add(p, "<h2>Designs</h2>\n");
	buf_append_str(&heads, "design");
	for (size_t q = 0; q < p->r->list[0].nanswers; q++)
		buf_printf(&heads, "|#q%zu", q + 1);
	buf_append_str(&heads, "|#busiest server|#writes|#regions|#stored|#tables");
	buf_put(&heads, 0);
	html_table(p->out, "designs and their costs", (const char *)heads.ptr);
	for (size_t i = 0; i < p->r->nlist; i++)
		design_row(p, &p->r->list[i]);
	html_table_end(p->out);
	buf_release(&heads);
	add(p,
	    "<p><small>The cost of a question is its number of ranges and the bytes of each. ALL "
	    "means that it reads the whole table. Writes are the share of the busiest server. Regions are those that a minute of writes reaches. Grey designs are only compared.</small></p>\n");
}

/* --- one design --- */

/* Draw the parts of a key as boxes with their bytes. */
static void anatomy(const struct design_page *p, const struct design_table *t)
{
	add(p, "<div class=\"key\">\n");
	for (size_t i = 0; i < t->nparts; i++) {
		const struct design_part *part = &t->anatomy[i];

		buf_printf(p->out, "<span class=\"%s\" style=\"flex-grow:%u\">",
			   part->computed ? "made" : "field", part->bytes ? part->bytes : 8);
		html_code(p->out, part->name);
		if (part->bytes)
			buf_printf(p->out, "<small>%u byte%s</small></span>\n", part->bytes,
				   part->bytes == 1 ? "" : "s");
		else
			add(p, "<small>varies</small></span>\n");
	}
	add(p, "</div>\n");
}

static void key_of_table(const struct design_page *p, const struct design_table *t, size_t i)
{
	static const char *const kinds[] = {"all columns", "a copy of all columns",
					    "an index, which names rows of table a",
					    "the columns that a question needs"};

	buf_printf(p->out, "<h3>Table %c: ", (char)('a' + (int)i));
	html_code(p->out, t->name);
	buf_printf(p->out, "</h3>\n<p>%s; row keys of %.0f bytes, ", kinds[t->kind], t->key_bytes);
	html_count(p->out, (uint64_t)t->row_bytes);
	add(p, " bytes a row before compression</p>\n");
	anatomy(p, t);
	add(p, "<pre>rowkey:\n");
	for (size_t k = 0; k < t->nparts; k++) {
		add(p, "  - ");
		add_text(p, t->parts[k]);
		add(p, "\n");
	}
	if (t->nqualifier)
		buf_printf(p->out,
			   "# a row has %.2g events, at most %llu\nqualifiers, before the name of "
			   "the column:\n",
			   t->row_events, (unsigned long long)t->row_events_most);
	for (size_t k = 0; k < t->nqualifier; k++) {
		add(p, "  - ");
		add_text(p, t->qualifier[k]);
		add(p, "\n");
	}
	buf_printf(p->out, "</pre>\n<p>Families: <code>bloomfilter: %s, blocksize: %uK</code>; ",
		   bloom_name(t->bloom), t->block_bytes >> 10);
	add_text(p, t->advice);
	add(p, ".</p>\n");
}

static void figure_cell(const struct design_page *p, double v)
{
	if (v < 100 && v != floor(v))
		html_real_cell(p->out, 2, v, "");
	else
		html_count_cell(p->out, (uint64_t)(v + .5));
}

static void answer_row(const struct design_page *p, const struct design_answer *a, size_t q)
{
	buf_printf(p->out, "<tr><td>q%zu</td><td>%s of %c%s%s</td>", q + 1, design_plans[a->plan],
		   (char)('a' + (int)a->table), a->filtered ? ", filtered" : "",
		   a->reversed ? ", backwards" : "");
	figure_cell(p, a->ranges.median);
	figure_cell(p, a->rows.median);
	figure_cell(p, a->returned.median);
	figure_cell(p, a->blocks.median);
	figure_cell(p, a->blocks.p99);
	figure_cell(p, a->blocks.most);
	figure_cell(p, a->gets.median);
	double s = a->seconds.mean;
	html_real_cell(p->out, s < 0.1 ? 2 : 1, s < 1 ? 1e3 * s : s, s < 1 ? " ms" : " s");
	add(p, "</tr>\n");
}

static double most_blocks(const struct design *g)
{
	double most = 10;

	for (size_t q = 0; q < g->nanswers; q++)
		if (g->answers[q].ndraws)
			most = fmax(most, g->answers[q].draws[g->answers[q].ndraws - 1]);
	return pow(10, ceil(log10(most)));
}

/* Draw a tick for each draw of a question, as one path. */
static void strip(const struct design_page *p, const struct design_answer *a, double y, double most)
{
	double scale = (STRIP_WIDTH - STRIP_LEFT - 10) / log10(most);

	buf_append_str(p->out, "<path class=\"bar\" opacity=\".35\" d=\"");
	for (size_t i = 0; i < a->ndraws; i++)
		buf_printf(p->out, "M%.1f %gh3v%gh-3z",
			   STRIP_LEFT + log10(fmax(a->draws[i], 1)) * scale, y, STRIP_TALL - 8);
	buf_append_str(p->out, "\"/>\n");
}

static void strips(const struct design_page *p, const struct design *g)
{
	double most = most_blocks(g), tall = (double)g->nanswers * STRIP_TALL;
	char text[32];

	part_figure(p->out);
	html_svg(p->out, STRIP_WIDTH, tall + 22, "blocks that each drawn question reads");
	for (double at = 1; at <= most; at *= 10) {
		double x = STRIP_LEFT + log10(at) * (STRIP_WIDTH - STRIP_LEFT - 10) / log10(most);

		html_line(p->out, "border", x, 0, x, tall);
		snprintf(text, sizeof text, "%g", at);
		html_label(p->out, at < most ? "middle" : "end", at < most ? x : STRIP_WIDTH,
			   tall + 16, text);
	}
	for (size_t q = 0; q < g->nanswers; q++) {
		snprintf(text, sizeof text, "q%zu", q + 1);
		html_label(p->out, "end", STRIP_LEFT - 10, ((double)q + .7) * STRIP_TALL, text);
		strip(p, &g->answers[q], (double)q * STRIP_TALL + 4, most);
	}
	add(p, "</svg>\n");
	part_figure_end(p->out,
			"Data blocks that each drawn question reads from a full copy of the "
			"rows. Each tick is a draw, on a logarithmic scale.");
}

static void one_design(const struct design_page *p, const struct design *g)
{
	add(p, "<h2>Design ");
	add_text(p, g->name);
	add(p, "</h2>\n<p>");
	add_text(p, g->sentence);
	add(p, ".</p>\n");
	for (size_t t = 0; t < g->ntables; t++)
		key_of_table(p, &g->tables[t], t);
	add(p, "<h3>Cost of the questions</h3>\n");
	html_table(
		p->out, "cost of each question",
		"question|plan|#ranges|#rows read|#returned|#blocks|#p99|#worst|#gets|#time (model)");
	for (size_t q = 0; q < g->nanswers; q++)
		answer_row(p, &g->answers[q], q);
	html_table_end(p->out);
	strips(p, g);
}

/* --- writes --- */

static void writes(struct design_page *p)
{
	const struct hotspot *first = p->r->list[0].tables[0].writes;

	if (!first->columns)
		return;
	const struct plan_hotspot_view any = hotspot_view(first, &p->arena);
	part_hotspots_begin(p->out, &any);
	for (size_t i = 0; i < p->r->nlist; i++) {
		const struct design *g = &p->r->list[i];

		for (size_t t = 0; t < g->ntables; t++) {
			const struct plan_hotspot_view v =
				hotspot_view(g->tables[t].writes, &p->arena);

			part_hotspot(p->out,
				     arena_format(&p->arena, "%s, %s", g->name, g->tables[t].key),
				     &v);
		}
	}
	part_hotspots_end(p->out);
}

static void compared(const struct design_page *p)
{
	add(p, "<h2>Compared</h2>\n<dl>\n");
	for (size_t i = 0; i < p->r->nlist; i++) {
		const struct design *g = &p->r->list[i];

		if (!g->obvious)
			continue;
		add(p, "<dt>");
		add_text(p, g->name);
		add(p, ": ");
		html_code(p->out, g->tables[0].key);
		add(p, "</dt><dd>");
		add_text(p, g->sentence);
		add(p, ".</dd>\n");
	}
	add(p, "</dl>\n");
}

static void model(const struct design_page *p)
{
	const struct design_constants *c = &p->r->constants;

	buf_printf(p->out,
		   "<p><small>Counts are measured on the events. Times are a model: %g ms a range, "
		   "%g ms a block, %g us a row, %g ms a get, %g us a written row.</small></p>\n",
		   1e3 * c->seek_s, 1e3 * c->block_s, 1e6 * c->row_s, 1e3 * c->get_s,
		   1e6 * c->write_row_s);
}

void page_design(struct buf *out, const struct design_result *r)
{
	struct design_page p = {.out = out, .r = r};

	html_begin(out, "saltmill: row keys for questions");
	add(&p, "<h1>Row keys for questions</h1>\n<p><small>");
	html_count(out, r->events);
	add(&p, " events were read. The tables keep ");
	html_count(out, (uint64_t)r->rows);
	buf_printf(out,
		   " rows, with %.4g written a second, on %u servers. saltmill compared %zu row "
		   "keys and %zu designs.</small></p>\n",
		   r->writes, r->servers, r->nkeys, r->ndesigns);
	verdicts(&p);
	add(&p, "<pre class=\"run\"><code>saltmill load job.yaml -o DIR\n</code></pre>\n");
	questions(&p);
	designs(&p);
	for (size_t i = 0; i < r->nlist; i++)
		if (!r->list[i].obvious)
			one_design(&p, &r->list[i]);
	writes(&p);
	compared(&p);
	model(&p);
	html_end(out);
	arena_release(&p.arena);
}
