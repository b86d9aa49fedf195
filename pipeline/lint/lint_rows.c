/*
 * lint_rows.c - what the counted rows of a table show
 */
#include <time.h>

#include "counts.h"
#include "findings_of.h"
#include "units.h"

#define ORDERED_SHARE 0.25 /* of the rows */
#define KEY_ADVICE    24   /* bytes, a mean: 16 is what guides advise */
#define KEY_LONG      100
#define FAMILY_ROWS   50 /* times as many rows as another family */
#define FAMILY_BYTES  100
#define FILLED_SHARE  0.01
#define EARLY_MS      INT64_C(100000000000)    /* 1973-03-03; as seconds the year 5138 */
#define LATE_MS	      INT64_C(100000000000000) /* the year 5138 */

struct judge {
	struct lint *lint;
	const struct job *job;
	const struct job_table *table;
	const struct table_count *count;
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
	format_bytes(all, (uint64_t)(mean * cells * (double)c->rows));
	add(j, "long-key", mean > KEY_LONG ? LINT_WARNING : LINT_ADVICE, j->table->rowkey[0].pos,
	    mean,
	    lint_text(j->lint,
		      "row keys have %.1f bytes in the mean; stored again with each of %.1f cells "
		      "a row that is %s",
		      mean, cells, all),
	    "the key is stored with every cell, in the memstore and block cache too; 16 bytes are "
	    "what guides advise",
	    "- {field: NAME, as: u32}   # numbers and times as bytes, a {hash: md5, width: 8} for "
	    "long text; "
	    "data_block_encoding: FAST_DIFF saves what remains on disk");
}

static void ordered_head(const struct judge *j)
{
	const struct table_count *c = j->count;
	bool falls = c->falling > c->rising;
	double share = (double)(falls ? c->falling : c->rising) / (double)c->rows;
	if (share < ORDERED_SHARE)
		return;
	add(j, "ordered-head", LINT_WARNING, j->table->rowkey[0].pos, share,
	    lint_text(j->lint,
		      "%.0f%% of the row keys are %s all before them in the order of the events",
		      100 * share, falls ? "below" : "above"),
	    "events that come live are then all written to one region, its server does all the "
	    "work; a bulk load alone does not suffer",
	    "- {salt: 16, of: [ENTITY]}   # in front; or the entity first and the time behind it");
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
	static const char why[] = "regions split by the large family, so the small one is "
				  "scattered over many regions, a little in each";
	static const char fix[] = "put the small family into a table of its own, or its columns "
				  "into the large family";
	double rows = (double)f[most].rows / (double)(f[least].rows ? f[least].rows : 1);
	double bytes = (double)f[heavy].bytes / (double)(f[light].bytes ? f[light].bytes : 1);
	if (f[most].rows > 0 && f[least].rows == 0)
		add(j, "unbalanced-families", LINT_WARNING, all[least].pos, rows,
		    lint_text(j->lint, "no row has a cell of family %s", all[least].name), why,
		    fix);
	else if (rows >= FAMILY_ROWS)
		add(j, "unbalanced-families", LINT_WARNING, all[least].pos, rows,
		    lint_text(j->lint, "family %s has %.0f times the rows of family %s",
			      all[most].name, rows, all[least].name),
		    why, fix);
	else if (bytes >= FAMILY_BYTES)
		add(j, "unbalanced-families", LINT_WARNING, all[light].pos, bytes,
		    lint_text(j->lint, "family %s has %.0f times the bytes of family %s",
			      all[heavy].name, bytes, all[light].name),
		    why, fix);
}

static void tight_padding(const struct judge *j)
{
	const struct table_count *c = j->count;
	for (size_t i = 0; i < j->table->nrowkey; i++) {
		const struct key_part *p = &j->table->rowkey[i];
		double share = c->sampled ? (double)c->filled[i] / (double)c->sampled : 0;
		/* all of one width is a code, not a number that grows */
		if (p->kind != PART_FIELD || !p->width || share < FILLED_SHARE ||
		    c->filled[i] == c->sampled)
			continue;
		const char *name = j->job->fields[p->field].name;
		add(j, "tight-padding", LINT_WARNING, p->pos, share,
		    lint_text(j->lint, "`%s` fills its width of %u in %.1f%% of the rows", name,
			      p->width, 100 * share),
		    "the next longer value does not fit and is rejected; a wider key then makes a "
		    "new table",
		    lint_text(j->lint, "- {field: %s, width: %u}", name, p->width + 4));
	}
}

static void mistaken_unit(const struct judge *j)
{
	if (j->table->timestamp_constant)
		return;
	const struct table_count *c = j->count;
	const struct field *f = &j->job->fields[j->table->timestamp_field];
	const char *unit = NULL;
	if (f->unit == TIME_MS && c->newest_ms > 0 && c->newest_ms < EARLY_MS)
		unit = "s";
	else if (f->unit == TIME_S && c->oldest_ms > LATE_MS)
		unit = "ms";
	if (!unit)
		return;
	add(j, "mistaken-unit", LINT_SEVERE, f->pos, (double)c->newest_ms,
	    lint_text(j->lint, "all times of `%s` are %s: as %s they would be of today", f->name,
		      unit[1] ? "after the year 5138" : "before March 1973",
		      unit[1] ? "milliseconds" : "seconds"),
	    "cells with a wrong time are hidden by a TTL or hide what is written later",
	    lint_text(j->lint, "%s: {type: time, unit: %s}", f->name, unit));
}

static void short_ttl(const struct judge *j)
{
	const struct table_count *c = j->count;
	for (size_t i = 0; i < j->table->schema.nfamilies; i++) {
		const struct family *f = &j->table->schema.families[i];
		double age_s = (double)(j->now_ms - c->oldest_ms) / 1000;
		bool all = (double)(j->now_ms - c->newest_ms) / 1000 > f->ttl_s;
		char oldest[32];
		time_t at = (time_t)(c->oldest_ms / 1000);
		struct tm tm;
		if (f->ttl_s == TTL_FOREVER || f->min_versions > 0 || age_s <= f->ttl_s ||
		    !gmtime_r(&at, &tm))
			continue;
		strftime(oldest, sizeof oldest, "%Y-%m-%d", &tm);
		add(j, "short-ttl", all ? LINT_SEVERE : LINT_WARNING, f->pos, age_s,
		    lint_text(j->lint, "family %s has a TTL of %d s, the oldest cells are of %s%s",
			      f->name, (int)f->ttl_s, oldest, all ? ", and so old are all" : ""),
		    "HBase shows no cell that is older than its TTL, and the next compaction drops "
		    "it",
		    lint_text(j->lint, "families: {%s: {ttl: %.0fd}}   # or none", f->name,
			      age_s / 86400 + 366));
	}
}

void lint_watch_judge(struct lint_watch *w, struct lint *l, int64_t now_ms)
{
	static void (*const rules[])(
		const struct judge *) = {long_key,	ordered_head,  unbalanced_families,
					 tight_padding, mistaken_unit, short_ttl};
	for (size_t t = 0; t < w->job->ntables; t++) {
		const struct job_table *table = &w->job->tables[t];
		struct table_count sum = {.oldest_ms = INT64_MAX, .newest_ms = INT64_MIN};
		const struct judge j = {l, w->job, table, &sum, now_ms};
		sum.families = mem_calloc(table->schema.nfamilies, sizeof *sum.families);
		sum.filled = mem_calloc(table->nrowkey, sizeof *sum.filled);
		lint_watch_sum(w, t, &sum);
		for (size_t i = 0; sum.rows >= LINT_ROWS_LEAST && i < sizeof rules / sizeof *rules;
		     i++)
			rules[i](&j);
		mem_free(sum.families);
		mem_free(sum.filled);
	}
}
