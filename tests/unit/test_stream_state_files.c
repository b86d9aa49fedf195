/*
 * test_stream_state_files.c - tests the files of a state as earlier versions wrote them
 *
 * Their bytes stay the same, and the program reads files of all earlier versions. Python computed
 * the digests, from json.dumps with sort_keys and without blanks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "pipeline/stream/state/lock.h"
#include "pipeline/stream/state/state_files.h"
#include "tests/unit/a_folder.h"

static const char load[] = "{\n \"name\": \"00000001\",\n \"phase\": \"published\",\n"
			   " \"dir\": \"/out/\xC3\xA4 \\\"x\\\\\\n\\u0001\",\n \"read\": 9,\n"
			   " \"rejected\": 1,\n \"published_ms\": 1700000000000,\n"
			   " \"manifest\": \"ab000000000000000000000000000000\",\n"
			   " \"offsets\": [\n  {\n   \"topic\": \"a\",\n   \"partition\": 0,\n"
			   "   \"start\": 1,\n   \"end\": 20,\n   \"events\": 9,\n   \"last\": {\n"
			   "    \"offset\": 19,\n    \"timestamp_ms\": -5,\n"
			   "    \"digest\": \"0102ff00000000000000000000000000\"\n   }\n  },\n"
			   "  {\n   \"topic\": \"a\",\n   \"partition\": 3,\n   \"start\": 7,\n"
			   "   \"end\": 7,\n   \"events\": 0\n  }\n ],\n \"handed_ms\": 5,\n"
			   " \"cluster\": \"id\",\n"
			   " \"digest\": \"dc486e242ceeaa7bc6356a49d2ca70f8\"\n}\n";
static const char seek[] = "{\"name\":\"00000002\",\"phase\":\"seek\",\"dir\":\"\",\"read\":0,"
			   "\"rejected\":0,\"published_ms\":0,\"offsets\":[{\"partition\":0,"
			   "\"start\":0,\"end\":4,\"events\":0}]}";
static const char one_topic[] =
	"{\n \"cluster\": \"c\",\n \"topic\": \"one\",\n"
	" \"partitions\": 4,\n \"digest\": \"79f3bb9b037119a37c465db2a756cfb4\"\n}\n";
static const char two_topics[] =
	"{\n \"cluster\": \"c\",\n \"topics\": [\n  {\n"
	"   \"topic\": \"one\",\n   \"partitions\": 4\n  },\n  {\n"
	"   \"topic\": \"two\",\n   \"partitions\": 5\n  }\n ],\n"
	" \"unnamed\": \"one\",\n \"digest\": \"c8e40d015e5fa5313f878bb7ac211f3e\"\n}\n";

static char *put(const char *folder, const char *text)
{
	struct error err;
	char *path = mem_format("%s/f.json", folder);

	if (io_replace_file(path, bytes_str(text), NULL, &err))
		fail_msg("%s", err.msg);
	return path;
}

static void check_file(const char *path, const char *text)
{
	struct error err;
	struct buf now = {0};

	if (io_read_file(path, &now, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(now.len, strlen(text));
	assert_memory_equal(now.ptr, text, now.len);
	buf_release(&now);
}

static void loads(void **state)
{
	struct arena a = {0};
	struct error err;
	struct state_load l;
	char *path = put(*state, load);

	if (load_read(path, &l, &a, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(l.dir, "/out/\xC3\xA4 \"x\\\n\x01");
	assert_int_equal(l.phase, STATE_PUBLISHED);
	assert_true(l.manifest_known && l.manifest[0] == 0xAB);
	assert_int_equal(l.nranges, 2);
	assert_true(l.ranges[0].last.known && l.ranges[0].last.timestamp_ms == -5);
	assert_false(l.ranges[1].last.known);
	assert_string_equal(l.handed_to, "id");
	mem_free(put(*state, ""));
	assert_int_equal(load_write(path, &l, NULL, &err), RC_OK);
	check_file(path, load);
	mem_free(path);
	path = put(*state, seek); /* without digest, topic, manifest and mark */
	if (load_read(path, &l, &a, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(l.phase, STATE_SEEK);
	assert_null(l.ranges[0].topic);
	assert_false(l.manifest_known);
	l.dir = "/b\xFF"; /* the file was unreadable */
	assert_int_equal(load_write(path, &l, NULL, &err), RC_DATA);
	mem_free(path);
	arena_release(&a);
}

static void topics(void **state)
{
	static const char *const texts[] = {one_topic, two_topics};
	struct arena a = {0};
	struct error err;
	struct state_topics t;

	for (size_t i = 0; i < 2; i++) {
		char *path = put(*state, texts[i]);

		if (topics_read(path, &t, &a, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(t.n, i + 1);
		assert_true(t.unnamed);
		assert_string_equal(t.item[i].cluster, "c");
		assert_int_equal(t.item[i].npartitions, 4 + (int)i);
		assert_int_equal(topics_write(path, &t, &err), RC_OK);
		check_file(path, texts[i]);
		mem_free(path);
	}
	arena_release(&a);
}

static void notes(void **state)
{
	struct error err;
	struct state_note n;
	/* of a version without cut_age_ms and rate */
	char *path = put(*state, "{\"time_ms\":1,\"lag\":2,\"cut\":3,\"loads\":4,\"events\":5,"
				 "\"rejected\":6}");

	if (note_read(path, &n, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(n.lag, 2);
	n.rate = 12.5;
	assert_int_equal(note_write(path, &n, &err), RC_OK);
	check_file(path, "{\n \"time_ms\": 1,\n \"lag\": 2,\n \"cut\": 3,\n \"cut_age_ms\": 0,\n"
			 " \"rate\": 12.5,\n \"loads\": 4,\n \"events\": 5,\n \"rejected\": 6\n}");
	mem_free(path);
}

/* Each text is damaged, because it has another digest, lacks a member, or contradicts itself. */
static void damage(void **state)
{
#define LOAD(offsets)                                                                              \
	"{\"name\":\"1\",\"phase\":\"seek\",\"dir\":\"\",\"read\":0,\"rejected\":0,"               \
	"\"published_ms\":0,\"offsets\":[" offsets "]}"
#define AT(topic, partition)                                                                       \
	"{" topic "\"partition\":" partition ",\"start\":0,\"end\":4,\"events\":0}"
	static const char *const bad_loads[] = {
		"{\"name\":\"1\"}",
		"{\"name\":\"1\",\"phase\":\"no\",\"dir\":\"\",\"read\":0,\"rejected\":0,"
		"\"published_ms\":0,\"offsets\":[]}",
		LOAD(AT("", "3") "," AT("", "3")),
		LOAD(AT("", "3") "," AT("", "2")),
		LOAD(AT("\"topic\":\"a\",", "3") "," AT("\"topic\":\"b\",",
							"0") "," AT("\"topic\":\"a\",", "4")),
	};
	static const char *const bad_topics[] = {
		"{\"cluster\":\"c\"}",
		"{\"cluster\":\"c\",\"topic\":\"t\"}",
		"{\"cluster\":\"c\",\"partitions\":3}",
		"{\"cluster\":\"c\",\"topics\":[]}",
		("{\"cluster\":\"c\",\"topics\":[{\"topic\":\"t\",\"partitions\":1},"
		 "{\"topic\":\"t\",\"partitions\":1}]}"),
		"{\"cluster\":\"c\",\"unnamed\":\"u\",\"topics\":[{\"topic\":\"t\",\"partitions\":1}]}",
	};
	struct arena a = {0};
	struct error err;
	struct state_load l;
	struct state_topics t;

	for (size_t i = 0; i < sizeof bad_loads / sizeof *bad_loads; i++) {
		char *path = put(*state, bad_loads[i]);

		assert_int_equal(load_read(path, &l, &a, &err), RC_DATA);
		assert_non_null(strstr(err.msg, "f.json has damage or a change by hand: "));
		assert_non_null(strstr(err.msg, "; `saltmill loads --state DIR --rebuild`"));
		mem_free(path);
	}
	for (size_t i = 0; i < sizeof bad_topics / sizeof *bad_topics; i++) {
		char *path = put(*state, bad_topics[i]);

		assert_int_equal(topics_read(path, &t, &a, &err), RC_DATA);
		assert_int_equal(t.n, 0);
		mem_free(path);
	}
	char *changed = mem_strdup(load);
	*strchr(changed, '9') = '8';
	char *path = put(*state, changed);
	assert_int_equal(load_read(path, &l, &a, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "content that does not match its digest"));
	mem_free(changed);
	mem_free(path);
	arena_release(&a);
}

static int syncs;

/* Replaces the call of libc, to count the calls. */
int fdatasync(int fd)
{
	(void)fd;
	syncs++;
	return 0;
}

/* After a power loss, an old note must not count more than the folder has. So only a note that counts
 * less is synced. */
static void less(void **state)
{
	static const struct {
		unsigned long long records;
		bool publishing;
		int syncs;
	} notes[] = {{5, true, 0},  {5, false, 1}, {5, false, 0}, {5, true, 0},
		     {5, false, 1}, {5, true, 0},  {6, false, 0}, {4, true, 1}};
	struct lock l;
	struct error err;

	assert_int_equal(lock_take(&l, *state, &err), RC_OK);
	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
		syncs = 0;
		assert_int_equal(lock_note(&l, notes[i].records, notes[i].publishing, &err), RC_OK);
		assert_int_equal(syncs, notes[i].syncs);
	}
	lock_release(&l);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(loads), TEST(topics), TEST(notes), TEST(damage),
					   TEST(less)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
