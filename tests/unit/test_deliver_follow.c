/*
 * Tests that a follower applies the loads of a state. The follower dies at each step and starts
 * again. Each load is in the table once, in order, and the load's folder stays until the follower
 * writes its mark.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "stream.h"
#include "tests/unit/clock_rig.h"
#include "tests/unit/follow_rig.h"

static const char *const steps[] = {"model-begun",    "model-in",      "model-finished",
				    "follow-applied", "mark-temp",     "follow-marked",
				    "follow-aside",   "follow-removed"};
enum { STEPS = sizeof steps / sizeof *steps };

static _Atomic bool marks_fail; /* the disk refuses to sync the folder of the marks */
static _Atomic int refused;

int fsync(int fd)
{
	static const char folder[] = "/handed";
	char link[40], path[600];

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = 0;
	size_t len = strlen(path), end = sizeof folder - 1;
	if (marks_fail && len > end && strcmp(path + len - end, folder) == 0) {
		refused++;
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

/* Returns true if the process died at `step`, and false if it finished without that step. */
static bool run_killed(const char *path, const char *step)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		struct error err;

		setenv("SALTMILL_CRASH_AT", step, 1);
		_exit(once(path, &err) ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 0);
		return false;
	}
	assert_int_equal(WTERMSIG(status), SIGKILL);
	return true;
}

/* Runs all sequences of two deaths. */
static void test_killed(void **state)
{
	struct error err;
	char name[32];
	unsigned died = 0;

	(void)state;
	for (int i = 0; i < STEPS * STEPS; i++) {
		const int at[] = {i / STEPS, i % STEPS};

		snprintf(name, sizeof name, "k%d", i);
		char *path = make_state(name, LOADS);
		for (int k = 0; k < 2; k++) {
			died += run_killed(path, steps[at[k]]);
			check(path, false);
		}
		assert_int_equal(once(path, &err), 0);
		check(path, true);
		assert_int_equal(once(path, &err), 0);
		check(path, true);
		assert_int_equal(io_remove_tree(path, &err), 0);
		mem_free(path);
	}
	assert_true(died > STEPS * STEPS * 3 / 2);
}

/*
 * A mark whose folder could not be synced may be gone after a power loss. The load stays until a
 * later run has synced the mark.
 */
static void test_mark_not_durable(void **state)
{
	struct error err;
	struct follow_gauges g = {0};
	const struct follow_options opt = options(&g);

	(void)state;
	char *path = make_state("marks", LOADS);
	struct follow *f = follow_new(&opt);
	follow_add(f, path, "");
	refused = 0;
	marks_fail = true;
	assert_int_equal(follow_start(f, &err), 0);
	for (int i = 0; i < 1000 && refused < 3; i++)
		clock_sleep_ms(5);
	assert_true(refused >= 3);
	for (int i = 1; i <= LOADS; i++)
		assert_true(is_there(path, i, "/manifest.json"));
	assert_int_equal(g.applied, 0);
	marks_fail = false;
	assert_true(soon(&g.waiting, 0));
	follow_stop(f);
	follow_free(f);
	assert_int_equal(once(path, &err), RC_OK);
	check(path, true);
	mem_free(path);
}

/*
 * Keeps loads by time. The follower completes a started removal, even if a new setting would keep
 * the folder.
 */
static void test_keep(void **state)
{
	struct error err;

	(void)state;
	char *path = make_state("keep", LOADS);
	assert_true(run_killed(path, "follow-aside"));
	assert_true(!is_there(path, 1, "") && is_there(path, 1, ".saltmill-removed"));
	keep = (struct follow_keep){KEEP_TIME, 3600};
	assert_int_equal(once(path, &err), 0);
	assert_false(is_there(path, 1, ".saltmill-removed") || is_there(path, 1, APPLY_SUFFIX));
	for (int i = 2; i <= LOADS; i++)
		assert_true(is_there(path, i, "/manifest.json") && is_there(path, i, APPLY_SUFFIX));
	wall_ahead_ms = -7200000; /* the clock is earlier than the time of the hand-over */
	assert_int_equal(once(path, &err), 0);
	for (int i = 2; i <= LOADS; i++)
		assert_true(is_there(path, i, "/manifest.json"));
	wall_ahead_ms = 0;
	keep.n = 0;
	assert_int_equal(once(path, &err), 0);
	for (int i = 1; i <= LOADS; i++)
		assert_false(is_there(path, i, "") || is_there(path, i, APPLY_SUFFIX));
	assert_int_equal(in_table(), LOADS);
	keep = (struct follow_keep){KEEP_LOADS, 1};
	mem_free(path);
}

/* Tests that the follower sums and reports the time of each phase of a load's hand-over. */
static int64_t told_ms[FOLLOW_PHASES];
static void keep_ms(void *ctx, const char *name, const char *folder, const struct apply_result *r,
		    const int64_t ms[FOLLOW_PHASES])
{
	(void)ctx, (void)folder;
	assert_string_equal(name, "00000001");
	assert_int_equal(r->ms[APPLY_CALLS], 7);
	memcpy(told_ms, ms, sizeof told_ms);
}

static void test_phases(void **state)
{
	struct error err;
	struct follow_gauges g = {0};
	struct follow_options opt = options(&g);

	(void)state;
	opt.applied = keep_ms;
	char *path = make_state("phases", 1);
	wall_ahead_ms = 5000; /* the time that the load waited */
	struct follow *f = follow_new(&opt);
	follow_all(f, path);
	assert_int_equal(follow_run(f, false, &err), 0);
	wall_ahead_ms = 0;
	assert_in_range(told_ms[FOLLOW_WAIT], 5000, 60000);
	assert_int_equal(told_ms[FOLLOW_APPLY + APPLY_CALLS], 7);
	assert_int_equal(told_ms[FOLLOW_APPLY + APPLY_CLEAN], 0);
	for (size_t p = 0; p < FOLLOW_PHASES; p++)
		assert_int_equal(g.ms[p], told_ms[p]);
	follow_free(f);
	mem_free(path);
}

/* While HBase does not answer, the follower checks HBase every two seconds. */
static void test_away_for_long(void **state)
{
	struct error err;
	struct follow_gauges g = {0};
	struct follow_options opt = options(&g);

	(void)state;
	char *path = make_state("long", 1);
	struct follow *f = follow_new(&opt);
	fail_code = RC_IO;
	fail_next = 1000000;
	follow_add(f, path, "");
	assert_int_equal(follow_start(f, &err), 0);
	for (uint64_t tries = 1; tries < 10; tries++) {
		for (int i = 0; i < 600 && g.failures < tries; i++) {
			/* the pause between two checks uses the changed clock */
			follow_look(f);
			clock_sleep_ms(5);
		}
		assert_true(g.failures >= tries);
		steady_ahead_ms += 2000;
	}
	steady_ahead_ms += 10000;
	fail_next = 0;
	follow_look(f);
	assert_true(soon(&g.applied, 1));
	follow_stop(f);
	follow_free(f);
	steady_ahead_ms = 0;
	mem_free(path);
}

/*
 * While loads wait for HBase, the follower cuts the next load later, as its rows and bytes allow.
 */
static uint64_t behind;
static uint64_t tell_behind(void *ctx)
{
	(void)ctx;
	return behind;
}

static void test_cuts_wait(void **state)
{
	static const struct {
		uint64_t behind, rows;
		int64_t age_ms; /* when it is due */
	} cases[] = {{0, 0, 2000},   {1, 0, 4000},	  {3, 0, 8000},
		     {15, 0, 32000}, {1000000, 0, 32000}, {3, 5, 0}};
	struct job job = {.kafka = {.roll_s = 2}};
	const struct stream_options opt = {.behind = tell_behind};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct stream s = {.opt = &opt, .in = {.job = &job, .available = 10}};

		behind = cases[i].behind;
		job.kafka.roll_rows = cases[i].rows;
		bool due = stream_is_due(&s);
		assert_int_equal(due, cases[i].age_ms == 0);
		if (due)
			continue;
		steady_ahead_ms += cases[i].age_ms - 1000;
		assert_false(stream_is_due(&s));
		steady_ahead_ms += 1000;
		assert_true(stream_is_due(&s));
	}
	steady_ahead_ms = 0;
}

static void *follow_once(void *ctx)
{
	struct error err;
	int rc;

	/* another process works on the state, which is no error of these loads */
	while ((rc = once(ctx, &err)) == RC_BUSY)
		clock_sleep_ms(1);
	assert_int_equal(rc, 0);
	return NULL;
}

/* Two followers at once apply each load once, in order. */
static void test_two_followers(void **state)
{
	pthread_t other;

	(void)state;
	char *path = make_state("two", LOADS);
	slow_ms = 5;
	assert_int_equal(pthread_create(&other, NULL, follow_once, path), 0);
	follow_once(path);
	pthread_join(other, NULL);
	slow_ms = 0;
	assert_int_equal(in_table(), LOADS);
	mem_free(path);
}

/*
 * If HBase does not answer, reading continues up to a limit and then pauses. The follower applies
 * all loads later.
 */
static void test_away_and_back(void **state)
{
	struct error err;
	struct follow_gauges g = {0};
	struct follow_options opt = options(&g);

	(void)state;
	opt.max_waiting = 3;
	said[0] = 0;
	char *path = make_state("away", 1), *parent = mem_format("%s/published", path);
	struct follow *f = follow_new(&opt);
	fail_code = RC_IO;
	fail_next = 1000000;
	follow_add(f, path, "p00003/");
	assert_false(follow_full(f));
	assert_int_equal(follow_start(f, &err), 0);
	struct state *s = open_state(path);
	for (int i = 0; i < 2; i++) {
		assert_false(follow_full(f));
		publish_one(s, parent);
		follow_look(f);
	}
	assert_int_equal(g.waiting, 3);
	assert_int_equal(follow_behind(f), 3); /* no load overtakes the waiting loads */
	assert_true(g.oldest_ms > 0 && g.oldest_ms <= clock_wall_ms());
	assert_true(follow_full(f) && follow_full(f) && g.paused);
	assert_true(was_said("3 loads wait for HBase"));
	assert_true(soon(&g.stuck, 1) && g.failures > 0 && g.applied == 0);
	assert_true(was_said("load p00003/00000001 waits for HBase: HBase says no; saltmill "
			     "retries it"));
	fail_next = 0;
	assert_true(soon(&g.applied, 3) && soon(&g.waiting, 0));
	assert_false(follow_full(f));
	assert_true(!g.paused && g.stuck == 0 && g.oldest_ms == 0 && g.applied_ms > 0);
	assert_true(was_said("reading continues"));
	assert_true(was_said("load p00003/00000001 is in HBase, after"));
	publish_one(s, parent); /* the follower finds the load without a notice, too */
	assert_true(soon(&g.applied, 4));
	state_close(s);
	follow_stop(f);
	follow_free(f);
	check(path, true);
	struct state_applying a;
	assert_int_equal(state_open(&s, path, false, &err), 0);
	assert_true(state_applying(s, &a));
	assert_true(a.waiting == 0 && a.applied == 4 && a.trouble[0] == 0);
	state_close(s);
	/* the follower also counts loads that arrive while no follower runs */
	s = open_state(path);
	publish_one(s, parent);
	state_close(s);
	assert_int_equal(state_open(&s, path, false, &err), 0);
	assert_true(state_applying(s, &a));
	assert_true(a.waiting == 1 && a.oldest_ms > 0);
	state_close(s);
	mem_free(parent);
	mem_free(path);
}

/* The follower reports a slow load while it runs, and `status` shows it. */
static void test_slow(void **state)
{
	struct error err;
	struct follow_gauges g = {0};
	struct follow_options opt = options(&g);
	struct state_applying a = {0};

	(void)state;
	opt.slow_ms = 100;
	said[0] = 0;
	char *path = make_state("slow", 1);
	slow_ms = 2500;
	struct follow *f = follow_new(&opt);
	char *idle = make_state("idle", 0); /* this state has no work that could be slow */
	follow_add(f, idle, "");
	assert_int_equal(follow_start(f, &err), 0);
	clock_sleep_ms(700);
	snprintf(table, sizeof table, "%s.table", path);
	follow_add(f, path, "");
	for (int i = 0; i < 400 && !a.trouble[0]; i++) {
		struct state *s;

		clock_sleep_ms(5);
		assert_int_equal(state_open(&s, path, false, &err), 0);
		state_applying(s, &a);
		state_close(s);
	}
	assert_non_null(strstr(a.trouble, "it is not yet in HBase after"));
	assert_true(was_said("load 00000001 is not yet in HBase after"));
	assert_true(soon(&g.applied, 1) && soon(&g.waiting, 0));
	assert_true(was_said("load 00000001 is in HBase, after 0 failed attempts"));
	slow_ms = 0;
	follow_stop(f);
	follow_free(f);
	mem_free(idle);
	mem_free(path);
}

/* Work of the follower does not prove that the stream works, so the follower sends the watchdog no
 * message. */
static void test_watchdog(void **state)
{
	struct error err;
	struct follow_gauges g = {0};
	const struct follow_options opt = options(&g);

	(void)state;
	char *path = make_state("watchdog", 1);
	struct follow *f = follow_new(&opt);
	follow_add(f, path, "");
	stop_asked = false;
	looks_for_signals = true;
	assert_int_equal(follow_start(f, &err), 0);
	assert_true(soon(&g.applied, 1));
	assert_false(stop_asked);
	looks_for_signals = false;
	follow_stop(f);
	follow_free(f);
	/* the stream's own threads do send messages */
	assert_int_equal(pool_run(2, 2, look_for_signal, NULL, &err), 0);
	assert_true(stop_asked);
	mem_free(path);
}

/* A refused load blocks the later loads of its state. It blocks no load of other states, and delays
 * the cut of no such load. */
static void test_one_is_refused(void **state)
{
	struct error err;
	struct follow_gauges g = {0};
	const struct follow_options opt = options(&g);

	(void)state;
	said[0] = 0;
	char *bad = make_state("bad", 2), *moved = mem_format("%s/published/moved", bad);
	char *first = mem_format("%s/published/00000001", bad);
	assert_int_equal(rename(first, moved), 0);
	assert_int_equal(once(bad, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "00000001 does not exist"));
	char *good = make_state("good", LOADS);
	struct follow *f = follow_new(&opt);
	follow_add(f, bad, "a/");
	follow_add(f, good, "b/");
	assert_int_equal(follow_start(f, &err), 0);
	assert_true(soon(&g.applied, LOADS));
	assert_int_equal(in_table(), LOADS);
	assert_true(soon(&g.waiting, 2) && g.stuck == 1);
	assert_int_equal(follow_behind(f), 0);
	assert_true(was_said("load a/00000001 cannot be applied"));
	/* a person applied the load by hand and recorded this, so the next load continues */
	struct state *s = open_state(bad);
	assert_int_equal(state_hand_over(s, "00000001", NULL, &err), 0);
	state_close(s);
	assert_true(soon(&g.applied, LOADS + 1));
	follow_drop(f, bad);
	follow_stop(f);
	follow_free(f);
	assert_true(is_there(bad, 2, ""));
	mem_free(first);
	mem_free(moved);
	mem_free(good);
	mem_free(bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_two_followers),
		cmocka_unit_test(test_away_and_back),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_watchdog),
		cmocka_unit_test(test_one_is_refused),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_cuts_wait),
		cmocka_unit_test(test_away_for_long),
		cmocka_unit_test(test_mark_not_durable),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
