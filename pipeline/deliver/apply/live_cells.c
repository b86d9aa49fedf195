/*
 * live_cells.c - compare each cell of the load's files with the live table
 *
 * For each file, apply scans the live rows between the file's first and last row. The scan is raw,
 * so it returns all versions and delete markers. The file has them, too. HBase does not show cells
 * that are older than their family's TTL or their own TTL, so the comparison skips them.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "applying.h"
#include "clock.h"
#include "hfile.h"
#include "pool.h"

#define ROWS_A_CALL  10000
#define BYTES_A_CALL (4u << 20)

/* A merge of one file's cells with the live cells. */
struct live_walk {
	struct hfile *file;
	struct cell next; /* next cell of the file, unless ended */
	bool ended;
	int64_t oldest; /* HBase does not show older cells */
	bool strict;	/* stop at the first cell that the table does not show */
	struct apply_proof sum;
};

static bool all_found(const struct live_walk *w)
{
	return !w->sum.missing && !w->sum.changed && !w->sum.expired;
}

static int step(struct live_walk *w, struct error *err)
{
	int rc = hfile_next_cell(w->file, &w->next, err);

	w->ended = rc == RC_END;
	if (rc >= 0 && w->strict && !all_found(w))
		return error_set(err, RC_DATA, "the table does not show all cells of the file");
	return rc < 0 ? rc : RC_OK;
}

/* Counts the file's next cell as missing in the table, and reads the cell after it. */
static int pass_over(struct live_walk *w, struct error *err)
{
	if (w->next.ts < w->oldest || cell_ttl_passed(&w->next, clock_wall_ms()))
		w->sum.expired++;
	else
		w->sum.missing++;
	return step(w, err);
}

static int take_live(void *ctx, const struct cell *live, struct error *err)
{
	struct live_walk *w = ctx;
	int rc = RC_OK, c = 1;

	while (rc == RC_OK && !w->ended && (c = cell_key_cmp(&w->next, live)) < 0)
		rc = pass_over(w, err);
	if (rc)
		return rc;
	if (w->ended || c != 0) {
		w->sum.others++;
		return w->sum.others % 65536 ? RC_OK : stop_check(err);
	}
	if (bytes_eq(w->next.value, live->value))
		w->sum.found++;
	else
		w->sum.changed++;
	rc = w->sum.found % 65536 ? RC_OK : stop_check(err);
	return rc ? rc : step(w, err);
}

/* Scans each region that has rows of the file. HBase may have split a region of the load. */
static int walk_regions(struct applied *t, const struct hand_file *f, struct live_walk *w,
			struct hbase_failure *why, struct error *err)
{
	struct hbase_regions r;
	struct buf stop = {0};
	int rc = hbase_regions(t->run->hbase, t->result->name, &r, why, err);

	buf_append(&stop, f->last.ptr, f->last.len);
	buf_put(&stop, 0); /* a NUL byte makes the next possible row key */
	for (size_t i = 0; rc == RC_OK && i < r.count; i++) {
		const struct hbase_region *at = &r.item[i];
		bool inside = bytes_cmp(at->start, f->first) > 0;
		const struct hbase_scan scan = {.family = f->family,
						.start = inside ? at->start : f->first,
						.stop = buf_bytes(&stop),
						.versions = INT32_MAX,
						.raw = true,
						.rows_a_call = ROWS_A_CALL,
						.bytes_a_call = BYTES_A_CALL};
		bool before = at->end.len && bytes_cmp(at->end, f->first) <= 0;
		bool behind = bytes_cmp(at->start, f->last) > 0;

		if (!before && !behind)
			rc = hbase_scan_region(t->run->hbase, at, &scan, take_live, w, why, err);
	}
	buf_release(&stop);
	hbase_regions_release(&r);
	return rc;
}

static int64_t oldest_shown(const struct applied *t, const char *family)
{
	const struct described *f = description_family(&t->want, family);
	const char *ttl = f ? attributes_get(&f->items, "TTL") : NULL;
	int64_t seconds = ttl ? strtoll(ttl, NULL, 10) : TTL_FOREVER;

	return seconds == TTL_FOREVER ? INT64_MIN : clock_wall_ms() - seconds * 1000;
}

static int walk_file(struct applied *t, const struct hand_file *f, bool strict, struct live_walk *w,
		     struct hbase_failure *why, struct error *err)
{
	*w = (struct live_walk){.oldest = oldest_shown(t, f->family), .strict = strict};
	*why = (struct hbase_failure){.trouble = TROUBLE_REFUSED};
	const struct applied_file *s = &t->sources[f - t->hand.files];
	int rc = origin_fetch(t->run, s, err);

	if (rc == RC_OK)
		rc = hfile_open(&w->file, s->path, err);
	if (rc)
		return rc;
	hfile_rewind(w->file);
	rc = step(w, err);
	if (rc == RC_OK)
		rc = walk_regions(t, f, w, why, err);
	while (rc == RC_OK && !w->ended)
		rc = pass_over(w, err);
	hfile_close(w->file);
	return rc;
}

struct proving {
	struct applied *table;
	_Atomic uint64_t found, missing, changed, expired, others;
};

static int prove_file(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct proving *p = ctx;
	const struct hand_file *f = &p->table->hand.files[index];
	struct hbase_failure why;
	struct live_walk w;
	struct hbase_attempts attempt = {0};
	int rc;

	(void)worker;
	do
		rc = walk_file(p->table, f, false, &w, &why, err);
	while (rc && hbase_retry(&why, &attempt, err));
	if (rc)
		return rc;
	p->found += w.sum.found;
	p->missing += w.sum.missing;
	p->changed += w.sum.changed;
	p->expired += w.sum.expired;
	p->others += w.sum.others;
	progress_add(p->table->run->opt->progress, 1);
	return RC_OK;
}

int table_prove(struct applied *t, struct error *err)
{
	struct proving p = {.table = t};

	progress_begin(t->run->opt->progress, "checking", PROGRESS_FILES, t->manifest->nfiles);
	/* compare the load's files even after a cut, because their parts have the same cells */
	int rc = pool_run(t->hand.threads, t->manifest->nfiles, prove_file, &p, err);

	if (rc)
		return error_prefix(err, "comparing the cells of table %s: ", t->result->name);
	t->result->checked = true;
	t->result->proof = (struct apply_proof){.found = p.found,
						.missing = p.missing,
						.changed = p.changed,
						.expired = p.expired,
						.others = p.others};
	return RC_OK;
}

int live_cells_have(void *self, const struct hand_file *f, bool *in, struct error *err)
{
	struct applied *t = self;
	struct hbase_failure why;
	struct live_walk w;
	struct error said;
	struct hbase_attempts attempt = {0};
	int rc;

	do
		rc = walk_file(t, f, true, &w, &why, &said);
	while (rc && all_found(&w) && hbase_retry(&why, &attempt, &said));
	if (rc == RC_STOPPED || stop_check(&said) == RC_STOPPED) {
		*err = said;
		return RC_STOPPED;
	}
	*in = rc == RC_OK && w.sum.found;
	if (rc && all_found(&w))
		applying_say(
			t->run,
			"table %s: apply cannot compare the cells of %s with the table (%s), so "
			"it sends the file again, with the same cells",
			t->result->name, f->upload, said.msg);
	return RC_OK;
}
