/*
 * rekey_sum.c - sum the cells that a table shows, under other row keys
 *
 * The sum of the cells' hashes does not depend on their order. So the old table need not be sorted by
 * its new row keys, and takes no room.
 */
#include "hash.h"
#include "key_map.h"
#include "pool.h"

#define CELLS_STEP 4096 /* cells between two looks at the stop flag */

struct sum_range {
	const struct cells_sum_options *o;
	struct cells_sum sum;
};

struct sum_work {
	const struct cells_sum_options *o;
	struct key_map map;
	struct sum_range *ranges;
};

/* Adds the hash of a cell. Each part has its length, so the parts of two cells do not run together. */
static void add_cell(struct cells_sum *sum, struct bytes row, const struct cell *c)
{
	const struct bytes parts[] = {row, c->family, c->qualifier, c->value, c->tags};
	const uint64_t fixed[] = {(uint64_t)c->ts, c->type};
	XXH3_state_t s;
	XXH128_canonical_t digest;

	XXH3_128bits_reset(&s);
	XXH3_128bits_update(&s, fixed, sizeof fixed);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		const uint64_t len = parts[i].len;

		XXH3_128bits_update(&s, &len, sizeof len);
		if (len)
			XXH3_128bits_update(&s, parts[i].ptr, parts[i].len);
	}
	XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(&s));
	digest_add(sum->digest, digest.digest);
	sum->cells++;
}

static int sum_rows(struct sum_range *r, struct query_scan *scan, struct key_mapper *keys,
		    struct error *err)
{
	struct cell c;
	int rc;

	while ((rc = query_next(scan, &c, err)) == RC_OK) {
		bool first = query_starts_row(scan);

		if (first && keys)
			rc = key_mapper_build(keys, c.row, err);
		if (rc == RC_OK && r->sum.cells % CELLS_STEP == 0)
			rc = stop_check(err);
		if (rc)
			return rc;
		r->sum.rows += first;
		if (first && r->o->progress)
			r->o->progress->events++;
		add_cell(&r->sum, keys ? buf_bytes(&keys->key) : c.row, &c);
	}
	return rc == RC_END ? RC_OK : rc;
}

/* Sums the rows of region number `i`. */
static int sum_region(void *ctx, unsigned worker, size_t i, struct error *err)
{
	struct sum_work *w = ctx;
	struct sum_range *r = &w->ranges[i];
	const struct published *p = w->o->table;
	const struct bytes none = {0};
	const struct query q = {.start = i ? p->split_keys[i - 1] : none,
				.stop = i + 1 < p->nregions ? p->split_keys[i] : none,
				.versions = INT32_MAX,
				.now_ms = w->o->now_ms};
	struct query_scan *scan = NULL;
	struct key_mapper keys;

	(void)worker;
	r->o = w->o;
	if (w->o->keys)
		key_mapper_open(&keys, &w->map);
	int rc = query_open(&scan, p->families, p->nfamilies, p->files, p->nfiles, &q, err);
	if (rc == RC_OK)
		rc = sum_rows(r, scan, w->o->keys ? &keys : NULL, err);
	query_close(scan);
	if (w->o->keys)
		key_mapper_close(&keys);
	return rc;
}

int cells_sum(struct cells_sum *out, const struct cells_sum_options *o, struct error *err)
{
	const struct published *p = o->table;
	size_t n = p->nregions ? p->nregions : 1;
	struct sum_work w = {.o = o};
	int rc = o->keys ? key_map_open(&w.map, o->keys, p->families, p->nfamilies, err) : RC_OK;

	*out = (struct cells_sum){0};
	if (rc == RC_OK && o->keys && w.map.ncolumns)
		rc = RC_END;
	w.ranges = mem_calloc(n, sizeof *w.ranges);
	progress_begin(o->progress, "comparing", PROGRESS_ROWS, 0);
	if (rc == RC_OK)
		rc = pool_run(o->threads, n, sum_region, &w, err);
	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		out->rows += w.ranges[i].sum.rows;
		out->cells += w.ranges[i].sum.cells;
		digest_add(out->digest, w.ranges[i].sum.digest);
	}
	mem_free(w.ranges);
	if (o->keys)
		key_map_close(&w.map);
	return rc;
}
