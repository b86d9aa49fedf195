/* cmd_key_ranges.c - `saltmill key ranges JOB --where TEXT`: the scans that answer a query */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "cmd_key.h"
#include "io.h"
#include "mem.h"
#include "publish.h"
#include "cli/reports.h"
#include "bytes.h"

/* Return another table of the job whose row key begins with fields of the query; NULL: none. */
static const struct job_table *better_table(const struct key_desk *d, const struct question *q,
					    struct arena *a, size_t *n)
{
	const struct job_table *found = NULL;

	for (size_t i = 0; !found && i < d->job.ntables; i++) {
		const struct job_table *t = &d->job.tables[i];
		struct key_ranges r;
		struct key_table k;
		struct error err;

		if (t == d->table)
			continue;
		key_table_open(&k, &d->job, t);
		if (key_ranges(&r, &k, &d->forms, q, a, &err) == RC_OK && !r.whole) {
			found = t;
			*n = r.n;
		}
		key_table_close(&k);
	}
	return found;
}

/* --- what it costs --- */

/* Does a range overlap the keys from start to before stop (empty: open)? */
static bool is_touched(const struct key_ranges *r, struct bytes start, struct bytes stop)
{
	for (size_t i = 0; i < r->n; i++)
		if ((!r->range[i].stop.len || bytes_cmp(start, r->range[i].stop) < 0) &&
		    (!stop.len || bytes_cmp(r->range[i].start, stop) < 0))
			return true;
	return false;
}

struct touched_pieces {
	uint64_t n, touched, bytes, touched_bytes;
	bool planned;
};

static void add_piece(struct touched_pieces *p, uint64_t bytes, bool touched)
{
	p->n++;
	p->bytes += bytes;
	p->touched += touched;
	p->touched_bytes += touched ? bytes : 0;
}

static int add_load(struct touched_pieces *p, const struct key_desk *d, const struct key_ranges *r,
		    const char *path, struct error *err)
{
	struct manifest m;
	struct arena a = {0};
	int rc = manifest_read(&m, path, &a, err);

	for (size_t t = 0; rc == RC_OK && t < m.ntables; t++)
		for (size_t i = 0;
		     !strcmp(m.tables[t].name, d->table->schema.name) && i < m.tables[t].nfiles;
		     i++) {
			const struct manifest_file *f = &m.tables[t].files[i];
			struct bytes behind =
				bytes_of(arena_strndup(&a, f->last_row.ptr, f->last_row.len),
					 f->last_row.len +
						 1); /* with its NUL: the next possible row */
			add_piece(p, f->bytes, is_touched(r, f->first_row, behind));
		}
	arena_release(&a);
	return rc;
}

static void add_region(struct touched_pieces *p, const struct key_ranges *r, const json_t *region)
{
	struct buf start = {0}, end = {0};
	const char *from = json_string_value(json_object_get(region, "start"));
	const char *to = json_string_value(json_object_get(region, "end"));

	bytes_unescape(&start, bytes_str(from ? from : ""));
	bytes_unescape(&end, bytes_str(to ? to : ""));
	json_int_t bytes = json_integer_value(json_object_get(region, "disk_bytes"));
	add_piece(p, bytes > 0 ? (uint64_t)bytes : 0,
		  is_touched(r, buf_bytes(&start), buf_bytes(&end)));
	buf_release(&start);
	buf_release(&end);
}

static int add_plan(struct touched_pieces *p, const struct key_desk *d, const struct key_ranges *r,
		    const char *path, struct error *err)
{
	json_error_t fault;
	json_t *plan = json_load_file(path, 0, &fault), *table, *region;
	size_t i, k;

	if (!plan)
		return error_set(err, RC_CONFIG,
				 "%s: %s; expected the folder of a load (manifest.json) or of a "
				 "plan (plan.json)",
				 path, fault.text);
	json_array_foreach(json_object_get(plan, "tables"), i, table)
	{
		const char *name = json_string_value(json_object_get(table, "name"));

		if (!name || strcmp(name, d->table->schema.name) != 0)
			continue;
		json_array_foreach(json_object_get(table, "regions"), k, region)
			add_region(p, r, region);
	}
	json_decref(plan);
	p->planned = true;
	return RC_OK;
}

static int find_cost(struct ranges_cost *out, const struct key_desk *d, const struct key_ranges *r,
		     struct arena *a, struct error *err)
{
	const char *const *dirs = arguments_files(d->args, 2);
	size_t ndirs = d->args->noperands - 2;
	struct touched_pieces p = {0};
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < ndirs; i++) {
		char *path = mem_format("%s/manifest.json", dirs[i]);
		bool is_load;

		rc = io_exists(path, &is_load, err);
		if (rc == RC_OK && is_load) {
			rc = add_load(&p, d, r, path, err);
		} else if (rc == RC_OK) {
			mem_free(path);
			path = mem_format("%s/plan.json", dirs[i]);
			rc = add_plan(&p, d, r, path, err);
		}
		mem_free(path);
	}
	char *of = mem_format("%llu of %llu %s", (unsigned long long)p.touched,
			      (unsigned long long)p.n, p.planned ? "planned regions" : "files");
	*out = (struct ranges_cost){ndirs > 0, arena_strdup(a, of), p.bytes, p.touched_bytes};
	mem_free(of);
	return rc;
}

/* --- advice --- */

/* key_filter puts a fuzzy row first.  f NULL: no filter. */
static bool has_fuzzy(const struct filter *f)
{
	if (f && f->type == FILTER_LIST_AND)
		f = f->of[0];
	return f && f->type == FILTER_FUZZY_ROW;
}

/* Advises on a question that leaves the key's first part open. */
static char *whole_advice(const struct key_desk *d, const struct ranges_shown *s,
			  const struct question *q, struct arena *a)
{
	size_t n;
	char bytes[16];
	const struct job_table *other = better_table(d, q, a, &n);

	if (other)
		return mem_format(
			"table %s answers the query with %zu range%s of its row keys: --table %s",
			other->schema.name, n, n == 1 ? "" : "s", other->schema.name);
	char *size = s->cost.known ? mem_format("%s", format_bytes(bytes, s->cost.touched))
				   : mem_strdup("for the bytes, name a load or a plan: key ranges "
						"JOB DIR");
	bool fuzzy = has_fuzzy(s->checks.filter);
	char *text =
		mem_format("the query does not fix the first part of the row key: use %s (%s), "
			   "or a table whose row key begins with a field of the query",
			   fuzzy ? "a scan of the whole table with a fuzzy-row filter, which "
				   "skips rows on the server"
				 : "a scan of the whole table",
			   size);
	mem_free(size);
	return text;
}

static char *make_advice(const struct key_desk *d, const struct ranges_shown *s,
			 const struct question *q, struct arena *a)
{
	if (s->ranges->whole)
		return whole_advice(d, s, q, a);
	if (s->ranges->lost)
		return mem_format("the row key does not keep the order of `%s` (it is reversed, "
				  "padded at the front, or written as in the source), so the "
				  "condition has no range",
				  s->ranges->lost);
	return NULL;
}

/* --format, --json and --limit fit together. */
static int choose_form(const struct arguments *a, enum ranges_form *form, struct error *err)
{
	*form = arguments_given(a, "format") ? a->format : a->run.json ? RANGES_JSON : RANGES_TABLE;
	if (a->scan.q.limit && (*form == RANGES_TABLE || *form == RANGES_JSON))
		return error_set(err, RC_CONFIG,
				 "--limit: found no --format of code, expected `--format shell`, "
				 "`java` or `python`");
	return RC_OK;
}

int key_ranges_print(struct key_desk *d, const char *where, struct buf *out, struct error *err)
{
	/* the filter language, which Python uses, has no other filters for this */
	static const struct key_filter_use columns = {.fuzzy = false, .rows = false};
	struct arena a = {0};
	struct key_ranges r;
	struct question q;
	enum ranges_form form;
	struct ranges_shown shown = {.ranges = &r,
				     .table = d->table->schema.name,
				     .question = where,
				     .limit = d->args->scan.q.limit};
	int rc = choose_form(d->args, &form, err);

	if (rc == RC_OK && !where)
		rc = error_set(err, RC_CONFIG,
			       "found no --where, expected a query like `--where "
			       "\"owner = 1 and created >= 20120901\"`");
	if (rc == RC_OK)
		rc = question_parse(&q, "--where", where, &a, err);
	if (rc == RC_OK)
		rc = key_ranges(&r, &d->keys, &d->forms, &q, &a, err);
	if (rc == RC_OK) {
		key_filter(&shown.checks, &r, &d->keys, form == RANGES_PYTHON ? &columns : NULL,
			   &a);
		rc = find_cost(&shown.cost, d, &r, &a, err);
	}
	if (rc == RC_OK) {
		char *advice = make_advice(d, &shown, &q, &a);

		shown.advice = advice;
		ranges_report(out, &shown, form);
		mem_free(advice);
	}
	arena_release(&a);
	return rc;
}
