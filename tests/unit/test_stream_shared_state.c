/*
 * Tests a state folder that several instances share, which process may open the folder, and where
 * partitions begin
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stream.h"
#include "state.h"
#include "temp_dir.h"

static const struct state_topic three = {.cluster = "c", .topic = "clicks", .npartitions = 3};

static int bind_one(struct state *s, const struct state_topic *t, bool listed, struct error *err)
{
	struct state_topic one = *t;

	return state_bind(s, &(struct state_topics){&one, 1, true}, listed, err);
}
static const int64_t starts[] = {7, 0, 9, 100, 200};

static struct shared open_shared(const char *path)
{
	struct shared s;
	struct error err;

	if (shared_open(&s, path, true, &err))
		fail_msg("%s", err.msg);
	return s;
}

static int64_t position(const char *path, int32_t partition)
{
	struct state *s;
	struct error err;
	int64_t at = -1;
	char *folder = shared_dir(path, partition);

	if (state_open(&s, folder, false, &err) == RC_OK) {
		state_position(s, NULL, partition, &at);
		state_close(s);
	}
	mem_free(folder);
	return at;
}

static void test_names(void **state)
{
	static const struct {
		const char *name, *rest;
		int32_t partition;
	} cases[] = {{"p00003/00000042", "00000042", 3},
		     {"p123456/1", "1", 123456},
		     {"00000042", NULL, 0},
		     {"p3/00000042", NULL, 0},
		     {"p00003", NULL, 0},
		     {"p0000x/1", NULL, 0},
		     {"p99999999999/1", NULL, 0},
		     {"", NULL, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int32_t p = 0;
		const char *rest = shared_name(cases[i].name, &p);

		if (!cases[i].rest)
			assert_null(rest);
		else
			assert_string_equal(rest, cases[i].rest);
		assert_int_equal(p, cases[i].partition);
	}
	char *folder = shared_dir("var", 12);
	assert_string_equal(folder, "var/p00012");
	mem_free(folder);
}

static bool is_shared(const char *path)
{
	struct error err;
	bool is;

	assert_int_equal(shared_is(path, &is, &err), RC_OK);
	return is;
}

static void test_take_in(void **state)
{
	char *path = mem_strdup(path_of("take"));
	struct error err;

	(void)state;
	assert_false(is_shared(path));
	struct shared s = open_shared(path);
	assert_null(s.topic.topic);
	if (shared_take_in(&s, &three, starts, &err))
		fail_msg("%s", err.msg);
	shared_close(&s);
	assert_true(is_shared(path));
	for (int32_t p = 0; p < 3; p++)
		assert_int_equal(position(path, p), starts[p]);
	/* run again with two more partitions; the other partitions keep their positions */
	static const int64_t later[] = {1, 2, 3, 4, 5};
	const struct state_topic five = {.cluster = "c", .topic = "clicks", .npartitions = 5};
	s = open_shared(path);
	assert_int_equal(s.topic.npartitions, 3);
	assert_int_equal(shared_check(&s, &five, &err), RC_OK);
	assert_int_equal(shared_take_in(&s, &five, later, &err), RC_OK);
	shared_close(&s);
	for (int32_t p = 0; p < 5; p++)
		assert_int_equal(position(path, p), p < 3 ? starts[p] : later[p]);
	mem_free(path);
}

static void test_refusals(void **state)
{
	static const struct {
		struct state_topic now;
		int rc;
		const char *want;
	} cases[] = {
		{{.cluster = "c", .topic = "views", .npartitions = 3},
		 RC_CONFIG,
		 "state of topic clicks"},
		{{.cluster = "d", .topic = "clicks", .npartitions = 3},
		 RC_DATA,
		 "now in cluster d"},
		{{.cluster = "c", .topic = "clicks", .npartitions = 2},
		 RC_DATA,
		 "found 3 partitions before"},
	};
	char *path = mem_strdup(path_of("refuse"));
	struct error err;
	struct shared s = open_shared(path), other;
	struct state *one;
	(void)state;
	assert_int_equal(shared_take_in(&s, &three, starts, &err), RC_OK);
	assert_int_equal(shared_open(&other, path, true, &err), RC_BUSY);
	shared_close(&other);
	/* a reader always gets access */
	assert_int_equal(shared_open(&other, path, false, &err), RC_OK);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(shared_check(&other, &cases[i].now, &err), cases[i].rc);
		if (!strstr(err.msg, cases[i].want))
			fail_msg("%s", err.msg);
	}
	shared_close(&other);
	shared_close(&s);
	/* state_open refuses a folder of the other kind */
	assert_int_equal(state_open(&one, path, true, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "is shared by the members of a group"));
	char *own = shared_dir(path, 1);
	assert_int_equal(state_open(&one, own, true, &err), RC_OK);
	assert_int_equal(bind_one(one, &three, true, &err), RC_OK);
	state_close(one);
	assert_int_equal(shared_open(&other, own, true, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "is the state of one instance, but the job has"));
	shared_close(&other);
	mem_free(own);
	mem_free(path);
}

/* The run dies before it writes the folder's kind. The next run completes the folder and
 * keeps existing positions. */
static void test_killed(void **state)
{
	static const int64_t later[] = {1000, 1000, 1000};
	char *path = mem_strdup(path_of("killed"));
	struct error err;
	int status;

	(void)state;
	pid_t child = fork();
	if (child == 0) {
		setenv("SALTMILL_CRASH_AT", "taken-in", 1);
		struct shared s = open_shared(path);
		shared_take_in(&s, &three, starts, &err);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_false(is_shared(path));
	struct shared s = open_shared(path);
	assert_int_equal(shared_take_in(&s, &three, later, &err), RC_OK);
	shared_close(&s);
	for (int32_t p = 0; p < 3; p++)
		assert_int_equal(position(path, p), starts[p]);
	mem_free(path);
}

static char *file_in(const char *path, const char *name)
{
	return mem_format("%s/%s", path, name);
}

static void put_text(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* If shared.json is lost or damaged, the partitions' states name the topic. */
static void test_rebuilt(void **state)
{
	static const char *const damage[] = {
		NULL,
		"",
		"{",
		"[]",
		"{}",
		"{\"cluster\": \"c\", \"topic\": \"clicks\", \"partitions\": 3, \"digest\": "
		"\"00000000000000000000000000000000\"}"};
	char *path = mem_strdup(path_of("rebuilt")), *file = file_in(path, "shared.json");
	struct error err;
	struct buf lines = {0};
	struct shared s = open_shared(path);

	(void)state;
	assert_int_equal(shared_take_in(&s, &three, starts, &err), RC_OK);
	shared_close(&s);
	int32_t end = 0;
	assert_int_equal(shared_folders(path, &end, &err), RC_OK);
	assert_int_equal(end, 3);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(shared_rebuild(path, &lines, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "add the folders of its loads to the command"));
	for (int32_t p = 0; p < 2; p++) { /* the third partition has no load yet */
		char *own = shared_dir(path, p);
		struct state *one;
		assert_int_equal(state_open(&one, own, true, &err), RC_OK);
		assert_int_equal(bind_one(one, &three, true, &err), RC_OK);
		state_close(one);
		mem_free(own);
	}
	for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
		if (damage[i]) {
			put_text(file, damage[i]);
			assert_int_equal(shared_open(&s, path, true, &err), RC_DATA);
			assert_non_null(strstr(err.msg, "--rebuild"));
			shared_close(&s);
		}
		lines.len = 0;
		if (shared_rebuild(path, &lines, &err))
			fail_msg("%s", err.msg);
		buf_put(&lines, 0);
		assert_non_null(strstr((char *)lines.ptr, "topic clicks, 3 partitions"));
		assert_true(!strstr((char *)lines.ptr, ".damaged") == !damage[i]);
		s = open_shared(path);
		assert_int_equal(shared_check(&s, &three, &err), RC_OK);
		assert_int_equal(s.topic.npartitions, 3);
		assert_int_equal(shared_rebuild(path, &lines, &err), RC_BUSY);
		shared_close(&s);
		assert_int_equal(unlink(file), 0);
	}
	/* a sound folder does not change, and positions stay */
	assert_int_equal(shared_rebuild(path, &lines, &err), RC_OK);
	lines.len = 0;
	assert_int_equal(shared_rebuild(path, &lines, &err), RC_OK);
	assert_int_equal(lines.len, 0);
	for (int32_t p = 0; p < 3; p++)
		assert_int_equal(position(path, p), starts[p]);
	buf_release(&lines);
	mem_free(file);
	mem_free(path);
}

/* The topic of a partition that has loads is the folder's topic. */
static void test_topic_of_one_rebuilt(void **state)
{
	char *path = mem_strdup(path_of("one")), *own = shared_dir(path, 1);
	char *file = file_in(own, "topic.json");
	struct error err;
	struct buf lines = {0};
	struct shared s = open_shared(path);
	struct state *one;
	struct offset_range r = {.partition = 1, .start = starts[1], .end = starts[1] + 5};

	(void)state;
	assert_int_equal(shared_take_in(&s, &three, starts, &err), RC_OK);
	shared_close(&s);
	assert_int_equal(state_open(&one, own, true, &err), RC_OK);
	assert_int_equal(bind_one(one, &three, true, &err), RC_OK);
	assert_int_equal(state_intend(one, state_next_name(one), "/out/gone", &r, 1, &err), RC_OK);
	assert_int_equal(state_published(one, &(struct state_result){.read = 5}, &err), RC_OK);
	state_close(one);
	put_text(file, "{}");
	if (rebuild_run(path, NULL, 0, &lines, &err))
		fail_msg("%s", err.msg);
	buf_put(&lines, 0);
	assert_non_null(strstr((char *)lines.ptr, "topic.json was rebuilt: topic clicks, 3 "));
	/* the others have no loads yet, and record it with their first load */
	assert_null(strstr((char *)lines.ptr, "p00000"));
	assert_null(strstr((char *)lines.ptr, "p00002"));
	assert_int_equal(state_open(&one, own, true, &err), RC_OK);
	assert_int_equal(bind_one(one, &three, true, &err), RC_OK);
	state_close(one);
	assert_int_equal(position(path, 1), starts[1] + 5);
	buf_release(&lines);
	mem_free(file);
	mem_free(own);
	mem_free(path);
}

/*
 * A topic has gained partitions, and only one partition's state knows it yet. The rebuilt folder has
 * the larger count, whichever state it reads first.
 */
static void test_most_partitions_rebuilt(void **state)
{
	static const struct state_topic five = {.cluster = "c",
						.topic = "clicks",
						.npartitions = 5};
	struct error err;

	(void)state;
	for (int32_t knows = 0; knows < 2; knows++) {
		char *path = mem_strdup(path_of(knows ? "second" : "first"));
		char *file = file_in(path, "shared.json");
		struct buf lines = {0};
		struct shared s = open_shared(path);

		assert_int_equal(shared_take_in(&s, &three, starts, &err), RC_OK);
		shared_close(&s);
		for (int32_t p = 0; p < 2; p++) {
			char *own = shared_dir(path, p);
			struct state *one;
			assert_int_equal(state_open(&one, own, true, &err), RC_OK);
			assert_int_equal(bind_one(one, p == knows ? &five : &three, true, &err),
					 RC_OK);
			state_close(one);
			mem_free(own);
		}
		assert_int_equal(unlink(file), 0);
		if (shared_rebuild(path, &lines, &err))
			fail_msg("%s", err.msg);
		buf_put(&lines, 0);
		assert_non_null(strstr((char *)lines.ptr, "topic clicks, 5 partitions"));
		buf_release(&lines);
		mem_free(file);
		mem_free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_take_in),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_rebuilt),
		cmocka_unit_test(test_topic_of_one_rebuilt),
		cmocka_unit_test(test_most_partitions_rebuilt),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
