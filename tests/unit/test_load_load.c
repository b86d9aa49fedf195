/*
 * test_load_load.c - tests a whole load, with cells, counts, and published files
 *
 * We computed the expected results by hand from a few rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pool.h"
#include "tests/unit/load_rig.h"

#define CSV "id,n,at\na,1,100\nc,3,102\nb,2,101\nd,4,103\n"

static void test_cells_and_counts(void **state)
{
	struct job job;
	struct load_result r;
	struct error err;
	struct buf cells = {0};

	(void)state;
	open_job(&job, JOB, CSV);
	if (load_as(&job, "plain", 0, &r, &err))
		fail_msg("%s", err.msg);
	const struct manifest *m = &r.manifest;
	assert_true(m->read == 4 && m->rejected == 0 && m->ntables == 1 && m->created_ms == 103000);
	assert_true(m->tables[0].loaded == 4 && m->tables[0].rows == 4 && m->tables[0].cells == 4);
	assert_int_equal(m->tables[0].nregions, 2);
	/* four rows of equal weight are in two regions, so the border is the shortest key between b
	 * and c
	 */
	assert_true(bytes_eq(m->tables[0].regions[1].start, bytes_str("c")));
	cells_of(&cells, "plain", &m->tables[0]);
	assert_string_equal((char *)cells.ptr, "0 a f:v@100000=1\n0 b f:v@101000=2\n"
					       "1 c f:v@102000=3\n1 d f:v@103000=4\n");
	assert_true(there("plain/t/create.rb") && there("plain/t/splits.txt"));
	assert_false(there("plain.saltmill-partial"));
	buf_release(&cells);
	load_result_release(&r);
	job_release(&job);
}

/* There are two bad events, with a limit of one or none. */
static void test_bad_events(void **state)
{
	static const char csv[] = "id,n,at\na,1,100\nb,x,101\nc,-1,102\nd,4,103\n";
	struct job job;
	struct load_result r;
	struct error err;

	(void)state;
	open_job(&job, JOB, csv);
	assert_int_equal(load_as(&job, "none", 0, &r, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "in.csv:3 (byte 16): bad_number: n: found `x`"));
	load_result_release(&r);
	assert_int_equal(load_as(&job, "one", 1, &r, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "in.csv:4 (byte 24): out_of_range: n: found `-1`"));
	load_result_release(&r);
	assert_false(there("none") || there("one") || there("none.saltmill-partial") ||
		     there("one.saltmill-partial"));
	assert_int_equal(load_as(&job, "two", 2, &r, &err), RC_OK);
	assert_true(r.manifest.read == 4 && r.manifest.rejected == 2);
	assert_true(r.manifest.tables[0].loaded == 2);
	assert_int_equal(r.manifest.nreasons, 2);
	assert_string_equal(r.manifest.reasons[0].reason, "bad_number");
	assert_string_equal(r.manifest.reasons[1].reason, "out_of_range");
	load_result_release(&r);
	job_release(&job);
}

/* The later of two equal cells wins, and the load counts the overwritten cell. */
static void test_duplicates(void **state)
{
	struct job job;
	struct load_result r;
	struct error err;
	struct buf cells = {0};

	(void)state;
	open_job(&job, JOB_HEAD JOB_TABLE, "id,n,at\na,1,100\na,2,100\na,3,99\n");
	assert_int_equal(load_as(&job, "twice", 0, &r, &err), RC_OK);
	cells_of(&cells, "twice", &r.manifest.tables[0]);
	assert_string_equal((char *)cells.ptr, "0 a f:v@100000=2\n0 a f:v@99000=3\n");
	assert_true(r.manifest.tables[0].deduplicated == 1 && r.manifest.tables[0].loaded == 2);
	buf_release(&cells);
	load_result_release(&r);
	job_release(&job);
}

static void test_no_rows(void **state)
{
	struct job job;
	struct load_result r;
	struct error err;

	(void)state;
	open_job(&job, JOB, "id,n,at\n");
	assert_int_equal(load_as(&job, "empty", 0, &r, &err), RC_OK);
	assert_true(r.manifest.read == 0 && r.manifest.tables[0].nfiles == 0 &&
		    r.manifest.tables[0].nregions == 1);
	load_result_release(&r);
	job_release(&job);
}

/* After a signal, the load publishes no file and leaves no file. */
static void test_stopped(void **state)
{
	struct job job;
	struct load_result r;
	struct error err;

	(void)state;
	open_job(&job, JOB, CSV);
	stop_flag = 1;
	assert_int_equal(load_as(&job, "stopped", 0, &r, &err), RC_STOPPED);
	stop_flag = 0;
	assert_false(there("stopped") || there("stopped.saltmill-partial"));
	load_result_release(&r);
	job_release(&job);
}

/* A table's folder has the name of the load's own file. */
static void test_own_names(void **state)
{
	struct error err;
	char *folder = table_dir(dir, "ns:manifest.json");

	(void)state;
	assert_non_null(strstr(folder, "/ns/manifest.json"));
	assert_int_equal(table_make_dir(folder, "manifest.json", &err), RC_CONFIG);
	assert_int_equal(table_make_dir(folder, "ns:hfiles", &err), RC_CONFIG);
	assert_int_equal(table_make_dir(folder, "ns:manifest.json", &err), RC_OK);
	assert_true(there("ns/manifest.json"));
	mem_free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells_and_counts), cmocka_unit_test(test_bad_events),
		cmocka_unit_test(test_duplicates),	 cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_stopped),		 cmocka_unit_test(test_own_names),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
