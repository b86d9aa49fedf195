/* lint_rows.c - rules that need the counted rows of a table */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "counts.h"
#include "fix.h"
#include "source.h"
#include "bytes.h"

#define ORDERED_SHARE 0.25 /* smallest share of rows in rising or falling order that lint reports */
#define KEY_ADVICE    24   /* mean bytes of a key; guides recommend 16 */
#define KEY_LONG      100
#define FAMILY_ROWS   50 /* report a family with this many times the rows of another family */
#define FAMILY_BYTES  100
#define FILLED_SHARE  0.01
#define WIDER	      4
#define WIDE_EVENTS   100000 /* columns of a row that lint reports */
/* 1973-03-03 as milliseconds; as seconds, the year 5138 */
#define EARLY_MS INT64_C(100000000000)
#define LATE_MS	 INT64_C(100000000000000) /* the year 5138 as milliseconds */
/* seconds of the year 2053 as milliseconds */
#define FIRST_DAYS_MS	INT64_C(2620000000)
#define LEAST_IN_BUCKET 20 /* mean rows of a bucket that show whether a salt spreads them */

struct judge {
	struct lint *lint;
	const struct job *job;
	const struct job_table *table;
	const struct table_count *count;
	struct unique_result unique;
	struct source *source; /* the source of the rows */
	int64_t now_ms;
};

static void add(const struct judge *j, const char *rule, enum lint_severity severity,
		struct pos pos, double figure, const char *what, const char *why, const char *fix)
{
	lint_add(j->lint, &(struct lint_finding){.rule = rule,
						 .severity = severity,
						 .table = j->table->schema.name,
						 .pos = pos,
						 .what = what,
						 .why = why,
						 .fix = fix,
						 .figure = figure});
}

static void long_key(const struct judge *j)
{
	const struct table_count *c = j->count;
	double mean = (double)c->key_bytes / (double)c->rows;
	double cells = c->sampled ? (double)c->cells / (double)c->sampled : 0;
	char all[16];

	if (mean < KEY_ADVICE)
		return;
	double *part = arena_alloc(&j->lint->arena, j->table->nrowkey * sizeof *part);
	for (size_t i = 0; i < j->table->nrowkey; i++)
		part[i] = c->sampled ? (double)c->part_bytes[i] / (double)c->sampled : 0;
	format_bytes(all, (uint64_t)(mean * cells * (double)c->rows));
	add(j, "long-key", mean > KEY_LONG ? LINT_WARNING : LINT_ADVICE, j->table->rowkey[0].pos,
	    mean,
	    lint_text(j->lint,
		      "row keys have %.1f bytes on average; stored with each of %.1f cells in a "
		      "row, they need %s",
		      mean, cells, all),
	    "HBase stores the key with every cell, also in the memstore and block cache; guides "
	    "recommend 16 bytes",
	    fix_long_key(j->lint, j->job, j->table, part));
}

static void ordered_head(const struct judge *j)
{
	const struct table_count *c = j->count;
	const struct region_rule *r = &j->table->regions.rule;
	bool falls = c->falling > c->rising;
	double share = (double)(falls ? c->falling : c->rising) / (double)c->rows;

	if (share < ORDERED_SHARE)
		return;
	add(j, "ordered-head", LINT_WARNING, j->table->rowkey[0].pos, share,
	    lint_text(j->lint,
		      "%.0f%% of the row keys are %s all before them in the order of the events",
		      100 * share, falls ? "below" : "above"),
	    "all live events then go to one region, so one server does all the work; this does "
	    "not affect a bulk load",
	    fix_salt(j->lint, j->job, j->table, r->count > r->servers ? r->count : r->servers));
}

/* Merge the small family's columns into the large one. */
static void add_unbalanced(const struct judge *j, size_t small, size_t large, double figure,
			   const char *what)
{
	size_t n = j->table->schema.nfamilies;
	bool *is_small = arena_alloc(&j->lint->arena, n * sizeof *is_small);

	for (size_t i = 0; i < n; i++)
		is_small[i] = i == small;
	add(j, "unbalanced-families", LINT_WARNING, j->table->schema.families[small].pos, figure,
	    what,
	    "the large family decides when regions split, so the small family has few rows in "
	    "each of many regions; use one family, or a separate table",
	    fix_join_families(j->lint, j->table, is_small, large));
}

static void unbalanced_families(const struct judge *j)
{
	const struct table_count *c = j->count;
	size_t most = 0, least = 0, heavy = 0, light = 0;
	const struct family_count *f = c->families;

	for (size_t i = 1; i < j->table->schema.nfamilies; i++) {
		most = f[i].rows > f[most].rows ? i : most;
		least = f[i].rows < f[least].rows ? i : least;
		heavy = f[i].bytes > f[heavy].bytes ? i : heavy;
		light = f[i].bytes < f[light].bytes ? i : light;
	}
	const struct family *all = j->table->schema.families;
	double rows = (double)f[most].rows / (double)(f[least].rows ? f[least].rows : 1);
	double bytes = (double)f[heavy].bytes / (double)(f[light].bytes ? f[light].bytes : 1);
	if (f[most].rows > 0 && f[least].rows == 0)
		add_unbalanced(j, least, most, rows,
			       lint_text(j->lint, "no row has a cell of family %s",
					 all[least].name));
	else if (rows >= FAMILY_ROWS)
		add_unbalanced(j, least, most, rows,
			       lint_text(j->lint, "family %s has %.0f times the rows of family %s",
					 all[most].name, rows, all[least].name));
	else if (bytes >= FAMILY_BYTES)
		add_unbalanced(j, light, heavy, bytes,
			       lint_text(j->lint, "family %s has %.0f times the bytes of family %s",
					 all[heavy].name, bytes, all[light].name));
}

static const char *wider_part(const struct judge *j, const struct key_part *p)
{
	struct draft d = draft_of(j->lint, &j->table->written.rowkey);
	size_t i = draft_find(&d, p->pos);

	if (i < d.n)
		d.text[i] = fix_set(j->lint, d.text[i], "width",
				    lint_text(j->lint, "%u", p->width + WIDER));
	return draft_text(j->lint, &d, "rowkey");
}

static void tight_padding(const struct judge *j)
{
	const struct table_count *c = j->count;

	for (size_t i = 0; i < j->table->nrowkey; i++) {
		const struct key_part *p = &j->table->rowkey[i];
		double share = c->sampled ? (double)c->filled[i] / (double)c->sampled : 0;

		/* values of equal width are codes, not numbers that grow */
		if (p->kind != PART_FIELD || !p->width || share < FILLED_SHARE ||
		    c->filled[i] == c->sampled)
			continue;
		const char *name = j->job->fields[p->field].name;
		add(j, "tight-padding", LINT_WARNING, p->pos, share,
		    lint_text(j->lint, "`%s` fills its width of %u in %.1f%% of the rows", name,
			      p->width, 100 * share),
		    "a longer value does not fit, so saltmill will reject it; a wider key then "
		    "needs a new table",
		    wider_part(j, p));
	}
}

/*
 * Report a row with very many columns. Rows with equal hashes share a counter, so the result leaves
 * out the mean of the counters.
 */
static void wide_row(const struct judge *j)
{
	const struct table_count *c = j->count;
	uint64_t widest = 0, mean = c->rows / WIDE_SLOTS;

	for (size_t i = 0; c->wide && i < WIDE_SLOTS; i++)
		widest = c->wide[i] > widest ? c->wide[i] : widest;
	if (widest < mean + WIDE_EVENTS)
		return;
	const struct key_part *p = lint_wide_part(j->table);
	add(j, "wide-row", LINT_WARNING, p->pos, (double)(widest - mean),
	    lint_text(j->lint,
		      "about %" PRIu64 " events are columns of one row, by `%s` in the qualifier",
		      widest - mean, j->job->fields[p->field].name),
	    "HBase never splits a region within a row, and a get of the row reads all columns; "
	    "with the field in the row key, the columns become rows that a region split divides",
	    fix_tell_apart(j->lint, j->job, j->table, p->field));
}

const char *lint_unit(const struct field *f, int64_t oldest_ms, int64_t newest_ms, uint64_t rows)
{
	static const struct {
		enum time_unit unit;
		const char *name;
		double ms;
	} units[] = {{TIME_S, "s", 1000},
		     {TIME_MS, "ms", 1},
		     {TIME_US, "us", 1e-3},
		     {TIME_NS, "ns", 1e-6}};
	double declared = 0;
	bool early = newest_ms > 0 && newest_ms<EARLY_MS, late = oldest_ms> LATE_MS;

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (f->type == FIELD_TIME && units[i].unit == f->unit)
			declared = units[i].ms;
	if (reads_column(f, "$offset")) /* a rank, not a time */
		declared = 0;
	if (!(declared > 0) || oldest_ms > newest_ms || !(early || late))
		return NULL;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		double oldest = (double)oldest_ms / declared * units[i].ms;
		double newest = (double)newest_ms / declared * units[i].ms;

		if (newest < (double)EARLY_MS || newest > (double)LATE_MS)
			continue;
		/*
		 * few rows prove only a clear case, in which all times are in the first days of
		 * 1970
		 */
		if (rows >= LINT_ROWS_LEAST || late ||
		    (newest_ms < FIRST_DAYS_MS && oldest >= (double)EARLY_MS))
			return units[i].name;
	}
	return NULL;
}

const char *lint_unit_text(struct lint *l, const struct field *f, const char *unit,
			   int64_t newest_ms)
{
	const char *name = unit[0] == 's'   ? "seconds"
			   : unit[0] == 'm' ? "milliseconds"
			   : unit[0] == 'u' ? "microseconds"
					    : "nanoseconds";

	return lint_text(l, "all times of `%s` are %s, but would be recent in %s", f->name,
			 newest_ms < EARLY_MS ? "before March 1973" : "after the year 5138", name);
}

static void mistaken_unit(const struct judge *j)
{
	const struct table_count *c = j->count;
	const struct field *f = &j->job->fields[j->table->timestamp_field];
	const char *unit = j->table->timestamp_constant || !c->rows
				   ? NULL
				   : lint_unit(f, c->oldest_ms, c->newest_ms, c->rows);

	if (!unit)
		return;
	add(j, "mistaken-unit", LINT_SEVERE, f->pos, (double)c->newest_ms,
	    lint_unit_text(j->lint, f, unit, c->newest_ms),
	    "cells with a wrong time expire by a TTL, or overwrite newer cells",
	    fix_field(j->lint, j->job, f, "unit", unit));
}

/* Report a salt that leaves most buckets empty, or puts most rows into one. */
static void uneven_salt(const struct judge *j)
{
	const struct table_count *c = j->count;
	const struct key_part *p = &j->table->rowkey[0];
	uint64_t used = 0, most = 0;

	if (!c->buckets || c->rows < (uint64_t)LEAST_IN_BUCKET * p->buckets)
		return;
	for (uint32_t b = 0; b < p->buckets; b++) {
		used += c->buckets[b] > 0;
		most = c->buckets[b] > most ? c->buckets[b] : most;
	}
	double share = (double)most / (double)c->rows;
	if (2 * used > p->buckets && share < 0.5)
		return;
	add(j, "uneven-salt", LINT_WARNING, p->pos, share,
	    lint_text(j->lint,
		      "the salt uses %" PRIu64 " of %u buckets, and the fullest has %.0f%% of the "
		      "rows, because `of` has few different values",
		      used, p->buckets, 100 * share),
	    "all rows with the same value are in one bucket, so few servers do the work; a salt "
	    "needs fields with many values",
	    fix_salt_of_all(j->lint, j->job, j->table));
	j->lint->findings[j->lint->count - 1].always = true;
}

static void short_ttl(const struct judge *j)
{
	const struct table_count *c = j->count;

	for (size_t i = 0; i < j->table->schema.nfamilies; i++) {
		const struct family *f = &j->table->schema.families[i];
		double age_s = (double)(j->now_ms - c->oldest_ms) / 1000;
		bool all = (double)(j->now_ms - c->newest_ms) / 1000 > f->ttl_s;
		double days = floor(age_s / 86400) + 366;
		char oldest[32];
		time_t at = (time_t)(c->oldest_ms / 1000);
		struct tm tm;

		if (f->ttl_s == TTL_FOREVER || f->min_versions > 0 || age_s <= f->ttl_s ||
		    !gmtime_r(&at, &tm))
			continue;
		strftime(oldest, sizeof oldest, "%Y-%m-%d", &tm);
		add(j, "short-ttl", all ? LINT_SEVERE : LINT_WARNING, f->pos, age_s,
		    lint_text(j->lint,
			      "family %s has a TTL of %d s, and the oldest cells are from "
			      "%s%s",
			      f->name, (int)f->ttl_s, oldest,
			      all ? ", and all cells are older "
				    "than that"
				  : ""),
		    "HBase does not return cells that are older than the TTL, and the next "
		    "compaction removes them",
		    fix_family(j->lint, j->table, f, "ttl",
			       days * 86400 > TTL_FOREVER ? NULL
							  : lint_text(j->lint, "%.0fd", days)));
	}
}

/* Report collisions of keys. One collision is sufficient, even if there are few rows. */
static void not_unique(const struct judge *j)
{
	const struct unique_result *u = &j->unique;
	struct buf what = {0};

	if (u->hidden == 0)
		return;
	double share = (double)u->hidden / (double)u->events;
	buf_printf(&what,
		   " other events with the same row key, columns and timestamp, but other "
		   "values, overwrite %.4g%% of the events; for example  ",
		   100 * share);
	source_place(j->source, u->first, &what);
	buf_append_str(&what, " and ");
	source_place(j->source, u->second, &what);
	if (u->share < 1)
		buf_printf(&what, " (measured on 1 of %.0f keys)", 1 / u->share);
	if (u->repeated)
		buf_printf(&what, "; %.4g%% are exact duplicates, which lose no data",
			   100 * (double)u->repeated / (double)u->events);
	const struct cell_spec *cell = &j->table->cells[u->column];
	add(j, "key-not-unique", LINT_SEVERE, j->table->rowkey[j->table->nrowkey - 1].pos, share,
	    arena_strndup(&j->lint->arena, what.ptr, what.len),
	    "HBase returns one cell for each row, column and timestamp, so two events that "
	    "differ only in their values need different keys",
	    fix_tell_apart(j->lint, j->job, j->table,
			   cell->kind == VALUE_FIELD ? cell->field : j->table->timestamp_field));
	buf_release(&what);
}

void lint_times(struct lint *l, const struct job *job, size_t table, uint64_t rows,
		int64_t oldest_ms, int64_t newest_ms)
{
	const struct table_count c = {.rows = rows, .oldest_ms = oldest_ms, .newest_ms = newest_ms};
	const struct judge j = {.lint = l, .job = job, .table = &job->tables[table], .count = &c};

	mistaken_unit(&j);
}

void lint_watch_judge(struct lint_watch *w, struct lint *l, struct source *source, int64_t now_ms)
{
	static void (*const rules[])(
		const struct judge *) = {long_key, ordered_head, unbalanced_families, tight_padding,
					 wide_row, short_ttl,	 uneven_salt};
	for (size_t t = 0; t < w->job->ntables; t++) {
		const struct job_table *table = &w->job->tables[t];
		struct table_count sum = {.oldest_ms = INT64_MAX, .newest_ms = INT64_MIN};
		const struct judge j = {
			l,	w->job, table, &sum, unique_judge(w->unique[t], table->ncells),
			source, now_ms};

		sum.families = mem_calloc(table->schema.nfamilies, sizeof *sum.families);
		sum.filled = mem_calloc(table->nrowkey, sizeof *sum.filled);
		sum.part_bytes = mem_calloc(table->nrowkey, sizeof *sum.part_bytes);
		sum.regions = mem_calloc(w->splits[t].count + 1, sizeof *sum.regions);
		if (lint_wide_part(table))
			sum.wide = mem_calloc(WIDE_SLOTS, sizeof *sum.wide);
		sum.buckets = lint_buckets_new(table);
		lint_watch_sum(w, t, &sum);
		for (size_t i = 0; sum.rows >= LINT_ROWS_LEAST && i < sizeof rules / sizeof *rules;
		     i++)
			rules[i](&j);
		mistaken_unit(&j);
		lint_regions(l, w->job, t, sum.regions, w->splits[t].count + 1);
		not_unique(&j);
		mem_free(sum.families);
		mem_free(sum.filled);
		mem_free(sum.part_bytes);
		mem_free(sum.regions);
		mem_free(sum.wide);
		mem_free(sum.buckets);
	}
}
