/* Tests changes by others to a followed state, such as marks by hand, damage, and another state in
 * its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/clock_rig.h"
#include "tests/unit/follow_rig.h"

/*
 * A user marks a load while a follower waits to apply it. The load's folder stays, for any value of
 * --keep.
 */
static void test_keep_by_hand(void **state)
{
	struct error err;
	struct follow_gauges g = {0};
	struct follow_options opt = options(&g);

	(void)state;
	opt.keep.n = 0;
	said[0] = 0;
	char *path = make_state("by-hand", 3);
	struct follow *f = follow_new(&opt);
	fail_code = RC_IO;
	fail_next = 1000000;
	follow_add(f, path, "");
	assert_int_equal(follow_start(f, &err), 0);
	assert_true(soon(&g.stuck, 1));
	struct state *s = open_state(path);
	assert_int_equal(state_hand_over(s, "00000001", NULL, &err), 0);
	state_close(s);
	assert_true(soon(&g.waiting, 2));
	fail_next = 0;
	assert_true(soon(&g.applied, 2));
	follow_stop(f);
	follow_free(f);
	assert_int_equal(once(path, &err), 0); /* no later run removes the folder */
	assert_true(is_there(path, 1, "/manifest.json"));
	assert_false(is_there(path, 2, "") || is_there(path, 3, ""));
	assert_false(was_said("load 00000001 is in HBase"));
	assert_true(was_said("somebody marked load 00000001 as in HBase by hand"));
	mem_free(path);
}

/* The follower does not apply a load whose manifest differs from the published manifest. */
static void test_changed(void **state)
{
	struct error err;

	(void)state;
	char *path = make_state("changed", 1);
	char *manifest = mem_format("%s/published/00000001/manifest.json", path);
	append(manifest, "more");
	assert_int_equal(once(path, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "found other bytes than those published"));
	assert_int_equal(in_table(), 0);
	mem_free(manifest);
	mem_free(path);
}

static void spoil(const char *state, const char *file)
{
	char *path = mem_format("%s/%s", state, file);

	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs("{}", f);
	assert_int_equal(fclose(f), 0);
	mem_free(path);
}

/* Another state replaces a followed state. The new loads have names that the follower has already
 * seen. */
static void test_replaced(void **state)
{
	struct error err;
	struct follow_gauges g = {0};
	const struct follow_options opt = options(&g);
	enum state_mark mark;

	(void)state;
	said[0] = 0;
	char *path = make_state("replaced", LOADS);
	struct follow *f = follow_new(&opt);
	follow_all(f, path);
	assert_int_equal(follow_run(f, false, &err), 0);
	assert_int_equal(g.applied, LOADS);
	static const int sizes[] = {LOADS - 2, LOADS + 1};
	for (int i = 0; i < 2; i++) {
		uint64_t wanted = g.applied + (uint64_t)sizes[i];

		assert_int_equal(io_remove_tree(path, &err), 0);
		mem_free(make_state("replaced", sizes[i]));
		unlink(table);
		steady_ahead_ms += 61000; /* the follower checks that the state is the same */
		assert_int_equal(follow_run(f, false, &err), 0);
		assert_int_equal(g.applied, wanted);
		assert_int_equal(in_table(), sizes[i]);
		assert_int_equal(state_mark_of(path, "00000001", &mark, &err), 0);
		assert_int_equal(mark, STATE_MARKED_BY_FOLLOWER);
		assert_true(is_there(path, sizes[i], "/manifest.json"));
		assert_true(was_said("another state replaced "));
		assert_true(was_said("/replaced; apply checks all loads of the new state again"));
		said[0] = 0;
	}
	follow_free(f);
	steady_ahead_ms = 0;
	mem_free(path);
}

/* If the follower cannot read a state, it reports this, counts it, writes a note and reads nothing
 * more from Kafka. */
static void test_unread(void **state)
{
	struct error err;
	struct follow_gauges g = {0};
	struct follow_options opt = options(&g);
	struct state_applying a = {0};
	struct state *s;

	(void)state;
	opt.max_waiting = 3;
	said[0] = 0;
	char *path = make_state("unread", 1), *record = mem_format("%s/loads/00000002.json", path);
	assert_int_equal(state_open(&s, path, false, &err), 0);
	struct follow *f = follow_new(&opt);
	follow_add(f, path, "");
	assert_int_equal(follow_start(f, &err), 0);
	assert_true(soon(&g.applied, 1) && soon(&g.waiting, 0));
	assert_false(follow_full(f));
	spoil(path, "loads/00000002.json");
	assert_true(soon(&g.stuck, 1));
	assert_true(follow_full(f) && g.paused);
	assert_true(was_said("the number of loads that wait for HBase is unknown"));
	for (int i = 0; i < 1000 && !a.trouble[0]; i++) {
		clock_sleep_ms(5);
		state_applying(s, &a);
	}
	assert_non_null(strstr(a.trouble, "00000002.json has damage"));
	assert_true(was_said("cannot look for loads to apply: ") &&
		    was_said("00000002.json has damage"));
	assert_int_equal(unlink(record), 0);
	assert_true(soon(&g.stuck, 0));
	assert_true(!follow_full(f) && !g.paused);
	follow_stop(f);
	assert_true(was_said("saltmill can read the loads of"));
	follow_free(f);
	state_close(s);
	mem_free(record);
	mem_free(path);
}

/*
 * The folder is missing and the record is damaged, so --rebuild restores the record from the mark.
 * The follower sets a damaged mark aside.
 */
static void test_rebuild(void **state)
{
	struct error err;
	struct buf lines = {0};
	struct state *s;
	size_t n;
	enum state_mark mark;

	(void)state;
	char *path = make_state("rebuilt", LOADS);
	assert_int_equal(once(path, &err), 0);
	spoil(path, "loads/00000002.json");
	char *mark3 = mem_format("%s/handed/00000003", path), *aside = mem_format("%s/aside", path);
	assert_int_equal(rename(mark3, aside), 0);
	fclose(fopen(mark3, "w")); /* old versions wrote empty marks */
	assert_int_equal(state_open(&s, path, false, &err), RC_DATA);
	assert_int_equal(state_rebuild(path, &(struct state_topics){0}, NULL, 0, &lines, &err), 0);
	buf_put(&lines, 0);
	char *source =
		mem_format("saltmill recorded load 00000002 from its mark, %s/handed/00000002\n",
			   path);
	assert_non_null(strstr((const char *)lines.ptr, source));
	mem_free(source);
	assert_int_equal(state_open(&s, path, false, &err), 0);
	const struct state_load *l = state_loads(s, &n);
	assert_true(n == LOADS && l[1].handed && l[1].phase == STATE_PUBLISHED && l[2].handed);
	assert_int_equal(rename(aside, mark3), 0);
	mem_free(aside);
	mem_free(mark3);
	assert_true(l[1].ranges[0].start == 10 && l[1].ranges[0].end == 20 && l[1].read == 10);
	state_close(s);
	spoil(path, "handed/00000004");
	assert_int_equal(state_open(&s, path, false, &err), RC_DATA);
	assert_int_equal(state_rebuild(path, &(struct state_topics){0}, NULL, 0, &lines, &err), 0);
	assert_int_equal(state_mark_of(path, "00000004", &mark, &err), 0);
	assert_int_equal(mark, STATE_UNMARKED);
	/* the journal shows that the load is in HBase */
	assert_int_equal(once(path, &err), 0);
	check(path, true);
	buf_release(&lines);
	mem_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keep_by_hand), cmocka_unit_test(test_changed),
		cmocka_unit_test(test_replaced),     cmocka_unit_test(test_unread),
		cmocka_unit_test(test_rebuild),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
