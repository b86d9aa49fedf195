/* calibrate.c - see calibrate.h */
#include "calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "live_tables.h"
#include "mem.h"
#include "pool.h"

/*
 * A family of many small rows and one of few large rows. A scan of both gives two equations for the
 * seconds of a row and of a block.
 */
#define KEY_BYTES   4
#define CELL_BYTES  (4 + 4 + 2 + KEY_BYTES + 1 + 1 + 1 + 8 + 1 + 1) /* with sequence id */
#define BLOCK	    65536.0
#define SHORT_SCANS 80
#define WARM_SCANS  3
#define LONG_SCANS  8
#define LEAST_S	    1e-8 /* of a constant, if noise exceeds it */

static const struct rows_of {
	const char *family;
	uint32_t rows, value, batch; /* `value` in bytes, `batch` in rows */
} small = {"s", 40000, 64, 500}, large = {"l", 1500, 8192, 50};

struct calibration {
	struct hbase *hbase;
	char table[48];
	struct hbase_regions regions;
	struct arena arena;
};

/* Return true if the caller may retry. The region may have moved. */
static bool may_retry(struct calibration *c, const struct hbase_failure *why,
		      struct hbase_attempts *attempt, struct error *err)
{
	struct error ignored;

	if (!hbase_retry(why, attempt, err))
		return false;
	hbase_regions_release(&c->regions);
	return live_tables_places(c->hbase, c->table, &c->regions, &ignored) == RC_OK &&
	       c->regions.count;
}

/* --- the table --- */

static int create(struct calibration *c, struct error *err)
{
	const char *names[] = {small.family, large.family};
	struct described families[2] = {{0}};
	const struct description d = {.families = families, .nfamilies = 2};
	const struct splits none = {0};
	struct hbase_failure why;
	uint64_t nonce[2];
	struct hbase_attempts attempt = {0};
	int rc = hbase_draw_nonces(nonce, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < 2; i++) {
		families[i].name = names[i];
		attributes_add(&c->arena, &families[i].items, "BLOCKSIZE", "65536");
		attributes_add(&c->arena, &families[i].items, "VERSIONS", "1");
	}
	snprintf(c->table, sizeof c->table, "saltmill_calibrate_%016llx",
		 (unsigned long long)nonce[0]);
	do
		rc = hbase_create(c->hbase, c->table, &d, &none, nonce, &why, err);
	while (rc && hbase_retry(&why, &attempt, err));
	return rc ? rc : live_tables_places(c->hbase, c->table, &c->regions, err);
}

/* Make the cells of a batch. Their bytes are in the arena. */
static void make_batch(const struct rows_of *f, struct cell *cells, uint32_t first, struct arena *a)
{
	uint8_t *value = arena_alloc(a, f->value);

	memset(value, 'v', f->value);
	for (uint32_t i = 0; i < f->batch; i++) {
		uint8_t *key = arena_alloc(a, KEY_BYTES);

		put_be32(key, first + i);
		cells[i] = (struct cell){.row = bytes_of(key, KEY_BYTES),
					 .family = bytes_str(f->family),
					 .qualifier = bytes_str("q"),
					 .value = bytes_of(value, f->value),
					 .type = CELL_PUT};
	}
}

static int write_batch(struct calibration *c, const struct cell *cells, size_t n, double *seconds,
		       struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc;

	do {
		double began = clock_seconds();

		rc = hbase_put(c->hbase, &c->regions.item[0], cells, n, &why, err);
		*seconds = clock_seconds() - began;
	} while (rc && may_retry(c, &why, &attempt, err));
	return rc;
}

static int by_seconds(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Return the lower quartile, because other work on the cluster only adds to the time. */
static double usual(double *v, size_t n)
{
	qsort(v, n, sizeof *v, by_seconds);
	return v[n / 4];
}

/* Write all rows of a family. `*row_s` is the usual time of a batch, for a row. */
static int write_rows(struct calibration *c, const struct rows_of *f, double *row_s,
		      struct error *err)
{
	const size_t batches = f->rows / f->batch;
	double *seconds = arena_alloc(&c->arena, batches * sizeof *seconds);
	struct cell *cells = arena_alloc(&c->arena, f->batch * sizeof *cells);
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < batches; i++) {
		struct arena a = {0};

		make_batch(f, cells, (uint32_t)i * f->batch, &a);
		rc = write_batch(c, cells, f->batch, &seconds[i], err);
		arena_release(&a);
		if (rc == RC_OK && stop_check(err))
			rc = RC_STOPPED;
	}
	if (rc == RC_OK)
		*row_s = usual(seconds, batches) / f->batch;
	return rc;
}

static int flush(struct calibration *c, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc;

	do
		rc = hbase_flush(c->hbase, &c->regions.item[0], &why, err);
	while (rc && may_retry(c, &why, &attempt, err));
	return rc;
}

/* --- reading --- */

static int count_cell(void *ctx, const struct cell *c, struct error *err)
{
	(void)c, (void)err;
	++*(uint64_t *)ctx;
	return RC_OK;
}

/* Scan, and check the number of rows. */
static int timed_scan(struct calibration *c, const struct hbase_scan *scan, uint64_t rows,
		      double *seconds, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	uint64_t found;
	int rc;

	do {
		double began = clock_seconds();

		found = 0;
		rc = hbase_scan_region(c->hbase, &c->regions.item[0], scan, count_cell, &found,
				       &why, err);
		*seconds = clock_seconds() - began;
	} while (rc && may_retry(c, &why, &attempt, err));
	if (rc == RC_OK && found != rows)
		return error_set(err, RC_IO, "found %llu rows, expected %llu",
				 (unsigned long long)found, (unsigned long long)rows);
	return rc == RC_OK && stop_check(err) ? RC_STOPPED : rc;
}

/* Measure a scan of one row, either as a range or as a get. The first half warms the server up. */
static int measure_short(struct calibration *c, bool get, double *out, struct error *err)
{
	double seconds[2 * SHORT_SCANS];
	int rc = RC_OK;

	for (uint32_t i = 0; rc == RC_OK && i < 2 * SHORT_SCANS; i++) {
		uint8_t key[KEY_BYTES];

		put_be32(key, i * 7919 % small.rows);
		const struct hbase_scan scan = {.family = small.family,
						.start = bytes_of(key, KEY_BYTES),
						.stop = bytes_of(get ? key : NULL,
								 get ? KEY_BYTES : 0),
						.stop_inclusive = get,
						.leave_cache = true,
						.limit = 1};
		rc = timed_scan(c, &scan, 1, &seconds[i], err);
	}
	if (rc == RC_OK)
		*out = usual(seconds + SHORT_SCANS, SHORT_SCANS);
	return rc;
}

static int measure_long(struct calibration *c, const struct rows_of *f, double *out,
			struct error *err)
{
	const struct hbase_scan scan = {.family = f->family, .leave_cache = true};
	double seconds[WARM_SCANS + LONG_SCANS];
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < WARM_SCANS + LONG_SCANS; i++)
		rc = timed_scan(c, &scan, f->rows, &seconds[i], err);
	if (rc == RC_OK)
		*out = usual(seconds + WARM_SCANS, LONG_SCANS);
	return rc;
}

static double blocks_of(const struct rows_of *f)
{
	return f->rows * (double)(CELL_BYTES + f->value) / BLOCK;
}

/* Solve rows * row_s + blocks * block_s = seconds for both families. */
static void solve(struct design_constants *k, double of_small, double of_large)
{
	double bs = blocks_of(&small), bl = blocks_of(&large);
	double det = small.rows * bl - large.rows * bs;

	k->row_s = fmax(LEAST_S, (of_small * bl - of_large * bs) / det);
	k->block_s = fmax(LEAST_S, (of_large - large.rows * k->row_s) / bl);
}

static int measure(struct calibration *c, struct design_constants *k, struct error *err)
{
	double of_small, of_large, ignored;
	int rc = write_rows(c, &small, &k->write_row_s, err);

	if (rc == RC_OK)
		rc = write_rows(c, &large, &ignored, err);
	if (rc == RC_OK)
		rc = flush(c, err);
	if (rc == RC_OK)
		rc = measure_short(c, false, &k->seek_s, err);
	if (rc == RC_OK)
		rc = measure_short(c, true, &k->get_s, err);
	if (rc == RC_OK)
		rc = measure_long(c, &small, &of_small, err);
	if (rc == RC_OK)
		rc = measure_long(c, &large, &of_large, err);
	if (rc == RC_OK)
		solve(k, of_small - k->seek_s, of_large - k->seek_s);
	return rc;
}

/* Drop the table, even if a signal ended the measurement. A second signal ends the drop too. */
static int drop(struct calibration *c, struct error *err)
{
	sig_atomic_t stopped = stop_flag;

	stop_flag = 0;
	int rc = live_tables_drop(c->hbase, c->table, err);
	if (!stop_flag)
		stop_flag = stopped;
	return rc ? error_prefix(err, "found no way to drop %s again; run `saltmill drop %s`: ",
				 c->table, c->table)
		  : RC_OK;
}

int calibrate(struct design_constants *out, const struct arguments *a, struct error *err)
{
	struct calibration c = {.hbase = NULL};
	struct error of_drop;
	int rc = live_tables_open(&c.hbase, a, err);

	*out = design_constants_usual;
	if (rc == RC_OK)
		rc = create(&c, err);
	if (rc == RC_OK)
		rc = measure(&c, out, err);
	if (rc && *c.table)
		error_prefix(err, "--calibrate: table %s: ", c.table);
	int dropped = *c.table ? drop(&c, &of_drop) : RC_OK;
	if (dropped && rc == RC_OK)
		*err = of_drop;
	else if (dropped)
		error_prefix(err, "the table remains; run `saltmill drop %s`: ", c.table);
	hbase_regions_release(&c.regions);
	arena_release(&c.arena);
	hbase_close(c.hbase);
	return rc ? rc : dropped;
}
