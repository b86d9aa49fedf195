/*
 * test_advise_planning.c - regions that plan and drift compute in one pass over some rows
 *
 * The test counts rows by hand and compares them with the keys.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "planning.h"
#include "tests/unit/load_rig.h"

#define ROWS 1000

/* Writes keys k000 to k999 out of order, with rows of one size. */
static void write_rows(void)
{
	struct buf csv = {0};

	buf_append_str(&csv, "id,n,at\n");
	for (int i = 0; i < ROWS; i++)
		buf_printf(&csv, "k%03d,7,100\n", i * 7 % ROWS);
	buf_put(&csv, 0);
	write_text("in.csv", (char *)csv.ptr);
	buf_release(&csv);
}

static struct planning_options options_of(const char *work)
{
	mkdir(work, 0755);
	return (struct planning_options){.common = &rig_options,
					 .input = &rig_input,
					 .fraction = 1,
					 .work_dir = work};
}

static void test_plan(void **state)
{
	struct job job;
	struct table_sample sample = {0};
	struct planning_counts counts;
	struct progress progress = {.phase = NULL};
	struct plan plan = {0};
	struct error err;
	char *work = mem_format("%s/plan", dir);

	(void)state;
	write_rows();
	open_job(&job, JOB_HEAD JOB_TABLE "    regions: {split: sampled, count: 4}\n", NULL);
	struct planning_options o = options_of(work);
	if (planning_read(&job, &o, &progress, &sample, &counts, &err))
		fail_msg("%s", err.msg);
	assert_true(counts.events == ROWS && counts.rejected == 0 && counts.newest_ms == 100000);
	if (planning_make(&plan, &job, &sample, NULL, &err))
		fail_msg("%s", err.msg);
	/* the sketch keeps all 1000 equal rows, so the split points are exact quarters with short
	 * keys */
	static const char *const want[] = {"k25", "k5", "k75"};
	assert_int_equal(plan.splits.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(bytes_eq(plan.splits.keys[i], bytes_str(want[i])));
	for (size_t i = 0; i < 4; i++)
		assert_true(plan.regions[i].rows > 249 && plan.regions[i].rows < 251);
	plan_release(&plan);
	table_sample_release(&sample);
	job_release(&job);
	mem_free(work);
}

static void test_saved_plans_merge(void **state)
{
	struct job job;
	struct table_sample one = {0}, both = {0};
	struct arena arena = {0};
	struct planning_counts counts;
	struct progress progress = {.phase = NULL};
	struct plan plan = {0};
	struct error err;
	char *work = mem_format("%s/saved", dir);

	(void)state;
	write_rows();
	open_job(&job, JOB_HEAD JOB_TABLE "    regions: {split: sampled, count: 2}\n", NULL);
	struct planning_options o = options_of(work);
	o.keep = true;
	assert_int_equal(planning_read(&job, &o, &progress, &one, &counts, &err), 0);
	char *file = mem_format("%s/rows.sketch", dir);
	assert_int_equal(samples_save(&job, &one, &counts, file, &err), 0);
	assert_int_equal(samples_merge(&job, &both, &counts, &arena, file, &err), 0);
	assert_int_equal(samples_merge(&job, &both, &counts, &arena, file, &err), 0);
	if (planning_make(&plan, &job, &both, NULL, &err))
		fail_msg("%s", err.msg);
	/* each row comes twice, so the middle stays and the regions have twice the rows */
	assert_int_equal(plan.splits.count, 1);
	assert_true(bytes_eq(plan.splits.keys[0], bytes_str("k5")));
	assert_true(plan.regions[0].rows > 995 && plan.regions[0].rows < 1005);
	plan_release(&plan);
	table_sample_release(&one);
	table_sample_release(&both);
	arena_release(&arena);
	job_release(&job);
	mem_free(file);
	mem_free(work);
}

static void test_drift(void **state)
{
	struct job job;
	struct drift d;
	struct existing_regions live = {0};
	struct progress progress = {.phase = NULL};
	struct error err;

	(void)state;
	write_rows();
	open_job(&job, JOB_HEAD JOB_TABLE, NULL);
	/* the three regions have no rows below k, a tenth, and the rest */
	write_text("splits", "Total number of splits = 3\nk\nk1\n");
	char *spec = mem_format("%s/splits", dir);
	existing_regions_add(&live, spec);
	if (existing_regions_read(&live, &job, &err))
		fail_msg("%s", err.msg);
	struct drift_options o = {.common = &rig_options, .input = &rig_input, .live = &live};
	if (drift_run(&d, &job, &o, &progress, &err))
		fail_msg("%s", err.msg);
	const struct drift_table *t = &d.tables[0];
	assert_true(d.events == ROWS && t->nregions == 3 && t->rows == ROWS);
	assert_true(t->regions[0].rows == 0 && t->regions[1].rows == 100 &&
		    t->regions[2].rows == 900);
	/* 2.7 times the mean, so the plan cuts the region into thirds of its rows */
	assert_true(t->regions[2].hot && t->regions[2].ncuts == 2 && t->cuts.count == 2);
	assert_true(bytes_eq(t->cuts.keys[0], bytes_str("k4")));
	assert_true(bytes_eq(t->cuts.keys[1], bytes_str("k7")));
	drift_release(&d);
	existing_regions_release(&live);
	job_release(&job);
	mem_free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_saved_plans_merge),
		cmocka_unit_test(test_drift),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
