/*
 * cmd_key_ranges.c - implements `saltmill key ranges`, which prints the scans that answer a
 * query
 */
#include <string.h>
#include <unistd.h>

#include "by_field.h"
#include "cmd_key.h"
#include "io.h"
#include "mem.h"
#include "publish.h"
#include "cli/report_views.h"
#include "cli/reports.h"
#include "bytes.h"

/*
 * Return another table of the job whose row key begins with fields of the query, or NULL if no
 * table does.
 */
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

/* --- cost of the scans --- */

/*
 * Return true if a range overlaps the keys from `start` to before `stop`. An empty bound is open.
 */
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
						 1); /* a 0 byte makes the next possible row key */
			add_piece(p, f->bytes, is_touched(r, f->first_row, behind));
		}
	arena_release(&a);
	return rc;
}

static int add_plan(struct touched_pieces *p, const struct key_desk *d, const struct key_ranges *r,
		    const char *path, struct error *err)
{
	struct plan_view plan = {0};
	struct arena a = {0};
	struct error why;
	int rc = form_read(&plan_form, &plan, path, "a plan", &a, &why);

	if (rc)
		error_set(err, RC_CONFIG,
			  "%s; expected the folder of a load (manifest.json) or of a plan "
			  "(plan.json)",
			  why.msg);
	for (size_t t = 0; rc == RC_OK && t < plan.ntables; t++) {
		const struct plan_table_view *v = &plan.tables[t];

		for (size_t i = 0; !strcmp(v->name, d->table->schema.name) && i < v->nregions; i++)
			add_piece(p, v->regions[i].disk_bytes,
				  is_touched(r, v->regions[i].start, v->regions[i].end));
	}
	arena_release(&a);
	p->planned = true;
	return rc == RC_OK ? RC_OK : RC_CONFIG;
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

/*
 * Return true if the filter has a fuzzy-row filter, which key_filter puts first. `f` is NULL if
 * there is no filter.
 */
static bool has_fuzzy(const struct filter *f)
{
	if (f && f->type == FILTER_LIST_AND)
		f = f->of[0];
	return f && f->type == FILTER_FUZZY_ROW;
}

/* Return advice on a query that has no condition on the key's first part. */
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
	char *text = mem_format(
		"the query does not fix the first part of the row key; use %s (%s), or a table "
		"whose row key begins with a field of the query",
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
		return mem_format("the row key does not keep the order of `%s`, so the condition "
				  "has no range (it is reversed, padded at the front, or in the "
				  "form of the source)",
				  s->ranges->lost);
	if (s->ranges->spans)
		return mem_format("the condition on `%s` spans more than 10,000 of its buckets in "
				  "the row key, so one range reads all of them; ask for a shorter "
				  "time, or several times",
				  s->ranges->spans);
	return NULL;
}

/* --- columns of a wide row --- */

/*
 * Objects that find the columns. The report borrows their memory, so release them after the report.
 */
struct column_search {
	struct stored stored;
	struct published families;
	struct where *where;
	struct query query;
};

static void column_search_release(struct column_search *c)
{
	where_free(c->where);
	published_release(&c->families);
	stored_release(&c->stored);
}

static struct key_range range_of(const struct query_range *r)
{
	return (struct key_range){r->start, r->stop};
}

/*
 * Return true if the range is one column whose qualifier has no colon. The shell reads the text
 * after a second colon as the name of a converter.
 */
static bool can_be_named(const struct query_range *r)
{
	struct key_range one = range_of(r);

	return key_range_is_row(&one) && !memchr(r->start.ptr, ':', r->start.len);
}

static struct filter *column_filter(struct arena *a, struct bytes start, struct bytes stop,
				    bool stop_inclusive)
{
	struct filter *f = arena_alloc(a, sizeof *f);

	*f = (struct filter){.type = FILTER_COLUMN_RANGE,
			     .start = start,
			     .stop = stop,
			     .open_start = start.len == 0,
			     .open_stop = stop.len == 0,
			     .start_inclusive = true,
			     .stop_inclusive = stop_inclusive};
	return f;
}

/*
 * Name the query's columns in the scans. If that is impossible, name only their families and add
 * the columns' ranges to the filters.
 */
static void name_columns(struct ranges_shown *s, const struct column_search *c, struct filter **of,
			 size_t *n, struct arena *a)
{
	const struct query *q = &c->query;
	struct ranges_column *named = arena_alloc(a, (q->nspans + q->ncolumns + 1) * sizeof *named);
	struct filter **some =
		arena_alloc(a, (q->nspans + q->ncolumns + 1) * sizeof(struct filter *));
	struct filter *any = arena_alloc(a, sizeof *any);
	bool all = true;

	for (size_t i = 0; i < q->nspans; i++)
		all = all && can_be_named(&q->spans[i]);
	*any = (struct filter){.type = FILTER_LIST_OR, .of = some};
	for (size_t i = 0; i < q->nspans; i++) {
		some[any->nof++] = column_filter(a, q->spans[i].start, q->spans[i].stop, false);
		if (all)
			named[s->nnamed++] =
				(struct ranges_column){c->families.families[q->span_family].name,
						       range_of(&q->spans[i])};
	}
	for (size_t i = 0; i < q->ncolumns; i++) {
		const struct query_column *one = &q->columns[i];
		struct ranges_column column = {.family = c->families.families[one->family].name};

		if (one->all && all)
			continue;
		if (!one->all) {
			struct bytes name = arena_bytes(a, one->qualifier); /* adds a 0 byte */

			some[any->nof++] = column_filter(a, name, name, true);
			column.qualifiers =
				(struct key_range){name, bytes_of(name.ptr, name.len + 1)};
		}
		named[s->nnamed++] = column;
	}
	s->named = named;
	if (!all)
		of[(*n)++] = any->nof == 1 ? some[0] : any;
}

/* Add the columns that the query selects, and apply --max-columns. */
static void add_columns(const struct key_desk *d, struct ranges_shown *s, const struct question *q,
			struct column_search *c, struct arena *a)
{
	struct where_columns found;
	struct error unheard;
	struct filter **of = arena_alloc(a, 3 * sizeof(struct filter *));
	struct filter *list = arena_alloc(a, sizeof *list), *page = arena_alloc(a, sizeof *page);
	size_t n = 0;

	stored_open(&c->stored, &d->keys, &d->forms);
	bool wide = published_open(&c->families, &d->table->schema, NULL, 0, &unheard) == RC_OK &&
		    where_new(&c->where, &c->stored, c->families.families, c->families.nfamilies, q,
			      false, &unheard) == RC_OK &&
		    where_columns(c->where, &found);
	if (s->checks.filter)
		of[n++] = s->checks.filter;
	if (wide) {
		struct ranges_column *columns = arena_alloc(a, (found.n + 1) * sizeof *columns);

		where_put(c->where, &c->query);
		for (size_t i = 0; i < found.n; i++)
			columns[i] =
				(struct ranges_column){found.family, range_of(&found.spans[i])};
		s->columns = columns;
		s->ncolumns = found.n;
		s->checks.exact = found.exact;
		name_columns(s, c, of, &n, a);
	}
	*page = (struct filter){.type = FILTER_COLUMN_PAGINATION, .limit = s->max_columns};
	if (s->max_columns && (s->ranges->exact || s->checks.exact))
		of[n++] = page;
	*list = (struct filter){.type = FILTER_LIST_AND, .of = of, .nof = n};
	s->checks.filter = n > 1 ? list : n ? of[0] : NULL;
}

/*
 * Choose the output form. Returns RC_CONFIG if --format, --json and --limit contradict each other.
 */
static int choose_form(const struct arguments *a, enum ranges_form *form, struct error *err)
{
	*form = arguments_given(a, "format") ? a->format : a->run.json ? RANGES_JSON : RANGES_TABLE;
	bool max = a->scan.q.max_columns > 0;

	if ((a->scan.q.limit || max) && (*form == RANGES_TABLE || *form == RANGES_JSON))
		return error_set(err, RC_CONFIG,
				 "--%s: found no --format of code, expected `--format shell`, "
				 "`java` or `python`",
				 max ? "max-columns" : "limit");
	return RC_OK;
}

int key_ranges_print(struct key_desk *d, const char *where, struct buf *out, struct error *err)
{
	/*
	 * Python's filter language supports only the column filters that need neither `fuzzy` nor
	 * `rows`.
	 */
	static const struct key_filter_use columns = {.fuzzy = false, .rows = false};
	struct arena a = {0};
	struct key_ranges r;
	struct question q;
	enum ranges_form form;
	struct ranges_shown shown = {.ranges = &r,
				     .table = d->table->schema.name,
				     .question = where,
				     .limit = d->args->scan.q.limit,
				     .max_columns = d->args->scan.q.max_columns};
	struct column_search search = {0};
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
		add_columns(d, &shown, &q, &search, &a);
		rc = find_cost(&shown.cost, d, &r, &a, err);
	}
	if (rc == RC_OK) {
		char *advice = make_advice(d, &shown, &q, &a);

		shown.advice = advice;
		ranges_report(out, &shown, form);
		mem_free(advice);
	}
	column_search_release(&search);
	arena_release(&a);
	return rc;
}
