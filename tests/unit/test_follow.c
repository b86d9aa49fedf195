/*
 * Loads of a state into HBase: killed at each step and started again, each is in the table once, in
 * order, and its folder is there until that is written down.
 *
 * HBase and `apply` are a model: the table is a file with a line a load.  A journal beside the load
 * makes apply's second run harmless (test_handover.c shows that of the real one); without it a load
 * that is in the table already comes in once more, as it would in HBase.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backoff.h"
#include "clock.h"
#include "crash.h"
#include "follow.h"
#include "mem.h"
#include "pool.h"
#include "state.h"
#include "temp_dir.h"
#include "tests/unit/clock_rig.h"

#define LOADS 4

static const char *const steps[] = {"model-begun",    "model-in",      "model-finished",
				    "follow-applied", "mark-temp",     "follow-marked",
				    "follow-aside",   "follow-removed"};
enum { STEPS = sizeof steps / sizeof *steps };

static _Atomic int fail_next, fail_code; /* so many runs of the model fail, with this code */
static _Atomic int slow_ms;
static _Atomic bool looks_for_signals;

/* --- the model --- */

static void append(const char *path, const char *line)
{
	FILE *f = fopen(path, "a");
	assert_non_null(f);
	fprintf(f, "%s\n", line);
	assert_int_equal(fclose(f), 0);
}

static void read_text(const char *path, char *text, size_t room)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, room - 1, f) : 0;
	text[n] = 0;
	if (f)
		fclose(f);
}

static char table[300];

static int look_for_signal(void *ctx, unsigned worker, size_t index, struct error *err)
{
	(void)ctx, (void)worker, (void)index;
	clock_sleep_ms(1); /* another thread takes the next */
	return stop_check(err);
}

static int model_apply(struct apply_result *out, const struct apply_options *opt, struct error *err)
{
	char journal[500], text[2000], lines[2000], name[64];
	const char *base = strrchr(opt->dir, '/') + 1;
	assert_null(opt->journal);
	snprintf(journal, sizeof journal, "%s" APPLY_SUFFIX, opt->dir);
	*out = (struct apply_result){.cluster_id = "model"};
	if (fail_next > 0) {
		fail_next--;
		return error_set(err, fail_code, "HBase says no");
	}
	read_text(journal, text, sizeof text);
	if (strstr(text, "finished"))
		return RC_OK;
	bool began = text[0] != 0;
	if (!began)
		append(journal, "begun");
	crash_at("model-begun");
	if (slow_ms)
		clock_sleep_ms(slow_ms);
	if (looks_for_signals && (pool_run(4, 50, look_for_signal, NULL, err) ||
				  backoff_wait(0, clock_seconds() + 10, err)))
		return err->code;
	read_text(table, lines, sizeof lines);
	snprintf(name, sizeof name, "%s\n", base);
	if (!began || !strstr(lines, name))
		append(table, base);
	crash_at("model-in");
	append(journal, "finished");
	crash_at("model-finished");
	return RC_OK;
}

/* --- states --- */

static struct state *open_state(const char *path)
{
	struct state *s;
	struct error err;
	if (state_open(&s, path, true, &err))
		fail_msg("%s", err.msg);
	return s;
}

static void publish_one(struct state *s, const char *parent)
{
	struct error err;
	uint8_t digest[16];
	uint64_t size;
	int64_t at = 0;
	const char *name = state_next_name(s);
	char *load = mem_format("%s/%s", parent, name);
	char *manifest = mem_format("%s/manifest.json", load);
	state_position(s, NULL, 0, &at);
	const struct offset_range r = {.partition = 0, .start = at, .end = at + 10};
	assert_int_equal(mkdir(load, 0777), 0);
	append(manifest, name);
	assert_int_equal(io_digest_file(manifest, digest, &size, &err), 0);
	assert_int_equal(state_intend(s, name, load, &r, 1, &err), 0);
	assert_int_equal(state_publishing(s, &err), 0);
	const struct state_result result = {.read = 10, .manifest = digest};
	assert_int_equal(state_published(s, &result, &err), 0);
	mem_free(manifest);
	mem_free(load);
}

/* A state with so many loads; the table is empty. */
static char *make_state(const char *name, int loads)
{
	struct error err;
	struct state_topic topic = {"cluster", "clicks", 1};
	char *path = mem_strdup(path_of(name));
	struct state *s = open_state(path);
	char *parent = mem_format("%s/published", path);
	assert_int_equal(state_bind(s, &(struct state_topics){&topic, 1, true}, false, &err), 0);
	for (int i = 0; i < loads; i++)
		publish_one(s, parent);
	state_close(s);
	mem_free(parent);
	snprintf(table, sizeof table, "%s.table", path);
	return path;
}

static bool is_there(const char *state, int load, const char *suffix)
{
	struct error err;
	bool there;
	char *path = mem_format("%s/published/%08d%s", state, load, suffix);
	assert_int_equal(io_exists(path, &there, &err), 0);
	mem_free(path);
	return there;
}

/* --- a follower --- */

static char said[4000];
static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep_said(void *ctx, const char *sentence)
{
	(void)ctx;
	pthread_mutex_lock(&said_lock);
	size_t n = strlen(said);
	snprintf(said + n, sizeof said - n, "%s\n", sentence);
	pthread_mutex_unlock(&said_lock);
}

static bool was_said(const char *what)
{
	pthread_mutex_lock(&said_lock);
	bool found = strstr(said, what) != NULL;
	pthread_mutex_unlock(&said_lock);
	return found;
}

static struct follow_options options(struct follow_gauges *g)
{
	return (struct follow_options){.keep = {KEEP_LOADS, 1},
				       .gauges = g,
				       .say = keep_said,
				       .run = model_apply};
}

static struct follow_keep keep = {KEEP_LOADS, 1};

static int once(const char *path, struct error *err)
{
	struct follow_gauges g = {0};
	struct follow_options opt = options(&g);
	opt.keep = keep;
	struct follow *f = follow_new(&opt);
	follow_all(f, path);
	int rc = follow_run(f, false, err);
	follow_free(f);
	return rc;
}

/* --- what holds at any moment --- */

/* In order, each once; how many. */
static int in_table(void)
{
	char text[2000], expected[2000] = "";
	int n = 0;
	read_text(table, text, sizeof text);
	while (strlen(expected) < strlen(text) && n < LOADS * 2)
		snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%08d\n",
			 ++n);
	assert_string_equal(text, expected);
	return n;
}

static void check(const char *path, bool ended)
{
	struct error err;
	struct state *s;
	size_t n;
	int in = in_table();
	assert_int_equal(state_open(&s, path, false, &err), 0);
	assert_int_equal(state_read_all(s, &err), 0);
	const struct state_load *l = state_loads(s, &n);
	assert_int_equal(n, LOADS);
	for (int i = 0; i < LOADS; i++) {
		if (l[i].handed)
			assert_true(i < in);
		else
			assert_true(is_there(path, i + 1, "/manifest.json"));
		if (!ended)
			continue;
		assert_true(l[i].handed && l[i].handed_ms > 0);
		assert_string_equal(l[i].handed_to, "model");
		assert_int_equal(is_there(path, i + 1, ""), i == LOADS - 1);
		assert_int_equal(is_there(path, i + 1, APPLY_SUFFIX), i == LOADS - 1);
		assert_false(is_there(path, i + 1, ".saltmill-removed"));
	}
	if (ended)
		assert_int_equal(in, LOADS);
	state_close(s);
}

/* It dies there, or the step was not come to and all is done. */
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

/* All sequences of two deaths. */
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

/* By time; and a removal that was begun is ended even when the folder might stay by now. */
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
	wall_ahead_ms = -7200000; /* the clock is behind the hand-over */
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

static void *follow_once(void *ctx)
{
	struct error err;
	int rc;
	/* the other one is at it: that is no failure of theirs */
	while ((rc = once(ctx, &err)) == RC_BUSY)
		clock_sleep_ms(1);
	assert_int_equal(rc, 0);
	return NULL;
}

/* Two at once do each load once, in order. */
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

static bool soon(const _Atomic uint64_t *value, uint64_t wanted)
{
	for (int i = 0; i < 2000 && *value != wanted; i++)
		clock_sleep_ms(5);
	return *value == wanted;
}

/* HBase is away: reading may go on up to a limit, then it pauses; all is handed over later. */
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
	assert_true(g.oldest_ms > 0 && g.oldest_ms <= clock_wall_ms());
	assert_true(follow_full(f) && follow_full(f) && g.paused);
	assert_true(was_said("3 loads wait for HBase"));
	assert_true(soon(&g.stuck, 1) && g.failures > 0 && g.applied == 0);
	assert_true(was_said("load p00003/00000001 waits for HBase: HBase says no; it is tried"));
	fail_next = 0;
	assert_true(soon(&g.applied, 3) && soon(&g.waiting, 0));
	assert_false(follow_full(f));
	assert_true(!g.paused && g.stuck == 0 && g.oldest_ms == 0 && g.applied_ms > 0);
	assert_true(was_said("reading goes on"));
	assert_true(was_said("load p00003/00000001 is in HBase, after"));
	publish_one(s, parent); /* it is found without a word, too */
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
	/* what comes while nobody follows is counted, too */
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

/* One that takes long is told while it does, and status knows. */
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
	char *idle = make_state("idle", 0); /* it has nothing that could take long */
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
	assert_non_null(strstr(a.trouble, "it is on its way for"));
	assert_true(was_said("load 00000001 is on its way to HBase for"));
	assert_true(soon(&g.applied, 1) && soon(&g.waiting, 0));
	assert_true(was_said("load 00000001 is in HBase, after 0 attempts that failed"));
	slow_ms = 0;
	follow_stop(f);
	follow_free(f);
	mem_free(idle);
	mem_free(path);
}

/* That the follower does something does not say that the stream does: the watchdog hears nothing.
 */
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
	/* the stream's own threads are heard */
	assert_int_equal(pool_run(2, 2, look_for_signal, NULL, &err), 0);
	assert_true(stop_asked);
	mem_free(path);
}

/* Marked by hand while a follower waits to do it: its folder stays, whatever --keep says. */
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
	assert_int_equal(once(path, &err), 0); /* and no next one removes it */
	assert_true(is_there(path, 1, "/manifest.json"));
	assert_false(is_there(path, 2, "") || is_there(path, 3, ""));
	assert_false(was_said("load 00000001 is in HBase"));
	assert_true(was_said("load 00000001 was marked as in HBase by hand"));
	mem_free(path);
}

/* A load that is refused keeps those behind it waiting, and those of no other state. */
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
	assert_non_null(strstr(err.msg, "00000001 is gone"));
	char *good = make_state("good", LOADS);
	struct follow *f = follow_new(&opt);
	follow_add(f, bad, "a/");
	follow_add(f, good, "b/");
	assert_int_equal(follow_start(f, &err), 0);
	assert_true(soon(&g.applied, LOADS));
	assert_int_equal(in_table(), LOADS);
	assert_true(g.waiting == 2 && g.stuck == 1);
	assert_true(was_said("load a/00000001 cannot be handed over"));
	/* somebody did it by hand, and says so: the next one is the next */
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

/* A manifest that is not the one which was published is not handed over. */
static void test_changed(void **state)
{
	struct error err;
	(void)state;
	char *path = make_state("changed", 1);
	char *manifest = mem_format("%s/published/00000001/manifest.json", path);
	append(manifest, "more");
	assert_int_equal(once(path, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "was changed since the load was published"));
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

/* The folder is gone, the record damaged: the mark tells what it was; a damaged mark is put aside.
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
	assert_int_equal(state_open(&s, path, false, &err), RC_DATA);
	assert_int_equal(state_rebuild(path, &(struct state_topics){0}, NULL, 0, &lines, &err), 0);
	buf_put(&lines, 0);
	char *source =
		mem_format("load 00000002 was recorded from its mark, %s/handed/00000002\n", path);
	assert_non_null(strstr((const char *)lines.ptr, source));
	mem_free(source);
	assert_int_equal(state_open(&s, path, false, &err), 0);
	const struct state_load *l = state_loads(s, &n);
	assert_true(n == LOADS && l[1].handed && l[1].phase == STATE_PUBLISHED);
	assert_true(l[1].ranges[0].start == 10 && l[1].ranges[0].end == 20 && l[1].read == 10);
	state_close(s);
	spoil(path, "handed/00000004");
	assert_int_equal(state_open(&s, path, false, &err), RC_DATA);
	assert_int_equal(state_rebuild(path, &(struct state_topics){0}, NULL, 0, &lines, &err), 0);
	assert_int_equal(state_mark_of(path, "00000004", &mark, &err), 0);
	assert_int_equal(mark, STATE_UNMARKED);
	/* its journal knows that it is in */
	assert_int_equal(once(path, &err), 0);
	check(path, true);
	buf_release(&lines);
	mem_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed),	      cmocka_unit_test(test_two_followers),
		cmocka_unit_test(test_away_and_back), cmocka_unit_test(test_one_is_refused),
		cmocka_unit_test(test_changed),	      cmocka_unit_test(test_rebuild),
		cmocka_unit_test(test_slow),	      cmocka_unit_test(test_keep),
		cmocka_unit_test(test_keep_by_hand),  cmocka_unit_test(test_watchdog),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
