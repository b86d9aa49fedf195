/*
 * Tests a state whose topic is unknown, and unreadable files
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "mem.h"
#include "state.h"
#include "tests/unit/temp_dir.h"

static struct state_topic both[] = {{"cluster", "clicks", 1, NULL}, {"cluster", "orders", 1, NULL}};
static const struct state_topics none = {0}, clicks = {both, 1, true}, several = {both, 2, false};

static struct state *open_state(const char *path)
{
	struct state *s;
	struct error err;

	if (state_open(&s, path, true, &err))
		fail_msg("%s", err.msg);
	return s;
}

/* Makes a load of five offsets. The caller owns the result. */
static char *make_state(const char *name)
{
	char *path = mem_strdup(path_of(name));
	struct error err;
	const struct offset_range r = {.partition = 0, .end = 5};
	struct state *s = open_state(path);

	assert_int_equal(state_bind(s, &clicks, false, &err), 0);
	assert_int_equal(state_intend(s, state_next_name(s), "/out/gone", &r, 1, &err), 0);
	assert_int_equal(state_published(s, &(struct state_result){.read = 5}, &err), 0);
	state_close(s);
	return path;
}

static char *file_in(const char *path, const char *name)
{
	return mem_format("%s/%s", path, name);
}

static bool has(const char *path, const char *name)
{
	char *file = file_in(path, name);
	bool there = access(file, F_OK) == 0;

	mem_free(file);
	return there;
}

static int64_t position(const char *path)
{
	struct state *s = open_state(path);
	int64_t at = -1;

	state_position(s, NULL, 0, &at);
	state_close(s);
	return at;
}

/* The topic's record is damaged and no load names the topic, so --rebuild changes nothing. */
static void test_rebuild_without_topic(void **state)
{
	char *path = make_state("rebuild"), *file = file_in(path, "topic.json");
	struct error err;
	struct buf lines = {0};

	(void)state;
	assert_int_equal(unlink(file), 0);
	assert_int_equal(io_write_file(file, bytes_str("{}"), &err), 0);
	assert_int_equal(state_rebuild(path, &none, NULL, 0, &lines, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "contains the topic of this state"));
	assert_int_equal(lines.len, 0);
	assert_true(has(path, "topic.json"));
	assert_false(has(path, "topic.json.damaged"));
	/* a topic from the search does */
	if (state_rebuild(path, &clicks, NULL, 0, &lines, &err))
		fail_msg("%s", err.msg);
	assert_true(has(path, "topic.json.damaged"));
	struct state *s = open_state(path);
	assert_int_equal(state_bind(s, &several, false, &err), 0);
	assert_true(state_has_topic(s, "clicks") && !state_has_topic(s, "orders"));
	state_close(s);
	assert_int_equal(position(path), 5);
	buf_release(&lines);
	mem_free(file);
	mem_free(path);
}

/* The state's loads do not count as loads of the topics that a job names. */
static void test_bind_without_topic(void **state)
{
	char *path = make_state("bind"), *file = file_in(path, "topic.json");
	struct error err;

	(void)state;
	assert_int_equal(unlink(file), 0);
	struct state *s = open_state(path);
	assert_int_equal(state_bind(s, &several, false, &err), RC_DATA);
	assert_int_equal(state_bind(s, &clicks, false, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "topic.json is missing"));
	assert_non_null(strstr(err.msg, "--rebuild"));
	state_close(s);
	assert_false(has(path, "topic.json"));
	mem_free(file);
	mem_free(path);
}

/* Positions without a load belong to a job's only topic. They do not belong to one of several
 * topics. */
static void test_positions_without_topic(void **state)
{
	char *path = mem_strdup(path_of("positions"));
	struct error err;
	const struct offset_range at = {.partition = 0, .end = 7};
	struct state *s = open_state(path);

	(void)state;
	assert_int_equal(state_seek(s, &at, 1, &err), 0);
	assert_int_equal(state_bind(s, &several, false, &err), RC_DATA);
	assert_int_equal(state_bind(s, &clicks, false, &err), 0);
	state_close(s);
	assert_int_equal(position(path), 7);
	mem_free(path);
}

/* A link to itself neither exists nor counts as missing. */
static void test_not_to_be_seen(void **state)
{
	char *path = make_state("unseen"), *handed = file_in(path, "handed/00000001");
	char *loop = file_in(path, "loop");
	struct error err;
	struct buf lines = {0};
	struct state *s;

	(void)state;
	assert_int_equal(symlink("00000001", handed), 0);
	assert_int_equal(state_open(&s, path, true, &err), RC_IO);
	assert_int_equal(unlink(handed), 0);
	assert_int_equal(symlink("loop", loop), 0);
	assert_int_equal(state_rebuild(loop, &none, NULL, 0, &lines, &err), RC_IO);
	assert_int_equal(position(path), 5);
	buf_release(&lines);
	mem_free(handed);
	mem_free(loop);
	mem_free(path);
}

/*
 * Load 2 of two topics is missing, and topic orders no longer existed at load 3. --rebuild bridges
 * the gap of clicks. It cannot bridge the gap of orders, and reports this.
 */
static void test_missing_load_of_a_topic_that_is_gone(void **state)
{
	struct offset_range first[] = {{.topic = "clicks", .end = 5},
				       {.topic = "orders", .end = 7}};
	struct offset_range third[] = {{.topic = "clicks", .start = 9, .end = 12}};
	struct state_found found[] = {{.load = {.name = "00000001",
						.dir = "/out/1",
						.phase = STATE_PUBLISHED,
						.ranges = first,
						.nranges = 2}},
				      {.load = {.name = "00000003",
						.dir = "/out/3",
						.phase = STATE_PUBLISHED,
						.ranges = third,
						.nranges = 1},
				       .follows = "00000002"}};
	struct error err;

	(void)state;
	for (int moved = 0; moved < 2; moved++) {
		struct buf lines = {0};
		char *path = mem_strdup(path_of(moved ? "bridged" : "still"));

		third->start = moved ? 9 : 5;
		state_close(open_state(path));
		if (state_rebuild(path, &several, found, 2, &lines, &err))
			fail_msg("%s", err.msg);
		buf_put(&lines, 0);
		const char *text = (const char *)lines.ptr;
		const char *said = strstr(text, "load 00000003 has no offsets of these partitions");
		assert_non_null(said);
		assert_non_null(strstr(said, ": orders/0=7\n"));
		assert_int_equal(strstr(text, "found no load 00000002") != NULL, moved);
		struct state *s = open_state(path);
		int64_t at;
		assert_true(state_position(s, "orders", 0, &at) && at == 7);
		assert_true(state_position(s, "clicks", 0, &at) && at == 12);
		state_close(s);
		buf_release(&lines);
		mem_free(path);
	}
}

/*
 * Makes a state of clicks, then of all these topics, with three loads. The state lacks the record
 * of the second load.
 */
static char *lose_second(const char *name, const struct state_topics *then,
			 const struct offset_range ranges[3][2])
{
	char *path = mem_strdup(path_of(name)), *second = file_in(path, "loads/00000002.json");
	struct error err;
	struct state *s = open_state(path);

	for (int i = 0; i < 3; i++) {
		const struct offset_range *r = ranges[i];

		assert_int_equal(state_bind(s, i ? then : &clicks, true, &err), 0);
		/* only one range, without an end */
		if (state_intend(s, state_next_name(s), "/out/gone", r, r[1].end ? 2 : 1, &err) ||
		    state_published(s, &(struct state_result){.read = 5}, &err))
			fail_msg("%s", err.msg);
	}
	state_close(s);
	assert_int_equal(unlink(second), 0);
	mem_free(second);
	return path;
}

/* After the missing load the job named fewer partitions of the topic. */
static void test_missing_load_of_fewer_partitions(void **state)
{
	static const struct offset_range ranges[3][2] = {{{.end = 5}, {.partition = 1, .end = 7}},
							 {{.start = 5, .end = 9},
							  {.partition = 1, .start = 7, .end = 8}},
							 {{.start = 9, .end = 12}}};
	char *path = lose_second("fewer", &clicks, ranges);
	struct buf lines = {0};
	struct error err;

	(void)state;
	if (state_rebuild(path, &none, NULL, 0, &lines, &err))
		fail_msg("%s", err.msg);
	buf_put(&lines, 0);
	const char *said = strstr((const char *)lines.ptr, "load 00000003 has no offsets of these");
	assert_true(said && strstr(said, ": 1=7\n"));
	assert_int_equal(position(path), 12);
	buf_release(&lines);
	mem_free(path);
}

/* The state also lacks the topic of the places without a name. */
static void test_missing_load_without_topic(void **state)
{
	static const struct offset_range ranges[3][2] = {
		{{.end = 5}, {.topic = "orders", .end = 3}},
		{{.start = 5, .end = 9}, {.topic = "orders", .start = 3, .end = 7}},
		{{.topic = "orders", .start = 7, .end = 9}}};
	char *path = lose_second("nameless", &several, ranges), *file = file_in(path, "topic.json");
	struct buf lines = {0};
	struct error err;

	(void)state;
	assert_int_equal(unlink(file), 0);
	assert_int_equal(state_rebuild(path, &none, NULL, 0, &lines, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "contains the topic of this state"));
	assert_int_equal(lines.len, 0);
	buf_release(&lines);
	mem_free(file);
	mem_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rebuild_without_topic),
		cmocka_unit_test(test_bind_without_topic),
		cmocka_unit_test(test_positions_without_topic),
		cmocka_unit_test(test_not_to_be_seen),
		cmocka_unit_test(test_missing_load_of_a_topic_that_is_gone),
		cmocka_unit_test(test_missing_load_of_fewer_partitions),
		cmocka_unit_test(test_missing_load_without_topic),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
