/*
 * Tests the state folder, in which each offset is in one load, for any order of events
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "state.h"
#include "tests/unit/clock_rig.h"
#include "tests/unit/a_folder.h"

static const struct state_topic clicks = {"cluster", "clicks", 2, NULL};

static int bind_one(struct state *s, const struct state_topic *t, bool listed, struct error *err)
{
	struct state_topic one = *t;

	return state_bind(s, &(struct state_topics){&one, 1, true}, listed, err);
}
static const struct state_result nothing = {0}, ten = {.read = 10, .rejected = 1};

static struct state *open_state(const char *dir)
{
	struct state *s;
	struct error err;

	if (state_open(&s, dir, true, &err))
		fail_msg("%s", err.msg);
	return s;
}

static int64_t position(const struct state *s, int32_t partition)
{
	int64_t at = -1;

	return state_position(s, NULL, partition, &at) ? at : -1;
}

/* Extends partition 0 from its position to `end`. Partition 1 stays. */
static void intend(struct state *s, int64_t end)
{
	struct error err;
	bool new = state_is_new(s);
	struct offset_range r[] = {{.partition = 0, .start = new ? 0 : position(s, 0), .end = end},
				   {.partition = 1, .start = new ? 0 : position(s, 1)}};

	r[1].end = r[1].start;
	if (state_intend(s, state_next_name(s), "/out/a", r, 2, &err))
		fail_msg("%s", err.msg);
}

static void test_load_after_load(void **state)
{
	struct error err;
	struct state *s = open_state(*state);

	assert_true(state_is_new(s));
	assert_int_equal(state_topics(s)->n, 0);
	assert_int_equal(bind_one(s, &clicks, false, &err), 0);
	for (int64_t end = 10; end <= 30; end += 10) {
		intend(s, end);
		assert_int_equal(state_publishing(s, &err), 0);
		assert_int_equal(state_published(s, &ten, &err), 0);
		assert_null(state_intent(s));
		assert_int_equal(position(s, 0), end);
		state_close(s); /* the next process reads the same state */
		s = open_state(*state);
		assert_int_equal(position(s, 0), end);
		assert_int_equal(position(s, 1), 0);
	}
	size_t n;
	const struct state_load *l = state_loads(s, &n);
	assert_int_equal(n, 3);
	assert_string_equal(l[2].name, "00000003");
	assert_true(l[2].ranges[0].start == 20 && l[2].read == 10 && l[2].rejected == 1);
	assert_false(l[1].handed);
	struct state *reader;
	enum state_mark mark;
	assert_int_equal(state_open(&reader, *state, false, &err), 0);
	assert_int_equal(state_hand_over(s, "00000002", NULL, &err), 0);
	assert_true(state_loads(s, &n)[1].handed);
	assert_int_equal(state_hand_over(s, "00000002", NULL, &err), 0);
	/* a process that read the state before the mark keeps the mark */
	assert_int_equal(state_hand_over(reader, "00000002", "cluster", &err), 0);
	assert_int_equal(state_mark_of(*state, "00000002", &mark, &err), 0);
	assert_int_equal(mark, STATE_MARKED_BY_HAND);
	state_close(reader);
	assert_int_equal(state_hand_over(s, "00000009", NULL, &err), RC_CONFIG);
	state_close(s);
	s = open_state(*state);
	l = state_loads(s, &n);
	assert_true(!l[0].handed && l[1].handed && !l[2].handed);
	state_close(s);
}

/* An intent survives its process. A load that may be published differs from a load that is not. */
static void test_intents(void **state)
{
	struct error err;
	struct state *s = open_state(*state);

	assert_int_equal(bind_one(s, &clicks, false, &err), 0);
	intend(s, 10);
	state_close(s);
	s = open_state(*state);
	assert_non_null(state_intent(s));
	assert_int_equal(state_intent(s)->phase, STATE_READING);
	assert_string_equal(state_intent(s)->dir, "/out/a");
	assert_true(state_intent(s)->ranges[0].end == 10 && state_is_new(s));
	assert_int_equal(state_drop(s, &err), 0);
	intend(s, 20);
	assert_int_equal(state_publishing(s, &err), 0);
	state_close(s);
	s = open_state(*state);
	assert_int_equal(state_intent(s)->phase, STATE_PUBLISHING);
	struct offset_range to = {.partition = 0, .end = 5};
	assert_int_equal(state_seek(s, &to, 1, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "--published 00000001"));
	assert_int_equal(state_settle(s, "00000007", true, &err), RC_CONFIG);
	assert_int_equal(state_settle(s, "00000001", true, &err), 0);
	assert_int_equal(position(s, 0), 20);
	intend(s, 30);
	assert_int_equal(state_publishing(s, &err), 0);
	assert_int_equal(state_settle(s, "00000002", false, &err), 0);
	assert_int_equal(position(s, 0), 20);
	state_close(s);
}

/* A load whose rename was taken back is not published, also for the next process. */
static void test_unpublished(void **state)
{
	struct error err;
	struct state *s = open_state(*state);
	const struct offset_range to = {.partition = 0, .end = 5};

	assert_int_equal(bind_one(s, &clicks, false, &err), 0);
	intend(s, 10);
	assert_int_equal(state_publishing(s, &err), 0);
	assert_int_equal(state_unpublished(s, &err), 0);
	assert_int_equal(state_intent(s)->phase, STATE_READING);
	state_close(s);
	s = open_state(*state);
	assert_int_equal(state_intent(s)->phase, STATE_READING);
	assert_int_equal(state_seek(s, &to, 1, &err), 0);
	assert_int_equal(position(s, 0), 5);
	state_close(s);
}

static void test_seek(void **state)
{
	struct error err;
	struct state *s = open_state(*state);
	struct offset_range to[] = {{.partition = 0, .end = 7}, {.partition = 3, .end = 9}};

	assert_int_equal(bind_one(s, &clicks, false, &err), 0);
	intend(s, 10);
	/*
	 * an intent that is certainly not published would start at the old position, so the run
	 * removes it
	 */
	assert_int_equal(state_seek(s, to, 2, &err), 0);
	assert_null(state_intent(s));
	state_close(s);
	s = open_state(*state);
	assert_true(position(s, 0) == 7 && position(s, 3) == 9 && position(s, 1) == -1);
	state_close(s);
}

static void test_bind(void **state)
{
	static const struct {
		struct state_topic topic;
		bool listed;
		int rc;
		const char *message;
	} cases[] = {
		{{"cluster", "clicks", 2, NULL}, false, RC_OK, NULL},
		{{"cluster", "other", 2, NULL}, false, RC_CONFIG, "is the state of topic clicks"},
		{{"moved", "clicks", 2, NULL}, false, RC_DATA, "is now in cluster moved"},
		{{"cluster", "clicks", 1, NULL}, true, RC_DATA, "deleted and recreated"},
		{{"cluster", "clicks", 4, NULL},
		 false,
		 RC_OK,
		 NULL}, /* recorded with their positions */
		{{"cluster", "clicks", 4, NULL}, true, RC_OK, NULL},
	};
	struct error err;
	struct state *s = open_state(*state);
	assert_int_equal(bind_one(s, &clicks, false, &err), 0);
	intend(s, 1);
	assert_int_equal(state_published(s, &nothing, &err), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(bind_one(s, &cases[i].topic, cases[i].listed, &err), cases[i].rc);
		if (cases[i].message && !strstr(err.msg, cases[i].message))
			fail_msg("%zu: %s", i, err.msg);
	}
	state_close(s);
}

static void test_one_process(void **state)
{
	struct error err;
	struct state *s = open_state(*state), *other;

	assert_int_equal(state_open(&other, *state, true, &err), RC_BUSY);
	char pid[40];
	snprintf(pid, sizeof pid, "in use by process %ld on ", (long)getpid());
	assert_non_null(strstr(err.msg, pid));
	/* a reader always gets access */
	assert_int_equal(state_open(&other, *state, false, &err), 0);
	assert_true(state_in_use(other));
	state_close(s);
	assert_false(state_in_use(other));
	char *lock = mem_format("%s/lock", (const char *)*state);
	assert_int_equal(unlink(lock), 0);
	assert_false(state_in_use(other));
	mem_free(lock);
	state_close(other);
	assert_int_equal(state_open(&other, "/nowhere/state", false, &err), RC_CONFIG);
}

/* A reader has no lock. It reads a state while loads begin and end. */
static void test_reader_beside_loads(void **state)
{
	struct state *s = open_state(*state), *seen;
	struct error err = {0};
	pid_t child = fork();
	int status, rc = 0;

	if (child == 0) {
		for (int i = 0; i < 1000; i++) {
			intend(s, 10);
			state_drop(s, &err);
		}
		_exit(0);
	}
	while (rc == 0 && waitpid(child, &status, WNOHANG) == 0) {
		rc = state_open(&seen, *state, false, &err);
		if (rc == 0)
			state_close(seen);
	}
	if (rc) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		fail_msg("%s", err.msg);
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	state_close(s);
}

/* A process that dies at any step of a change leaves the old content or the new content. */
static void test_killed(void **state)
{
	static const struct {
		const char *step;
		bool intent, recorded;
	} cases[] = {{"intent-temp", false, false},    {"intent", true, false},
		     {"publishing-temp", true, false}, {"publishing", true, false},
		     {"record-temp", true, false},     {"recorded", false, true},
		     {"intent-removed", false, true}};
	struct error err;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *dir = mem_format("%s/%zu", (const char *)*state, i);
		pid_t child = fork();

		if (child == 0) {
			setenv("SALTMILL_CRASH_AT", cases[i].step, 1);
			struct state *s = open_state(dir);
			intend(s, 10);
			state_publishing(s, &err);
			state_published(s, &nothing, &err);
			_exit(0);
		}
		int status;
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		struct state *s = open_state(dir);
		assert_int_equal(state_intent(s) != NULL, cases[i].intent);
		assert_int_equal(position(s, 0), cases[i].recorded ? 10 : -1);
		state_close(s);
		mem_free(dir);
	}
}

/* Tests a record that does not begin where the record before ends, and an invalid record. */
static void test_damaged(void **state)
{
	struct error err;
	struct state *s = open_state(*state);

	intend(s, 10);
	assert_int_equal(state_published(s, &nothing, &err), 0);
	state_close(s);
	char *path = mem_format("%s/loads/00000002.json", (const char *)*state);
	static const char *const bad[] = {"", "[]", "{\"name\": 1}",
					  ("{\"name\":\"00000002\",\"phase\":\"published\",\"dir\":"
					   "\"/x\",\"read\":0,\"rejected\":0,"
					   "\"published_ms\":0,\"offsets\":[{\"partition\":0,"
					   "\"start\":9,\"end\":12,\"events\":0}]}")};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		unlink(path);
		assert_int_equal(io_write_file(path, bytes_str(bad[i]), &err), 0);
		assert_true(state_open(&s, *state, true, &err) < 0);
		assert_non_null(strstr(err.msg, i == 3 ? "begins partition 0 at 9" : path));
	}
	mem_free(path);
}

/* The state reads a record's facts about a load. Records of older versions without these facts are
 * valid. */
static void test_recorded(void **state)
{
	struct error err;
	struct state *s = open_state(*state);
	const uint8_t digest[16] = {0xab, [15] = 0xcd};
	struct offset_range r = {.partition = 0,
				 .end = 10,
				 .events = 9,
				 .last = {true, 8, -1, {0x01, [15] = 0xfe}}};

	assert_int_equal(bind_one(s, &clicks, false, &err), 0);
	assert_null(state_newest(s));
	assert_false(state_last(s, NULL, 0).known);
	assert_int_equal(state_intend(s, state_next_name(s), "/out/a", &r, 1, &err), 0);
	struct state_result result = {.ranges = &r, .manifest = digest};
	assert_int_equal(state_published(s, &result, &err), 0);
	state_close(s);
	s = open_state(*state);
	const struct state_load *l = state_newest(s);
	assert_true(l->manifest_known);
	assert_memory_equal(l->manifest, digest, 16);
	struct anchor last = state_last(s, NULL, 0);
	assert_memory_equal(&last, &r.last, sizeof last);
	/* the message before a position set by hand is unknown, and the position is no load
	 */
	struct offset_range to = {.partition = 0, .end = 10, .last = r.last};
	assert_int_equal(state_seek(s, &to, 1, &err), 0);
	assert_false(state_last(s, NULL, 0).known);
	assert_string_equal(state_newest(s)->name, "00000001");
	state_close(s);
	char *path = mem_format("%s/loads/00000003.json", (const char *)*state);
	static const struct {
		const char *manifest, *last;
		bool good;
	} cases[] = {
		{"", "", true},
		{"\"manifest\":\"0123456789abcdef0123456789abcdef\",", "", true},
		{"\"manifest\":\"0123\",", "", false},
		{"", ",\"last\":{\"offset\":3}", false},
		{"", ",\"last\":{\"offset\":3,\"timestamp_ms\":4,\"digest\":\"xy\"}", false},
		{"", ",\"last\":7", false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text =
			mem_format("{\"name\":\"00000003\",\"phase\":\"published\",\"dir\":\"/x\","
				   "\"read\":0,\"rejected\":0,\"published_ms\":0,%s\"offsets\":"
				   "[{\"partition\":0,\"start\":10,\"end\":12,\"events\":0%s}]}",
				   cases[i].manifest, cases[i].last);

		unlink(path);
		assert_int_equal(io_write_file(path, bytes_str(text), &err), 0);
		mem_free(text);
		int rc = state_open(&s, *state, true, &err);
		assert_int_equal(rc == RC_OK, cases[i].good);
		if (rc)
			continue;
		assert_int_equal(state_newest(s)->manifest_known, *cases[i].manifest != 0);
		assert_false(state_last(s, NULL, 0).known);
		state_close(s);
	}
	mem_free(path);
}

static void put_file(const char *dir, const char *name, const char *text)
{
	struct error err;
	char *path = mem_format("%s/%s", dir, name);

	unlink(path);
	assert_int_equal(io_write_file(path, bytes_str(text), &err), 0);
	mem_free(path);
}

/* Writes a record of partition 0 with ten offsets, as older versions without digests wrote it. */
static void put_record(const char *dir, int n, const char *partition)
{
	char *name = mem_format("loads/%08d.json", n);
	char *text = mem_format("{\"name\":\"%08d\",\"phase\":\"published\",\"dir\":\"/"
				"x\",\"read\":%d,\"rejected\":0,"
				"\"published_ms\":0,\"manifest\":\"%032x\",\"offsets\":"
				"[{\"partition\":%s,\"start\":%d,\"end\":%d,\"events\":10}]}",
				n, n, n, partition, 10 * n - 10, 10 * n);

	put_file(dir, name, text);
	mem_free(name);
	mem_free(text);
}

/* Expects this number of records, the newest load's name and the position of its partition, or the
 * error.
 */
static void expect_state(const char *dir, int records, const char *name, int64_t at,
			 const char *wrong)
{
	struct error err;
	struct state *s;
	int rc = state_open(&s, dir, true, &err);

	if (wrong) {
		assert_true(rc < 0);
		if (!strstr(err.msg, wrong))
			fail_msg("%s", err.msg);
		return;
	}
	if (rc)
		fail_msg("%s", err.msg);
	size_t n;
	assert_string_equal(state_newest(s)->name, name);
	assert_int_equal(position(s, 0), at);
	assert_int_equal(strtol(state_next_name(s), NULL, 10), records + 1);
	assert_int_equal(state_read_all(s, &err), 0);
	assert_int_equal((state_loads(s, &n), n), records);
	assert_int_equal(position(s, 0), at);
	state_close(s);
}

/*
 * With many records, the state does not read records counted in a checkpoint. The folder always
 * wins over the checkpoint.
 */
static void test_checkpoint(void **state)
{
	const char *dir = *state;
	struct error err;
	struct state *s;
	size_t n;

	state_close(open_state(dir));
	for (int i = 1; i <= 620; i++)
		put_record(dir, i, "0");
	expect_state(dir, 620, "00000620", 6200, NULL); /* writes the checkpoint */
	put_record(dir, 621, "0");
	expect_state(dir, 621, "00000621", 6210, NULL);
	/* the state reads an older record only on request */
	put_file(dir, "loads/00000007.json", "?");
	s = open_state(dir);
	assert_string_equal(state_newest(s)->before, "00000620");
	assert_true(state_newest(s)->before_known && state_newest(s)->before_manifest[14] == 0x02);
	assert_int_equal(position(s, 0), 6210);
	state_loads(s, &n);
	assert_true(n < 600);
	assert_int_equal(state_read_all(s, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "00000007.json"));
	state_close(s);
	put_record(dir, 7, "0");
	/* a missing record, and an extra one */
	char *path = mem_format("%s/loads/00000300.json", dir);
	unlink(path);
	expect_state(dir, 0, NULL, 0, "load 00000301 begins partition 0 at 3000, expected 2990");
	put_record(dir, 300, "0");
	put_file(dir, "loads/00000300b.json", "?");
	expect_state(dir, 0, NULL, 0, "00000300b.json");
	mem_free(path);
	path = mem_format("%s/loads/00000300b.json", dir);
	unlink(path);
	expect_state(dir, 621, "00000621", 6210, NULL);
	/* the checkpoint is damaged, has one changed byte, or belongs to another state */
	struct buf text = {0};
	mem_free(path);
	path = mem_format("%s/checkpoint.json", dir);
	assert_int_equal(io_read_file(path, &text, &err), 0);
	buf_put(&text, 0);
	char *digit = strstr((char *)text.ptr, "6200");
	assert_non_null(digit);
	*digit = '7';
	put_file(dir, "checkpoint.json", (const char *)text.ptr);
	expect_state(dir, 621, "00000621", 6210, NULL);
	put_file(dir, "checkpoint.json", "{\"records\":1,");
	expect_state(dir, 621, "00000621", 6210, NULL);
	buf_release(&text);
	mem_free(path);
}

/* The state detects a changed byte in a record, except in its layout. */
static void test_digest(void **state)
{
	const char *dir = *state;
	struct error err;
	struct state *s = open_state(dir);
	struct buf text = {0};

	assert_int_equal(bind_one(s, &clicks, false, &err), 0);
	intend(s, 1234);
	assert_int_equal(state_published(s, &ten, &err), 0);
	intend(s, 2345);
	state_close(s);
	static const struct {
		const char *file, *from;
		char to;
	} cases[] = {{"loads/00000001.json", "1234", '2'},
		     {"loads/00000001.json", "/out/a", '.'},
		     {"intent.json", "2345", '3'},
		     {"topic.json", "clicks", 'b'}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *path = mem_format("%s/%s", dir, cases[i].file);

		text.len = 0;
		assert_int_equal(io_read_file(path, &text, &err), 0);
		buf_put(&text, 0);
		char *at = strstr((char *)text.ptr, cases[i].from), was = *at;
		*at = cases[i].to;
		put_file(dir, cases[i].file, (char *)text.ptr);
		assert_int_equal(state_open(&s, dir, true, &err), RC_DATA);
		if (!strstr(err.msg, cases[i].file) || !strstr(err.msg, "digest"))
			fail_msg("%s", err.msg);
		*at = was;
		/* reformatted by an editor, with the same content */
		char *space = strchr((char *)text.ptr, '\n');
		*space = ' ';
		put_file(dir, cases[i].file, (char *)text.ptr);
		state_close(open_state(dir));
		mem_free(path);
	}
	buf_release(&text);
}

/* Tests the note for `saltmill status`. A note of an older version without a rate is also valid. */
static void test_note(void **state)
{
	struct error err;
	struct state *s = open_state(*state);
	struct state_note n = {.time_ms = 5000,
			       .lag = 7,
			       .cut = 6,
			       .cut_age_ms = 250,
			       .rate = 12.5,
			       .loads = 3,
			       .events = 4,
			       .rejected = 1},
			  back;

	assert_false(state_noted(s, &back));
	state_note(s, &n);
	assert_true(state_noted(s, &back));
	assert_true(back.time_ms == 5000 && back.lag == 7 && back.cut == 6 &&
		    back.cut_age_ms == 250);
	assert_true(back.rate > 12.4 && back.rate < 12.6 && back.loads == 3 && back.events == 4);
	n.time_ms += 999; /* too soon */
	n.lag = 8;
	state_note(s, &n);
	assert_true(state_noted(s, &back) && back.lag == 7);
	/* the stream always writes a parked partition, and its release, at once */
	static const char why[] = "events/0: \"20\" offsets are lost";
	snprintf(n.parked, sizeof n.parked, "%s", why);
	state_note(s, &n);
	assert_true(state_noted(s, &back) && back.lag == 8);
	assert_string_equal(back.parked, why);
	n.parked[0] = 0;
	state_note(s, &n);
	assert_true(state_noted(s, &back) && !back.parked[0]);
	/* the count of a second is correct even if the wall clock goes back */
	steady_ahead_ms += 1000;
	n.time_ms = 6;
	state_note(s, &n);
	assert_true(state_noted(s, &back) && back.time_ms == 6);
	char *path = mem_format("%s/status.json", (const char *)*state);
	static const char old[] =
		"{\"time_ms\":1,\"lag\":2,\"cut\":3,\"loads\":4,\"events\":5,\"rejected\":6}";
	unlink(path);
	assert_int_equal(io_write_file(path, bytes_str(old), &err), 0);
	assert_true(state_noted(s, &back) && back.lag == 2 && back.rejected == 6);
	assert_string_equal(back.parked, "");
	mem_free(path);
	state_close(s);
}

static void copy_file(const char *from, const char *to)
{
	struct buf text = {0};
	struct error err;

	assert_int_equal(io_read_file(from, &text, &err), 0);
	unlink(to);
	assert_int_equal(io_write_file(to, buf_bytes(&text), &err), 0);
	buf_release(&text);
}

/* The state does not use a folder listing from before another process's last change. */
static void test_seen_too_old(void **state)
{
	static const char *const gone[] = {"loads/00000002.json", "intent.json"};
	struct error err;

	for (int i = 0; i < 2; i++) {
		struct state *s = open_state(*state), *other;
		char *path = mem_format("%s/%s", (const char *)*state, gone[i]);
		char *kept = mem_format("%s/kept", (const char *)*state);

		for (int n = 0; n < 2 - i; n++) {
			intend(s, state_is_new(s) ? 1 : position(s, 0) + 1);
			assert_int_equal(state_published(s, &nothing, &err), 0);
		}
		if (i == 1) {
			intend(s, 100);
			assert_int_equal(state_publishing(s, &err), 0);
		}
		state_close(s);
		copy_file(path, kept);
		unlink(path);
		assert_int_equal(state_open(&other, *state, true, &err), RC_BUSY);
		if (!strstr(err.msg,
			    i ? "its lock counts 3 and a load that may be" : "its lock counts 2;"))
			fail_msg("%s", err.msg);
		copy_file(kept, path);
		s = open_state(*state);
		state_close(s);
		mem_free(path);
		mem_free(kept);
	}
	/*
	 * the state ignores a note that a power failure cut, and a note of an older version counts
	 */
	static const struct {
		const char *text;
		int rc;
	} notes[] = {
		{"7 on h\nat 9 - 9\n", RC_BUSY},
		{"7 on h\nat 9\n", RC_BUSY},
		{"7 on h\nat 9 publishing\n", RC_BUSY},
		{"7 on h\nat 9 publishing 8\n", RC_OK},
		{"7 on h\nat 9 publishing ", RC_OK}, /* "at 9 - 9" over "at 8 publishing 8" */
		{"7 on h\nat 9", RC_OK},
		{"7 on h\nat 9 -ublishing 9\n", RC_OK},
		{"7 on h\n", RC_OK},
		{"", RC_OK},
	};
	char *lock = mem_format("%s/lock", (const char *)*state);
	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
		struct state *opened;

		unlink(lock);
		assert_int_equal(io_write_file(lock, bytes_str(notes[i].text), &err), 0);
		assert_int_equal(state_open(&opened, *state, true, &err), notes[i].rc);
		if (!notes[i].rc)
			state_close(opened);
	}
	mem_free(lock);
	/* a load that the user dropped is not missing */
	struct state *s = open_state(*state);
	assert_int_equal(state_settle(s, state_intent(s)->name, false, &err), 0);
	state_close(s);
	state_close(open_state(*state));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* A state of one topic continues with several topics. Its positions stay with the topic that it
 * named first. */
static void test_several_topics(void **state)
{
	struct state *s;
	struct error err;
	const char *dir = *state;
	char *path = mem_format("%s/several", dir);
	struct state_topic both[] = {{"cluster", "orders", 1, NULL},
				     {"cluster", "clicks", 2, NULL}};
	const struct state_topics now = {both, 2, false}, others = {both, 1, false};
	const struct offset_range first[] = {{.partition = 0, .end = 5},
					     {.partition = 1, .end = 7}};
	const struct offset_range more[] = {{.topic = "orders", .partition = 0, .end = 3},
					    {.topic = "clicks", .partition = 0, .end = 9},
					    {.topic = "clicks", .partition = 1, .end = 8}};
	int64_t at;

	assert_int_equal(state_open(&s, path, true, &err), 0);
	assert_int_equal(bind_one(s, &clicks, false, &err), 0);
	assert_int_equal(state_seek(s, first, 2, &err), 0);
	assert_int_equal(state_bind(s, &others, false, &err), RC_CONFIG);
	assert_int_equal(state_bind(s, &now, false, &err), 0);
	assert_true(state_has_topic(s, "clicks"));
	assert_false(state_has_topic(s, "orders"));
	assert_true(state_position(s, "clicks", 1, &at) && at == 7);
	assert_false(state_position(s, "orders", 0, &at));
	assert_int_equal(state_seek(s, more, 3, &err), 0);
	state_close(s);
	assert_int_equal(state_open(&s, path, true, &err), 0);
	assert_int_equal(state_topics(s)->n, 2);
	for (size_t i = 0; i < 3; i++)
		assert_true(state_position(s, more[i].topic, more[i].partition, &at) &&
			    at == more[i].end);
	assert_true(state_position(s, NULL, 0, &at) && at == 9);
	/* the one topic again, and a different cluster */
	assert_int_equal(bind_one(s, &clicks, false, &err), 0);
	both[0].cluster = both[1].cluster = "other";
	assert_int_equal(state_bind(s, &now, false, &err), RC_DATA);
	state_close(s);
	mem_free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_load_after_load),
		TEST(test_intents),
		TEST(test_unpublished),
		TEST(test_seek),
		TEST(test_bind),
		TEST(test_several_topics),
		TEST(test_one_process),
		TEST(test_reader_beside_loads),
		TEST(test_killed),
		TEST(test_damaged),
		TEST(test_recorded),
		TEST(test_checkpoint),
		TEST(test_digest),
		TEST(test_note),
		TEST(test_seen_too_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
