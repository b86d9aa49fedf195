/*
 * count.c - the cells of a table in HBase, by raw scans of its regions in parallel
 *
 * All versions and delete markers are counted, as the files hold them.  HBase shows no cell that is
 * older than its family's TTL, so files with such cells prove nothing.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "applying.h"
#include "clock.h"
#include "pool.h"

#define ROWS_A_CALL  10000
#define BYTES_A_CALL (4u << 20)

struct count {
	struct applied *table;
	const struct hbase_regions *regions;
	_Atomic uint64_t cells;
};

struct tally {
	const struct description *want;
	uint64_t cells;
};

static int take_cell(void *ctx, const struct cell *c, struct error *err)
{
	struct tally *t = ctx;

	(void)c;
	t->cells++;
	return t->cells % 65536 == 0 ? stop_check(err) : RC_OK;
}

/* A region of before may be several now: its keys are asked for wherever they are. */
static int count_range(struct count *all, struct bytes start, struct bytes stop,
		       struct tally *tally, struct error *err)
{
	struct applied *t = all->table;
	struct hbase_regions r;
	struct hbase_failure why;
	int rc = hbase_regions(t->run->hbase, t->result->name, &r, &why, err);

	for (size_t i = 0; rc == RC_OK && i < r.count; i++) {
		bool inside = bytes_cmp(r.item[i].start, start) > 0;
		const struct hbase_scan scan = {.start = inside ? r.item[i].start : start,
						.stop = stop,
						.versions = INT32_MAX,
						.raw = true,
						.rows_a_call = ROWS_A_CALL,
						.bytes_a_call = BYTES_A_CALL};
		bool before = r.item[i].end.len && bytes_cmp(r.item[i].end, start) <= 0;
		bool behind = stop.len && bytes_cmp(r.item[i].start, stop) >= 0;
		if (!before && !behind)
			rc = hbase_scan_region(t->run->hbase, &r.item[i], &scan, take_cell, tally,
					       &why, err);
	}
	hbase_regions_release(&r);
	return rc ? why.trouble == TROUBLE_REFUSED ? rc : RC_BUSY : RC_OK;
}

static int count_region(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct count *all = ctx;
	const struct hbase_region *r = &all->regions->item[index];
	unsigned attempt = 0;

	(void)worker;
	for (;;) {
		struct tally tally = {0};
		const struct hbase_failure why = {.trouble = TROUBLE_GONE};
		int rc = count_range(all, r->start, r->end, &tally, err);
		if (rc == RC_OK)
			all->cells += tally.cells;
		if (rc != RC_BUSY || !hbase_retry(&why, &attempt, err))
			return rc == RC_BUSY ? err->code : rc;
	}
}

static int64_t oldest_shown(const struct applied *t, const char *family)
{
	const struct described *f = description_family(&t->want, family);
	const char *ttl = f ? attributes_get(&f->items, "TTL") : NULL;
	int64_t seconds = ttl ? strtoll(ttl, NULL, 10) : TTL_FOREVER;

	return seconds == TTL_FOREVER ? INT64_MIN : clock_wall_ms() - seconds * 1000;
}

int table_count(struct applied *t, struct error *err)
{
	struct hbase_regions r;
	struct hbase_failure why;
	struct count all = {.table = t, .regions = &r};
	const struct manifest_table *m = t->manifest;
	int rc = hbase_regions(t->run->hbase, t->result->name, &r, &why, err);

	if (rc == RC_OK)
		rc = pool_run(t->hand.threads, r.count, count_region, &all, err);
	hbase_regions_release(&r);
	if (rc)
		return error_prefix(err, "counting table %s", t->result->name);
	t->result->counted = true;
	t->result->found = all.cells;
	for (size_t i = 0; i < m->nfiles; i++)
		if (m->files[i].min_ts > oldest_shown(t, m->files[i].family))
			t->result->expected += m->files[i].cells;
	return RC_OK;
}
