/* design_report.c - prints designs as a table with sentences, and as JSON */
#include <math.h>
#include <stdio.h>

#include "cli/reports.h"

#define NAME_WIDTH 22
#define COST_WIDTH 15

/* --- text --- */

/* Format a count such as 7, 1,120, 295k or 1.2M. */
static const char *short_count(char text[16], double n)
{
	static const struct {
		double from, by;
		const char *unit;
	} units[] = {{999.5e9, 1e12, "T"},
		     {999.5e6, 1e9, "G"},
		     {999.5e3, 1e6, "M"},
		     {9999.5, 1e3, "k"}};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (n >= units[i].from) {
			snprintf(text, 16, "%.3g%s", n / units[i].by, units[i].unit);
			return text;
		}
	snprintf(text, 16, n < 10 && n != floor(n) ? "%.1f" : "%.0f", n);
	return text;
}

/* Format blocks such as 1.07, 12.3 or 1141. */
static const char *blocks_text(char text[16], double n)
{
	if (n >= 99.95)
		return short_count(text, n);
	snprintf(text, 16, "%.3g", n);
	return text;
}

const char *design_load_text(char text[24], double load)
{
	char count[16];

	if (load < 1.5)
		snprintf(text, 24, load < 0.0995 ? "%.1f %%" : "%.0f %%", 100 * load);
	else
		snprintf(text, 24, "%s servers", short_count(count, load));
	return text;
}

const char *design_cost_text(char cell[48], const struct design_answer *a)
{
	char bytes[16], count[16];

	bool whole = a->plan == DESIGN_FULL || a->ranges.median < 1;
	format_bytes(bytes,
		     (uint64_t)(whole ? a->bytes.median : a->bytes.median / a->ranges.median));
	if (a->plan == DESIGN_FULL)
		snprintf(cell, 48, "ALL %s", bytes);
	else if (a->plan == DESIGN_INDEX)
		snprintf(cell, 48, "%s x get", short_count(count, a->gets.median));
	else
		snprintf(cell, 48, "%s x %s", short_count(count, a->ranges.median), bytes);
	return cell;
}

static void put_heads(struct buf *out, const struct design *g)
{
	buf_printf(out, "%-*s", NAME_WIDTH, "design");
	for (size_t q = 0; q < g->nanswers; q++) {
		char head[64];

		snprintf(head, sizeof head, "q%zu %.4g/s", q + 1, g->answers[q].rate);
		buf_printf(out, "  %-*s", COST_WIDTH, head);
	}
	buf_printf(out, "  %-14s  %-7s  %-7s  %-8s  %s\n", "busiest server", "writes", "regions",
		   "stored", "tables");
}

static void put_design(struct buf *out, const struct design *g, bool best)
{
	char load[24], bytes[16], name[64], cell[48];
	const struct design_table *t = &g->tables[0];

	snprintf(name, sizeof name, "%s %s", best ? ">" : " ", g->name);
	buf_printf(out, "%-*s", NAME_WIDTH, name);
	for (size_t q = 0; q < g->nanswers; q++)
		buf_printf(out, "  %-*s", COST_WIDTH, design_cost_text(cell, &g->answers[q]));
	buf_printf(out, "  %14s  %5.0f %%  %3.0f/%-3zu  %8s  %zu\n",
		   design_load_text(load, g->busiest), 100 * g->busiest_write, t->written,
		   t->regions, format_bytes(bytes, (uint64_t)g->stored), g->ntables);
}

static void put_keys(struct buf *out, const struct design *g)
{
	for (size_t t = 0; t < g->ntables; t++) {
		const struct design_table *k = &g->tables[t];

		buf_printf(out, "  table %c: %s%s", (char)('a' + (int)t), k->key,
			   k->kind == DESIGN_INDEX_TABLE ? " (index of a)" : "");
		if (k->kind == DESIGN_COVERING)
			buf_printf(
				out,
				" (only the columns of q%zu: rows of %.0f bytes instead of %.0f)",
				k->covers, k->row_bytes, g->tables[0].row_bytes);
		buf_printf(out, ", %.0f bytes", k->key_bytes);
		if (k->nqualifier)
			buf_printf(out, "; a row has %.2g events, at most %llu", k->row_events,
				   (unsigned long long)k->row_events_most);
		buf_append_str(out, "\n");
	}
}

static void put_advice(struct buf *out, const struct design *g)
{
	for (size_t t = 0; t < g->ntables; t++) {
		const struct design_table *k = &g->tables[t];

		buf_printf(out, "  Families of table %c: bloomfilter %s", (char)('a' + (int)t),
			   bloom_name(k->bloom));
		if (k->bloom == BLOOM_ROWPREFIX)
			buf_printf(out, ", bloom_prefix %u", k->bloom_prefix);
		buf_printf(out, ", blocksize %uK; %s.\n", k->block_bytes >> 10, k->advice);
	}
}

static void put_sentence_of(struct buf *out, const struct design *g, size_t q)
{
	const struct design_answer *a = &g->answers[q];
	char n[6][16];

	if (a->plan == DESIGN_FULL)
		buf_printf(out,
			   "  q%zu reads all %s of table %c: %s blocks, %s rows, %s returned.\n",
			   q + 1, format_bytes(n[0], (uint64_t)a->bytes.median),
			   (char)('a' + (int)a->table), short_count(n[1], a->blocks.median),
			   short_count(n[2], a->rows.median),
			   short_count(n[3], a->returned.median));
	else
		buf_printf(out,
			   "  q%zu reads %s range%s of table %c; blocks: %s (p99 %s, worst %s); "
			   "rows: %s%s%s",
			   q + 1, short_count(n[0], a->ranges.median),
			   a->ranges.median == 1 ? "" : "s", (char)('a' + (int)a->table),
			   blocks_text(n[3], a->blocks.median), blocks_text(n[4], a->blocks.p99),
			   blocks_text(n[5], a->blocks.most), short_count(n[1], a->rows.median),
			   a->plan == DESIGN_INDEX ? "; it gets each row from table a" : "",
			   a->reversed ? "; the scan runs backwards" : "");
	if (a->plan != DESIGN_FULL && a->filtered)
		buf_printf(out, "; a filter drops rows (%s match)",
			   short_count(n[2], a->returned.median));
	buf_append_str(out, a->plan == DESIGN_FULL ? "" : ".\n");
}

void design_questions_text(struct buf *out, const struct design *g)
{
	for (size_t q = 0; q < g->nanswers; q++)
		put_sentence_of(out, g, q);
}

static void put_best(struct buf *out, const struct design *g, const struct design_result *r)
{
	char load[24];

	buf_printf(out, "Design %s, recommended: %s\n", g->name, g->sentence);
	put_keys(out, g);
	design_questions_text(out, g);
	put_advice(out, g);
	if (r->writes > 0)
		buf_printf(
			out,
			"  Writes: in a minute, the busiest of %u servers gets %.0f %% of them (p99 "
			"%.0f %%; even: %.1f %%). All writes need %s of a server.\n",
			r->servers, 100 * g->busiest_write, 100 * g->busiest_write_p99,
			100.0 / r->servers, design_load_text(load, g->write_seconds));
}

static void put_duration(struct buf *out, double s)
{
	if (s >= 2 * 365.25 * 86400)
		buf_printf(out, "%.3g years", s / 365.25 / 86400);
	else if (s >= 2 * 86400)
		buf_printf(out, "%.3g days", s / 86400);
	else if (s >= 2 * 3600)
		buf_printf(out, "%.3g hours", s / 3600);
	else
		buf_printf(out, "%.3g s", s);
}

static void put_load_line(struct buf *out, const struct design_result *r)
{
	char n[3][16];

	buf_printf(out, "%s events", short_count(n[0], (double)r->events));
	if (r->span_s > 0) {
		buf_append_str(out, " of ");
		put_duration(out, r->span_s);
	}
	buf_printf(out, "; for a table of %s rows", short_count(n[1], r->rows));
	if (r->writes > 0)
		buf_printf(out, r->writes < 1 ? " and %.2g writes/s" : " and %.0f writes/s",
			   r->writes);
	buf_printf(out, " on %u servers; compared %zu row keys in %zu designs\n", r->servers,
		   r->nkeys, r->ndesigns);
}

static void put_constants(struct buf *out, const struct design_result *r)
{
	const struct design_constants *c = &r->constants;

	if (!r->measured_on) {
		buf_printf(
			out,
			"The counts come from the events. Times are a model: %g ms a range, %g ms a "
			"block, %g us a row.\n",
			1e3 * c->seek_s, 1e3 * c->block_s, 1e6 * c->row_s);
		return;
	}
	buf_append_str(out, "The counts come from the events. Times are a model, measured on ");
	text_visible(out, bytes_str(r->measured_on));
	buf_printf(
		out,
		": %.3g ms a range, %.3g ms a block (%.3g ms a MB), %.3g us a row, %.3g ms a get, "
		"%.3g us a written row.\n",
		1e3 * c->seek_s, 1e3 * c->block_s, 16e3 * c->block_s, 1e6 * c->row_s,
		1e3 * c->get_s, 1e6 * c->write_row_s);
}

static void put_ask(struct buf *out, size_t q, const char *ask)
{
	buf_printf(out, "q%zu: ", q + 1);
	text_visible(out, bytes_str(ask));
	buf_append_str(out, "\n");
}

/* Explain the table once, in the words of its heads. */
static void put_legend(struct buf *out)
{
	buf_append_str(
		out,
		"> is recommended. 8 x 1.1 KB: the question reads 8 ranges of row keys with 1.1 KB "
		"each. 20 x get: 20 gets\nafter an index. ALL: the whole table. busiest server: its "
		"load in its busiest minutes. writes: its share of\nall writes. regions: written in a "
		"minute, of all. yours: your job, or the proposal of init. In row keys,\nowner2 is "
		"field owner in 2 bytes, and salt8 has 8 buckets.\n\n");
}

void design_report_text(struct buf *out, const struct design_result *r)
{
	put_load_line(out, r);
	for (size_t i = 0; i < r->nnotes; i++)
		buf_printf(out, "note: %s\n", r->notes[i]);
	if (!r->nlist)
		return;
	for (size_t q = 0; q < r->list[0].nanswers; q++)
		put_ask(out, q, r->list[0].answers[q].ask);
	put_heads(out, &r->list[0]);
	for (size_t i = 0; i < r->nlist; i++)
		put_design(out, &r->list[i], i == 0);
	put_legend(out);
	put_best(out, &r->list[0], r);
	for (size_t i = 1; i < r->nlist; i++) {
		buf_printf(out, "%s %s: %s\n", r->list[i].obvious ? "For comparison," : "Design",
			   r->list[i].name, r->list[i].sentence);
		put_keys(out, &r->list[i]);
	}
	put_constants(out, r);
	if (r->too_busy)
		buf_printf(out,
			   "WARNING: no design keeps the busiest of %u servers below 100 %%; about "
			   "%.0f servers would do\n",
			   r->servers, r->servers_needed);
}

/* --- two jobs --- */

static void put_change(struct buf *out, const char *name, double a, double b)
{
	char was[16], is[16];

	buf_printf(out, "  %s %s to %s", name, short_count(was, a), short_count(is, b));
	if (a > 0 && b != a)
		buf_printf(out, " (%+.0f %%)", 100 * (b - a) / a);
}

void design_compare_text(struct buf *out, const struct design_result both[2])
{
	const struct design *a = &both[0].list[0], *b = &both[1].list[0];

	put_load_line(out, &both[0]);
	put_heads(out, a);
	put_design(out, a, false);
	put_design(out, b, false);
	buf_append_str(out, "\nA\n");
	put_keys(out, a);
	buf_append_str(out, "B\n");
	put_keys(out, b);
	for (size_t q = 0; q < a->nanswers && q < b->nanswers; q++) {
		const struct design_answer *x = &a->answers[q], *y = &b->answers[q];

		buf_printf(out, "q%zu  %s to %s;", q + 1, design_plans[x->plan],
			   design_plans[y->plan]);
		put_change(out, "ranges", x->ranges.median, y->ranges.median);
		put_change(out, "blocks", x->blocks.median, y->blocks.median);
		put_change(out, "rows", x->rows.median, y->rows.median);
		buf_append_str(out, "\n");
	}
}

/* --- JSON --- */

static const struct form_member figure_members[] = {
	{"median", FORM_RATIO, IN(design_figure, median), "median of all draws"},
	{"p99", FORM_RATIO, IN(design_figure, p99), "99th percentile"},
	{"max", FORM_RATIO, IN(design_figure, most), "largest"},
	{"mean", FORM_RATIO, IN(design_figure, mean), "mean, which gives the load"},
};
static const struct form figure_form = FORM(design_figure, figure_members);

static const struct form_member constant_members[] = {
	{"seek_s", FORM_RATIO, IN(design_constants, seek_s), "seconds to open a range"},
	{"block_s", FORM_RATIO, IN(design_constants, block_s), "seconds to read 64 KiB"},
	{"row_s", FORM_RATIO, IN(design_constants, row_s), "seconds to look at a row"},
	{"get_s", FORM_RATIO, IN(design_constants, get_s), "seconds of a get after an index"},
	{"write_row_s", FORM_RATIO, IN(design_constants, write_row_s), "seconds to write a row"},
	{"write_byte_s", FORM_RATIO, IN(design_constants, write_byte_s),
	 "seconds to write a byte, with flushes and compactions"},
};
const struct form design_constants_form = FORM(design_constants, constant_members);

static const struct form_member answer_members[] = {
	{"ask", FORM_TEXT, IN(design_answer, ask), "the question"},
	{"rate", FORM_RATIO, IN(design_answer, rate), "questions a second"},
	{"table", FORM_SIZE, IN(design_answer, table), "index in tables"},
	{"plan", FORM_CHOICE, IN(design_answer, plan), "how the table answers the question",
	 .choices = design_plans},
	{"ranges", FORM_PART, IN(design_answer, ranges), "ranges of row keys",
	 .items = &figure_form},
	{"rows", FORM_PART, IN(design_answer, rows), "rows looked at", .items = &figure_form},
	{"returned", FORM_PART, IN(design_answer, returned),
	 "rows that match, scaled to --rows and --writes", .items = &figure_form},
	{"bytes", FORM_PART, IN(design_answer, bytes), "uncompressed bytes read",
	 .items = &figure_form},
	{"blocks", FORM_PART, IN(design_answer, blocks), "data blocks read", .items = &figure_form},
	{"gets", FORM_PART, IN(design_answer, gets), "gets after reading an index",
	 .items = &figure_form},
	{"seconds", FORM_PART, IN(design_answer, seconds), "seconds of a server, by the model",
	 .items = &figure_form},
	{"filtered", FORM_FLAG, IN(design_answer, filtered),
	 "the question reads rows that do not match"},
	{"reversed", FORM_FLAG, IN(design_answer, reversed), "the scan runs backwards"},
	{"servers", FORM_RATIO, IN(design_answer, servers), "rate * mean seconds"},
};
static const struct form answer_form = FORM(design_answer, answer_members);

static const char *const blooms[] = {"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH", NULL};

static const struct form_member table_members[] = {
	{"name", FORM_TEXT, IN(design_table, name), "name of the table in the job"},
	{"kind", FORM_CHOICE, IN(design_table, kind),
	 "base, copy, index, or covering (only the columns of a question)",
	 .choices = design_kinds},
	{"key", FORM_TEXT, IN(design_table, key), "name of the row key"},
	{"rowkey", FORM_TEXTS, IN(design_table, parts), "the parts of the row key, in YAML",
	 COUNT_AT(design_table, nparts)},
	{"qualifier", FORM_TEXTS, IN(design_table, qualifier),
	 "of a wide table: the parts before the name of each column, in YAML",
	 COUNT_AT(design_table, nqualifier)},
	{"row_events", FORM_RATIO, IN(design_table, row_events),
	 "mean events of a row; more than 1 in wide tables"},
	{"row_events_max", FORM_COUNT, IN(design_table, row_events_most),
	 "events of the largest row of the sample"},
	{"key_bytes", FORM_RATIO, IN(design_table, key_bytes), "mean bytes of a row key"},
	{"row_bytes", FORM_RATIO, IN(design_table, row_bytes), "mean bytes of a row's KeyValues"},
	{"hidden", FORM_COUNT, IN(design_table, hidden),
	 "events of the sample whose row a later event replaces"},
	{"regions", FORM_SIZE, IN(design_table, regions), "regions"},
	{"regions_written", FORM_RATIO, IN(design_table, written),
	 "regions with at least 1 % of the writes of a minute"},
	{"busiest_region", FORM_RATIO, IN(design_table, busiest_region),
	 "share of the region with most writes in a minute"},
	{"grown", FORM_RATIO, IN(design_table, grown),
	 "rows of the largest region after the newest fifth of the events / mean"},
	{"server_share", FORM_RATIO, IN(design_table, server_mean),
	 "share of the server with most writes in a minute"},
	{"server_share_p99", FORM_RATIO, IN(design_table, server_p99), "its 99th percentile"},
	{"bloomfilter", FORM_CHOICE, IN(design_table, bloom), "Bloom filter for the questions",
	 .choices = blooms},
	{"bloom_prefix", FORM_UINT, IN(design_table, bloom_prefix),
	 "bytes of the row key in a ROWPREFIX_FIXED_LENGTH filter, else 0"},
	{"blocksize", FORM_UINT, IN(design_table, block_bytes),
	 "bytes of a block for the questions"},
	{"advice", FORM_TEXT, IN(design_table, advice), "the reason of both"},
};
static const struct form table_form = FORM(design_table, table_members);

static const struct form_member design_members[] = {
	{"name", FORM_TEXT, IN(design, name), "number, or the usual name of an obvious design"},
	{"obvious", FORM_FLAG, IN(design, obvious), "listed only for comparison"},
	{"tables", FORM_LIST, IN(design, tables), "the tables", ITEMS(design, table_form, ntables)},
	{"questions", FORM_LIST, IN(design, answers), "the cost of each question",
	 ITEMS(design, answer_form, nanswers)},
	{"busiest", FORM_RATIO, IN(design, busiest),
	 "load of the busiest server in its busiest minutes; 1 is a whole server"},
	{"total", FORM_RATIO, IN(design, total), "load of all servers, in servers"},
	{"write_seconds", FORM_RATIO, IN(design, write_seconds), "load of the writes, in servers"},
	{"busiest_write", FORM_RATIO, IN(design, busiest_write),
	 "share of the writes on the busiest server"},
	{"busiest_write_p99", FORM_RATIO, IN(design, busiest_write_p99), "in its busiest minutes"},
	{"stored", FORM_RATIO, IN(design, stored), "bytes on disk of all tables"},
	{"sentence", FORM_TEXT, IN(design, sentence), "why design recommends it or not"},
};
static const struct form design_item_form = FORM(design, design_members);

static const struct form_member result_members[] = {
	{"events", FORM_COUNT, IN(design_result, events), "number of read events"},
	{"rejected", FORM_COUNT, IN(design_result, rejected), "bad events"},
	{"span_s", FORM_RATIO, IN(design_result, span_s),
	 "seconds from the first to the last event"},
	{"rows", FORM_RATIO, IN(design_result, rows), "rows that the tables keep"},
	{"writes", FORM_RATIO, IN(design_result, writes), "rows written a second"},
	{"servers", FORM_UINT, IN(design_result, servers), "region servers"},
	{"constants", FORM_PART, IN(design_result, constants), "constants of the model",
	 .items = &design_constants_form},
	{"disk_ratio", FORM_RATIO, IN(design_result, disk_ratio),
	 "bytes on disk for a byte of KeyValues"},
	{"keys", FORM_SIZE, IN(design_result, nkeys), "number of measured row keys"},
	{"designs", FORM_SIZE, IN(design_result, ndesigns), "number of compared designs"},
	{"notes", FORM_TEXTS, IN(design_result, notes), "assumptions and warnings",
	 COUNT_AT(design_result, nnotes)},
	{"list", FORM_LIST, IN(design_result, list), "the best design, others, obvious designs",
	 ITEMS(design_result, design_item_form, nlist)},
	{"too_busy", FORM_FLAG, IN(design_result, too_busy),
	 "no design keeps the busiest server below its limit"},
	{"servers_needed", FORM_RATIO, IN(design_result, servers_needed),
	 "servers that would do, if too_busy", FORM_IF_ANY},
};
const struct form design_form =
	NAMED_FORM(design_result, result_members, "design", "design --json", .digits = 6);

void design_report_json(struct buf *out, const struct design_result *r)
{
	form_put(out, &design_form, r, FORM_REPORT);
}

const struct form compare_form = NAMED_FORM(design_result, result_members, "compare",
					    "compare --json", .digits = 6, .is_list = true);

void design_compare_json(struct buf *out, const struct design_result both[2])
{
	form_put_list(out, &compare_form, both, 2, FORM_REPORT);
}
