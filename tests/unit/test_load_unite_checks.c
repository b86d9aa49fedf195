/*
 * test_load_unite_checks.c - tests that `unite` compares the slices of a region with the maps, and
 * that the work grows with the number of slices
 *
 * The compiler adds a call to each basic block of unite_checks.c (see the Makefile). The test counts
 * these calls, so neither the machine nor other programs change the result.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "mem.h"

/* Names of the tested functions, which do not clash with the program's. */
#define unite_find_totals  tested_totals
#define unite_check_region tested_region
#define unite_check_seen   tested_seen

#include "pipeline/load/phases/unite_checks.c"

#define REGIONS 64

#if defined __has_attribute
#if __has_attribute(no_sanitize_coverage)
__attribute__((no_sanitize_coverage))
#else
__attribute__((no_sanitize("coverage")))
#endif
#endif
void __sanitizer_cov_trace_pc(void);

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

/* A load of `n` slices, each with rows in all regions, and the reports of its reduces. */
struct parts {
	struct arena arena;
	struct job_table job_table;
	struct job job;
	struct load_halves halves;
	struct load_options opt;
	struct load_table table;
	struct load load;
	struct reduce_region *reduced; /* [REGIONS] */
};

static uint64_t records_of(size_t slice, size_t region)
{
	return 1 + (slice * 31 + region * 7) % 50;
}

static int64_t digest_of(size_t slice, size_t region)
{
	return (int64_t)((slice * 2654435761u) ^ (region << 20)) - 12345;
}

static struct map_report report_of(struct arena *a, size_t slice)
{
	struct map_table *t = arena_alloc(a, sizeof *t);

	*t = (struct map_table){"t", 0, arena_alloc(a, REGIONS * sizeof *t->regions), REGIONS};
	for (size_t r = 0; r < REGIONS; r++)
		t->regions[r] = (struct map_region){.region = r,
						    .records = records_of(slice, r),
						    .digest = digest_of(slice, r)};
	return (struct map_report){.folder = "maps/x",
				   .path = "in.csv",
				   .first = slice * 1000,
				   .end = slice * 1000 + 1000,
				   .tables = t,
				   .ntables = 1};
}

static void make(struct parts *p, size_t n)
{
	*p = (struct parts){.job_table.schema.name = "t"};
	p->job = (struct job){.tables = &p->job_table, .ntables = 1};
	p->opt.halves = &p->halves;
	p->table.splits.count = REGIONS - 1;
	p->load = (struct load){.job = &p->job, .opt = &p->opt, .tables = &p->table};
	p->load.maps.reports = arena_alloc(&p->arena, n * sizeof *p->load.maps.reports);
	p->load.maps.n = n;
	p->reduced = arena_alloc(&p->arena, REGIONS * sizeof *p->reduced);
	for (size_t s = 0; s < n; s++)
		p->load.maps.reports[s] = report_of(&p->arena, s);
	for (size_t r = 0; r < REGIONS; r++) {
		p->reduced[r] = (struct reduce_region){.region = r, .nslices = n};
		p->reduced[r].slices = arena_alloc(&p->arena, (n + 1) * sizeof *p->reduced->slices);
		for (size_t s = 0; s < n; s++)
			p->reduced[r].slices[s] =
				(struct reduce_slice){map_slice(&p->load.maps.reports[s]),
						      records_of(s, r), digest_of(s, r)};
	}
}

static void release(struct parts *p)
{
	arena_release(&p->load.maps.arena);
	arena_release(&p->arena);
}

/* Return the number of basic blocks for the checks of a whole load. */
static uint64_t cost(size_t slices)
{
	struct parts p;
	struct error err;
	uint64_t before;

	make(&p, slices);
	before = blocks;
	assert_int_equal(unite_find_totals(&p.load, &err), RC_OK);
	for (size_t r = 0; r < REGIONS; r++)
		assert_int_equal(unite_check_region(&p.load, 0, &p.reduced[r], "reduces/x", &err),
				 RC_OK);
	before = blocks - before;
	release(&p);
	return before;
}

static void test_work_grows_with_the_slices(void **state)
{
	uint64_t few = cost(100), many = cost(1000);

	(void)state;
	/* a block or more for each slice and region, else the compiler counts nothing */
	assert_in_range(few, 100 * REGIONS, 100 * REGIONS * 100);
	assert_in_range(many, 9 * few, 11 * few);
}

/* Change one slice of a region, and expect the sentence. */
static void refused(const struct reduce_slice *change, size_t at, size_t n, const char *why)
{
	struct parts p;
	struct error err;
	struct reduce_region *r;

	make(&p, 10);
	r = &p.reduced[3];
	r->slices[at] = *change;
	r->nslices = n;
	assert_int_equal(unite_check_region(&p.load, 0, r, "reduces/x", &err), RC_DATA);
	if (!strstr(err.msg, why))
		fail_msg("%s", err.msg);
	release(&p);
}

static void test_one_slice_differs(void **state)
{
	uint64_t records = records_of(5, 3);
	int64_t digest = digest_of(5, 3);

	(void)state;
	refused(&(struct reduce_slice){5000, records + 1, digest}, 5, 10,
		"reduces/x: region 3 of table t: found 28 rows, expected the 27 rows of maps/x");
	refused(&(struct reduce_slice){5000, records, digest ^ 1}, 5, 10,
		"found other rows of in.csv than maps/x reports");
	refused(&(struct reduce_slice){5001, records, digest}, 5, 10,
		"found 0 rows, expected the 27 rows");
	refused(&(struct reduce_slice){10000, 1, 1}, 10, 11, "rows of a slice that is in no map");
	refused(&(struct reduce_slice){9000, records_of(9, 3), digest_of(9, 3)}, 9, 9,
		"found 0 rows, expected the 1 rows");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_grows_with_the_slices),
		cmocka_unit_test(test_one_slice_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
