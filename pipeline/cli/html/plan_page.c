/* plan_page.c - writes the page of a plan from the JSON of `saltmill plan` (pages.h) */
#include <string.h>

#include "html.h"
#include "pages.h"
#include "page_parts.h"

struct plan_page {
	struct buf *out;
	json_t *plan;
	const char *dir; /* NULL: a single file */
	struct extras extras;
	struct arena arena;
};

static void add(struct plan_page *p, const char *text)
{
	buf_append_str(p->out, text);
}

/* --- figures; a missing one is 0 or "" --- */

static uint64_t count_of(json_t *object, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(object, key));

	return v > 0 ? (uint64_t)v : 0;
}

static double real_of(json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static const char *text_of(json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

/* Returns the target size of a region on disk, in bytes. */
static uint64_t target_of(json_t *table)
{
	double v = real_of(table, "target_cell_bytes") * real_of(table, "disk_per_byte");

	return v > 0 && v < 1e18 ? (uint64_t)v : 0;
}

/* RC_DATA: `plan` did not print this JSON. */
static int check(json_t *plan, const char *path, struct error *err)
{
	json_t *tables = json_object_get(plan, "tables"), *t;
	size_t i;
	bool good = json_is_integer(json_object_get(plan, "events")) && json_is_array(tables);

	json_array_foreach(tables, i, t) good =
		good && json_is_string(json_object_get(t, "name")) &&
		json_array_size(json_object_get(t, "regions")) > 0 &&
		json_is_number(json_object_get(t, "disk_per_byte"));
	return good ? RC_OK
		    : error_set(
			      err, RC_DATA,
			      "%s: found other JSON, expected the output of `plan --json` or the plan.json "
			      "of a plan folder",
			      path);
}

/* --- summary --- */

static void say_read(struct plan_page *p)
{
	uint64_t rejected = count_of(p->plan, "rejected");

	part_verdict(p->out, rejected ? "warn" : "good", rejected ? "Rejected" : "Complete");
	html_count(p->out, count_of(p->plan, "events"));
	add(p, " events were read");
	if (rejected) {
		add(p, ", of which ");
		html_count(p->out, rejected);
		add(p, " are invalid: a load stops at them, or rejects them with "
		       "<code>--max-rejects</code>");
	}
	add(p, ".");
	part_verdict_end(p->out);
}

static void say_warnings(struct plan_page *p, json_t *table)
{
	json_t *warning;
	size_t i;

	json_array_foreach(json_object_get(table, "warnings"), i, warning)
	{
		part_verdict(p->out, "warn", "Warning");
		html_code(p->out, text_of(table, "name"));
		add(p, ": ");
		html_text(p->out,
			  bytes_str(json_string_value(warning) ? json_string_value(warning) : ""));
		part_verdict_end(p->out);
	}
}

static void overview(struct plan_page *p, const char *name)
{
	json_t *t;
	size_t i;

	add(p, "<h1>Plan ");
	html_text(p->out, bytes_str(name));
	add(p, "</h1>\n<p><small>Nothing was loaded. This page predicts the result of a "
	       "load.</small></p>\n<ul class=\"verdict\">\n");
	say_read(p);
	json_array_foreach(json_object_get(p->plan, "tables"), i, t)
	{
		part_balance(p->out, text_of(t, "name"),
			     json_array_size(json_object_get(t, "regions")),
			     real_of(t, "largest_over_target"), target_of(t), "will have about");
		say_warnings(p, t);
	}
	part_findings_verdict(p->out, &p->extras);
	add(p, "</ul>\n");
}

static void commands(struct plan_page *p)
{
	add(p, "<h2>Next steps</h2>\n");
	if (p->extras.nfindings)
		add(p, "<p>Fix the findings below before you load anything.</p>\n");
	add(p, "<p>Load the same events");
	add(p, p->dir ? ", split into these regions:</p>\n" : ":</p>\n");
	add(p, "<pre class=\"run\"><code>saltmill load JOB");
	if (p->dir) {
		add(p, " --plan ");
		part_shell_word(p->out, p->dir, "");
	}
	add(p, " -o DIR\n</code></pre>\n");
}

/* --- tables --- */

static void totals(struct plan_page *p)
{
	json_t *t;
	size_t i;

	add(p, "<h2>Tables</h2>\n");
	html_table(p->out, "predicted size of each table",
		   "table|#rows|#bytes of cells|#bytes on disk|#regions|#largest of the "
		   "target|#smallest|#error");
	json_array_foreach(json_object_get(p->plan, "tables"), i, t)
	{
		add(p, "<tr>");
		html_code_cell(p->out, text_of(t, "name"));
		html_count_cell(p->out, count_of(t, "rows"));
		html_bytes_cell(p->out, count_of(t, "cell_bytes"));
		html_bytes_cell(p->out, count_of(t, "disk_bytes"));
		html_count_cell(p->out, json_array_size(json_object_get(t, "regions")));
		html_real_cell(p->out, 3, real_of(t, "largest_over_target"), "");
		html_real_cell(p->out, 3, real_of(t, "smallest_over_target"), "");
		html_real_cell(p->out, 3, real_of(t, "error_over_target"), "");
		add(p, "</tr>\n");
	}
	html_table_end(p->out);
	add(p, "<p><small>Error: possible deviation of the largest region, as a share of "
	       "the target, with 99 % confidence.</small></p>\n");
}

static void regions(struct plan_page *p, json_t *table)
{
	json_t *list = json_object_get(table, "regions"), *from;
	size_t i, n = json_array_size(list);
	struct region_bar *r = arena_alloc(&p->arena, (n + 1) * sizeof *r);

	json_array_foreach(list, i, from)
	{
		uint64_t bytes = count_of(from, "disk_bytes");

		r[i] = (struct region_bar){text_of(from, "start"), count_of(from, "rows"), bytes,
					   bytes};
	}
	part_regions(p->out, r, n, target_of(table), false);
}

static void heavy(struct plan_page *p, json_t *table)
{
	json_t *list = json_object_get(table, "heavy"), *h;
	size_t i;

	add(p, "<h3>Heavy keys</h3>\n");
	if (!json_array_size(list)) {
		add(p,
		    "<p>None: no key and no key prefix is large enough to make a region uneven.</p>\n");
		return;
	}
	html_table(p->out, "heavy keys", "key|of|#rows|#bytes of cells|#at least|#at most|#salts");
	json_array_foreach(list, i, h)
	{
		const char *name = text_of(h, "name");
		bool salt = *name && name[strspn(name, "0123456789")] == 0;

		add(p, salt ? "<tr><td>salt <code>" : "<tr><td><code>");
		html_text(p->out, bytes_str(*name ? name : text_of(h, "key")));
		add(p, "</code></td>");
		add(p, json_is_true(json_object_get(h, "row")) ? "<td>a row</td>"
							       : "<td>rows with this prefix</td>");
		html_count_cell(p->out, count_of(h, "rows"));
		html_bytes_cell(p->out, count_of(h, "cell_bytes"));
		html_bytes_cell(p->out, count_of(h, "at_least"));
		html_bytes_cell(p->out, count_of(h, "at_most"));
		html_count_cell(p->out, count_of(h, "salts"));
		add(p, "</tr>\n");
	}
	html_table_end(p->out);
}

/* Older plans have no places. */
static void places(struct plan_page *p, json_t *table)
{
	json_t *list = json_object_get(table, "places"), *from;
	struct extents at = {0};
	size_t i;

	at.item = arena_alloc(&p->arena, (json_array_size(list) + 1) * sizeof *at.item);
	json_array_foreach(list, i, from)
	{
		struct buf key = {0};

		bytes_unescape(&key, bytes_str(text_of(from, "key")));
		at.item[at.n++] = (struct extent){.row = arena_bytes(&p->arena, buf_bytes(&key)),
						  .bytes = count_of(from, "cell_bytes")};
		at.bytes += at.item[at.n - 1].bytes;
		if (at.n > 1)
			at.item[at.n - 2].last = at.item[at.n - 1].row;
		buf_release(&key);
	}
	part_keys(p->out, &at);
}

static void rivals(struct plan_page *p, json_t *table)
{
	json_t *list = json_object_get(table, "rivals"), *r;
	uint64_t largest = 0, all = 0, empty = 0;
	size_t i, n = json_array_size(json_object_get(table, "regions"));

	if (!json_array_size(list))
		return;
	json_array_foreach(json_object_get(table, "regions"), i, r)
	{
		uint64_t bytes = count_of(r, "cell_bytes");

		largest = bytes > largest ? bytes : largest;
		all += bytes;
		empty += bytes == 0;
	}
	add(p, "<h3>Other split algorithms</h3>\n");
	html_table(p->out, "other split algorithms",
		   "split keys of|#bytes in the largest region|#empty regions|#regions");
	add(p, "<tr><td>these regions</td>");
	html_real_cell(p->out, 1, all ? 100 * (double)largest / (double)all : 0, " %");
	html_count_cell(p->out, empty);
	html_count_cell(p->out, n);
	add(p, "</tr>\n");
	json_array_foreach(list, i, r)
	{
		add(p, "<tr><td>");
		html_text(p->out, bytes_str(text_of(r, "algorithm")));
		add(p, "</td>");
		html_real_cell(p->out, 1, 100 * real_of(r, "largest_share"), " %");
		html_count_cell(p->out, count_of(r, "empty"));
		html_count_cell(p->out, count_of(r, "regions"));
		add(p, "</tr>\n");
	}
	html_table_end(p->out);
}

static void table(struct plan_page *p, json_t *t)
{
	add(p, "<h2>Table ");
	html_text(p->out, bytes_str(text_of(t, "name")));
	add(p, "</h2>\n");
	if (json_object_get(t, "input_share"))
		buf_printf(
			p->out,
			"<p>Predicted from %.1f %% of the input. Counts are right within %.1f %%, "
			"with 99 %% confidence.</p>\n",
			100 * real_of(t, "input_share"), 100 * real_of(t, "scale_error"));
	regions(p, t);
	heavy(p, t);
	places(p, t);
	rivals(p, t);
}

int page_plan(struct buf *out, const char *json, const char *dir, const struct page_files *f,
	      struct error *err)
{
	struct plan_page p = {.out = out, .dir = dir};
	int rc = extras_json(&p.plan, json, "a plan", err);

	if (rc == RC_OK)
		rc = check(p.plan, json, err);
	if (rc == RC_OK)
		rc = extras_read(&p.extras, f, NULL, &p.arena, err);
	if (rc == RC_OK) {
		const char *name = dir ? dir : json;
		char *title = mem_format("saltmill: plan %s", name);
		json_t *t, *lint = json_object_get(p.plan, "lint");
		size_t i;

		if (json_is_array(lint) && !p.extras.linted)
			extras_findings(&p.extras, lint, &p.arena);
		html_begin(out, title);
		overview(&p, name);
		commands(&p);
		totals(&p);
		json_array_foreach(json_object_get(p.plan, "tables"), i, t) table(&p, t);
		part_findings(out, &p.extras);
		html_end(out);
		mem_free(title);
	}
	json_decref(p.plan);
	arena_release(&p.arena);
	return rc;
}
