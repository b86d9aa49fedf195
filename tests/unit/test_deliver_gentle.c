/*
 * Tests the hours of --window with a wall clock that the test sets. Tests the throttle of --rate,
 * and the wait of --pace with reports that the test makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

/* the master's answers come from the test, and waits end at once */
#define precheck_wait	      told_status
#define hbase_status_release  forget_status
#define clock_sleep_ms	      skip_ms
#define hbase_scan_region     read_row
#define kept_regions	      two_regions
#define hbase_regions_release forget_regions
#include "pipeline/deliver/apply/gentle.c"
#undef clock_sleep_ms
#include "tests/unit/clock_rig.h"

#define HOUR_MS INT64_C(3600000)
#define TABLE	"ns:t"

/* One answer of the master: a region of the table, a region of another table, and two servers. */
struct answer {
	uint64_t left, other_left; /* cells that compactions have not read yet */
	uint32_t files;		   /* of the table's region, which has two families */
	int64_t reported_ms[2];
};

/* the reads of the second server for each answer, in ms; the first server needs 1 ms */
static int64_t reads_ms[1000];

static struct answer answers[1000];
static size_t nanswers, asked;

int told_status(struct hbase *h, struct hbase_status *out, struct error *err)
{
	const struct answer *a = &answers[asked < nanswers ? asked : nanswers - 1];
	static struct hbase_store_files stores[2];
	static struct hbase_server servers[2];

	(void)h, (void)err;
	asked++;
	stores[0] = (struct hbase_store_files){.region = bytes_str(TABLE ",a,1.x."),
					       .families = 2,
					       .files = a->files,
					       .to_compact = a->left};
	stores[1] = (struct hbase_store_files){.region = bytes_str(TABLE "2,a,1.x."),
					       .families = 1,
					       .files = 99,
					       .to_compact = a->other_left};
	for (size_t i = 0; i < 2; i++)
		servers[i].reported_ms = a->reported_ms[i];
	*out = (struct hbase_status){.servers = servers,
				     .stores = stores,
				     .nservers = 2,
				     .nstores = 2};
	return RC_OK;
}

/* The two regions of the table are at two servers. */
int two_regions(struct apply_kept *k, const char *table, struct hbase_regions *out,
		struct hbase_failure *why, struct error *err)
{
	static struct hbase_region regions[] = {{.place = {.host = "rs1", .port = 16020}},
						{.place = {.host = "rs2", .port = 16020}},
						{.place = {.host = "rs1", .port = 16020}}};

	(void)k, (void)table, (void)why, (void)err;
	*out = (struct hbase_regions){.item = regions, .count = 3};
	return RC_OK;
}

void forget_regions(struct hbase_regions *r)
{
	*r = (struct hbase_regions){0};
}

int read_row(struct hbase *h, const struct hbase_region *r, const struct hbase_scan *scan,
	     hbase_take_cell *take, void *ctx, struct hbase_failure *why, struct error *err)
{
	int64_t ms = reads_ms[asked - 1];

	(void)h, (void)take, (void)ctx;
	assert_int_equal(scan->limit, 1);
	if (strcmp(r->place.host, "rs1") == 0) {
		skip_ms(1);
		return RC_OK;
	}
	skip_ms(ms);
	if (ms < scan->patience_ms)
		return RC_OK;
	why->trouble = TROUBLE_LOST;
	return error_set(err, RC_IO, "no answer");
}

void forget_status(struct hbase_status *s)
{
	*s = (struct hbase_status){0};
}

void skip_ms(int64_t ms)
{
	steady_ahead_ms += ms;
	wall_ahead_ms += ms;
}

static char said[2000];

static void listen(void *ctx, const char *sentence)
{
	(void)ctx;
	snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", sentence);
}

/* Sets the wall clock to `minute` of a day in UTC. */
static void set_clock(unsigned minute)
{
	setenv("TZ", "UTC0", 1);
	tzset();
	wall_ahead_ms = 0;
	wall_ahead_ms = ((int64_t)minute - clock_local_minute()) * 60000;
	assert_int_equal(clock_local_minute(), minute);
}

static void test_window(void **state)
{
	static const struct {
		unsigned from, until, now;
		bool open;
	} cases[] = {
		{60, 300, 59, false},	 {60, 300, 60, true},	   {60, 300, 299, true},
		{60, 300, 300, false},	 {1380, 120, 1379, false}, {1380, 120, 1380, true},
		{1380, 120, 1439, true}, {1380, 120, 0, true},	   {1380, 120, 119, true},
		{1380, 120, 120, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct apply_options opt = {.window = {true, cases[i].from, cases[i].until}};

		set_clock(cases[i].now);
		assert_int_equal(gentle_is_open(&opt), cases[i].open);
	}
	assert_true(gentle_is_open(&(struct apply_options){0}));
}

/* A run that comes at 23:10 waits until 01:00, and reports it once. */
static void test_waiting(void **state)
{
	struct apply_options opt = {.window = {true, 60, 300}, .listener = {listen, NULL}};
	struct applying run = {.opt = &opt};
	struct error err;

	(void)state;
	said[0] = 0;
	set_clock(23 * 60 + 10);
	int64_t before = clock_ms();
	assert_int_equal(gentle_window(&run, &err), RC_OK);
	assert_int_equal(clock_local_minute(), 60);
	int64_t waited = clock_ms() - before;
	assert_true(waited > 109 * 60000 && waited <= 110 * 60000 + 1000);
	assert_string_equal(said, "waiting until 01:00 (--window)\n");
}

/* Returns how many answers the wait before a batch takes, after one answer before the load. */
static size_t settle(const struct answer *list, size_t n, size_t *warnings)
{
	struct apply_options opt = {.pace = true, .listener = {listen, NULL}};
	struct apply_result result = {0};
	struct applying run = {.opt = &opt, .result = &result};
	struct described family = {.name = "f"};
	struct apply_table table = {.name = TABLE};
	struct applied t = {.run = &run,
			    .result = &table,
			    .want = {.families = &family, .nfamilies = 1},
			    .live = {.families = &family, .nfamilies = 1}};
	struct error err;

	memcpy(answers, list, n * sizeof *list);
	nanswers = n;
	asked = 0;
	said[0] = 0;
	assert_int_equal(gentle_settle(&t, &err), RC_OK);
	assert_int_equal(asked, 1);
	assert_int_equal(gentle_settle(&t, &err), RC_OK);
	*warnings = result.nwarnings;
	arena_release(&result.arena);
	return asked;
}

static void test_pace(void **state)
{
	size_t warnings;

	(void)state;
	/* nothing to compact, so one newer report of each server is enough */
	const struct answer calm[] = {{0, 0, 2, {1, 1}},
				      {0, 0, 4, {9, 8}},
				      {0, 0, 4, {12, 8}},
				      {0, 0, 4, {12, 9}},
				      {0, 0, 4, {12, 11}}};
	assert_int_equal(settle(calm, 5, &warnings), 5);
	assert_string_equal(said, "");
	/* a compaction of the load, and one that ran before */
	const struct answer busy[] = {{0, 50, 2, {1, 1}},   {0, 40, 4, {2, 2}},
				      {90, 40, 6, {5, 5}},  {30, 5, 6, {8, 8}},
				      {30, 0, 6, {11, 11}}, {0, 0, 2, {14, 14}}};
	assert_int_equal(settle(busy, 6, &warnings), 5);
	assert_string_equal(said,
			    "table ns:t: waiting for compactions: 2 regions are being compacted "
			    "(1 before the load), 0 have as many files as "
			    "hbase.hstore.blockingStoreFiles (0 before)\n");
	/* 16 files in each of two families block writes; those of another table do not count */
	const struct answer full[] = {{0, 0, 31, {1, 1}},
				      {0, 0, 32, {2, 2}},
				      {0, 0, 32, {5, 5}},
				      {0, 0, 31, {8, 8}}};
	assert_int_equal(settle(full, 4, &warnings), 4);
	assert_int_equal(warnings, 0);
}

/* A server that reads more slowly than before the load delays the next batch. */
static void test_latencies(void **state)
{
	static const int64_t slow_ms[] = {60, 60, 241, 20000, 240}, quick_ms[] = {1, 1, 199};
	size_t warnings;

	(void)state;
	memcpy(reads_ms, slow_ms, sizeof slow_ms);
	const struct answer slow[] = {{0, 0, 2, {1, 1}},
				      {0, 0, 2, {2, 2}},
				      {0, 0, 2, {5, 5}},
				      {0, 0, 2, {8, 8}},
				      {0, 0, 2, {11, 11}}};
	assert_int_equal(settle(slow, 5, &warnings), 5);
	assert_string_equal(said, "table ns:t: waiting for region server rs2:16020: a read of one "
				  "row takes 241 ms (at most 60 ms before the load)\n");
	/* 199 ms are quick for any server */
	const struct answer quick[] = {{0, 0, 2, {1, 1}}, {0, 0, 2, {2, 2}}, {0, 0, 2, {5, 5}}};
	memcpy(reads_ms, quick_ms, sizeof quick_ms);
	assert_int_equal(settle(quick, 3, &warnings), 3);
	memset(reads_ms, 0, sizeof reads_ms);
	assert_string_equal(said, "");
	assert_int_equal(warnings, 0);
}

/* A compaction that does not continue delays the load for ten minutes. */
static void test_stuck(void **state)
{
	const struct answer stuck[] = {{0, 0, 2, {1, 1}}, {7, 0, 2, {2, 2}}, {7, 0, 2, {5, 5}}};
	size_t warnings;
	int64_t before = clock_ms();

	(void)state;
	settle(stuck, 3, &warnings);
	int64_t waited = clock_ms() - before;
	assert_int_equal(warnings, 1);
	assert_true(waited >= STUCK_MS && waited < STUCK_MS + 5000);
}

/* 40 pieces of 64 KiB at 16 MiB a second, as two threads see them, because the waits add up. */
static void test_throttle(void **state)
{
	struct throttle t;
	struct error err;
	double begun = clock_seconds();

	(void)state;
	throttle_init(&t, 16 << 20);
	for (int i = 0; i < 40; i++)
		assert_int_equal(throttle_wait(&t, 64 << 10, &err), RC_OK);
	double took = clock_seconds() - begun;
	assert_true(took >= 39 * 65536.0 / (16 << 20) && took < 5);
	throttle_release(&t);
	throttle_init(&t, 0);
	assert_int_equal(throttle_wait(&t, SIZE_MAX, &err), RC_OK);
	throttle_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window),	  cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_pace),	  cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_latencies), cmocka_unit_test(test_throttle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
