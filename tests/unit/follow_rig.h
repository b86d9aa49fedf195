/*
 * follow_rig.h - a follower over states with loads, and a model of HBase and of `apply`
 *
 * Include it after cmocka.h. The table is a file with one line a load. A journal beside the load
 * makes apply's second run harmless (test_deliver_handover.c tests the real journal). Without the
 * journal, the rig adds a load that is already in the table again, as HBase does.
 */
#ifndef SALTMILL_TEST_FOLLOW_RIG_H
#define SALTMILL_TEST_FOLLOW_RIG_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "run.h"
#include "apply.h"
#include "mem.h"
#include "pool.h"
#include "state.h"
#include "tests/unit/temp_dir.h"

#define LOADS 4

static _Atomic int fail_next, fail_code; /* this many runs of the model fail with this code */
static _Atomic int slow_ms;
static _Atomic bool looks_for_signals;

/* --- the model --- */

static inline void append(const char *path, const char *line)
{
	FILE *f = fopen(path, "a");
	assert_non_null(f);
	fprintf(f, "%s\n", line);
	assert_int_equal(fclose(f), 0);
}

static inline void read_text(const char *path, char *text, size_t room)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, room - 1, f) : 0;
	text[n] = 0;
	if (f)
		fclose(f);
}

static char table[300];

static inline int look_for_signal(void *ctx, unsigned worker, size_t index, struct error *err)
{
	(void)ctx, (void)worker, (void)index;
	clock_sleep_ms(1); /* lets another thread take the next load */
	return stop_check(err);
}

static inline int model_apply(struct apply_result *out, const struct apply_options *opt,
			      struct error *err)
{
	char journal[500], text[2000], lines[2000], name[64];
	const char *base = strrchr(opt->dir, '/') + 1;

	assert_true(!opt->journal && opt->never_renamed && opt->kept);
	snprintf(journal, sizeof journal, "%s" APPLY_SUFFIX, opt->dir);
	*out = (struct apply_result){.cluster_id = "model", .ms = {[APPLY_CALLS] = 7}};
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

static inline struct state *open_state(const char *path)
{
	struct state *s;
	struct error err;

	if (state_open(&s, path, true, &err))
		fail_msg("%s", err.msg);
	return s;
}

static inline void publish_one(struct state *s, const char *parent)
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

/* Creates a state with this number of `loads`, and an empty table. */
static inline char *make_state(const char *name, int loads)
{
	struct error err;
	struct state_topic topic = {"cluster", "clicks", 1, NULL};
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

static inline bool is_there(const char *state, int load, const char *suffix)
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

static inline void keep_said(void *ctx, const char *sentence)
{
	(void)ctx;
	pthread_mutex_lock(&said_lock);
	size_t n = strlen(said);
	snprintf(said + n, sizeof said - n, "%s\n", sentence);
	pthread_mutex_unlock(&said_lock);
}

static inline bool was_said(const char *what)
{
	pthread_mutex_lock(&said_lock);
	bool found = strstr(said, what) != NULL;
	pthread_mutex_unlock(&said_lock);
	return found;
}

static inline struct follow_options options(struct follow_gauges *g)
{
	return (struct follow_options){.keep = {KEEP_LOADS, 1},
				       .gauges = g,
				       .listener = {keep_said, NULL},
				       .run = model_apply};
}

static struct follow_keep keep = {KEEP_LOADS, 1};

static inline int once(const char *path, struct error *err)
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

/* --- invariants --- */

/* Checks that the table has each load once, in order. Returns the number of loads. */
static inline int in_table(void)
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

static inline void check(const char *path, bool ended)
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

static inline bool soon(const _Atomic uint64_t *value, uint64_t wanted)
{
	for (int i = 0; i < 2000 && *value != wanted; i++)
		clock_sleep_ms(5);
	return *value == wanted;
}

#endif
