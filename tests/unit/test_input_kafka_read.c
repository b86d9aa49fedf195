/*
 * test_input_kafka_read.c - reads ranges of a topic as events, with JSON, CSV and raw values,
 * rejects and tombstones
 *
 * The test computes the expected events from its own messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/kafka_rig.h"

static void test_whole_topic(void **state)
{
	struct cluster *c = *state;
	struct offset_range r[PARTITIONS];
	char text[80];
	static const char *const columns[] = {"user.id",      "page",	     "$key",
					      "$partition",   "$offset",     "$timestamp",
					      "$header.kind", "$header.none"};

	for (size_t i = 0; i < 8; i++)
		need(c, columns[i]);
	for (int p = 0; p < PARTITIONS; p++)
		for (int i = 0; i < 500 + 100 * p; i++) {
			snprintf(text, sizeof text, "{\"page\":\"/%d\",\"user\":{\"id\":%d}}", p,
				 i);
			produce(c, p, i % 2 ? "k" : NULL, text);
		}
	produced(c);
	struct kafka *k = open_client(c);
	assert_int_equal(whole(k, r), PARTITIONS);
	assert_int_equal(r[2].end, 700);
	r[0].start = 10;
	r[2].end = 650;
	struct seen *s = read_ranges(c, k, r, PARTITIONS);
	assert_int_equal(s->rc, 0);
	assert_true(s->counts.events == 490 + 600 + 650);
	assert_true(r[0].events == 490 && r[1].events == 600 && r[2].events == 650);
	for (int p = 0, seq = 0; p < PARTITIONS; p++)
		for (int64_t i = r[p].start; i < r[p].end; i++, seq++) {
			snprintf(text, sizeof text, "%d|/%d|%s|%d|%d|1476640644000|%s|-", (int)i, p,
				 i % 2 ? "k" : "-", p, (int)i, i % 2 ? "k" : "-");
			expect(s, (size_t)seq, text);
		}
	assert_null(s->lines[490 + 600 + 650]);
	assert_string_equal(c->said, "");
	seen_free(s);
	kafka_close(k);
}

static void test_rejects_and_tombstones(void **state)
{
	struct cluster *c = *state;
	struct offset_range r[PARTITIONS];

	need(c, "a");
	produce(c, 1, NULL, "{\"a\":1}");
	produce(c, 1, "gone", NULL);
	produce(c, 1, NULL, "{\"a\":");
	produce(c, 1, NULL, "");
	produce(c, 1, NULL, "{\"a\":\x01}");
	produced(c);
	struct kafka *k = open_client(c);
	whole(k, r);
	struct seen *s = read_ranges(c, k, r, PARTITIONS);
	assert_true(s->counts.events == 5 && s->counts.filtered == 1 && s->counts.rejects == 3);
	expect(s, 0, "1");
	assert_null(s->lines[1]);
	expect(s, 2, "! bad_json events/1@2 byte 5: found the end, expected a value");
	expect(s, 3, "! bad_json events/1@3 byte 0: found the end, expected a value");
	expect(s, 4, "! bad_json events/1@4 byte 5: found \\x01, expected a value");
	seen_free(s);
	c->job.kafka.tombstones = TOMBSTONES_REJECT;
	s = read_ranges(c, k, r, PARTITIONS);
	assert_true(s->counts.filtered == 0 && s->counts.rejects == 4);
	expect(s, 1, "! tombstone events/1@1 found a message without a value, expected one");
	seen_free(s);
	c->job.kafka.tombstones = TOMBSTONES_DELETE;
	s = read_ranges(c, k, r, PARTITIONS);
	assert_true(s->counts.filtered == 0 && s->counts.rejects == 3);
	expect(s, 0, "1");
	expect(s, 1, "-");
	seen_free(s);
	kafka_close(k);
}

/*
 * An event that exceeds `max_message` is a reject with both figures, and the other messages become
 * events.
 */
static void test_too_large(void **state)
{
	struct cluster *c = *state;
	struct offset_range r[PARTITIONS];
	char large[200] = "{\"a\":\"";

	need(c, "a");
	memset(large + 6, 'x', 100);
	strcpy(large + 106, "\"}"); /* 108 bytes */
	produce(c, 1, NULL, "{\"a\":1}");
	produce(c, 1, NULL, large);
	produce(c, 1, "k", large);
	produce(c, 1, NULL, "{\"a\":2}");
	produced(c);
	struct kafka *k = open_client(c);
	whole(k, r);
	struct seen *s = read_ranges_upto(c, k, r, PARTITIONS, 108);
	assert_true(s->counts.events == 4 && s->counts.rejects == 1);
	expect(s, 0, "1");
	expect(s, 2,
	       "! message_too_large events/1@2 found a message of 109 bytes, expected at most 108; "
	       "raise the key `max_message` of the job");
	expect(s, 3, "2");
	seen_free(s);
	s = read_ranges_upto(c, k, r, PARTITIONS, 107);
	assert_int_equal(s->counts.rejects, 2);
	seen_free(s);
	kafka_close(k);
}

/* JSON that cannot contain fields is a reject, not an event without fields. */
static void test_no_object(void **state)
{
	static const struct {
		const char *value, *want, *want_arrays;
	} cases[] = {
		{"{}", "-", "-|-"},
		{" \n{\"a\":1}", "1", "1|-"},
		{"null", "! bad_json events/1@2 byte 0: found `n`, expected an object",
		 "! bad_json events/1@2 byte 0: found `n`, expected an object or an array"},
		{" 17", "! bad_json events/1@3 byte 1: found `1`, expected an object",
		 "! bad_json events/1@3 byte 1: found `1`, expected an object or an array"},
		{"\"{}\"", "! bad_json events/1@4 byte 0: found `\"`, expected an object",
		 "! bad_json events/1@4 byte 0: found `\"`, expected an object or an array"},
		{"[{\"a\":1}]", "! bad_json events/1@5 byte 0: found `[`, expected an object",
		 "-|{\"a\":1}"},
		{"true", "! bad_json events/1@6 byte 0: found `t`, expected an object",
		 "! bad_json events/1@6 byte 0: found `t`, expected an object or an array"},
	};
	const size_t n = sizeof cases / sizeof *cases;
	struct cluster *c = *state;
	struct offset_range r[PARTITIONS];
	need(c, "a");
	for (size_t i = 0; i < n; i++)
		produce(c, 1, NULL, cases[i].value);
	produced(c);
	struct kafka *k = open_client(c);
	whole(k, r);
	for (int arrays = 0; arrays < 2; arrays++) {
		struct seen *s = read_ranges(c, k, r, PARTITIONS);

		for (size_t i = 0; i < n; i++)
			expect(s, i, arrays ? cases[i].want_arrays : cases[i].want);
		seen_free(s);
		need(c, "[0]"); /* an element of an array */
	}
	kafka_close(k);
}

static void test_csv_and_raw(void **state)
{
	static const char *names[] = {"x", "y"};
	struct cluster *c = *state;
	struct offset_range r[PARTITIONS];

	c->job.kafka.format = KAFKA_CSV;
	c->job.csv.columns = names;
	c->job.csv.ncolumns = 2;
	need(c, "y");
	need(c, "$offset");
	produce(c, 0, NULL, "1,2");
	produce(c, 0, NULL, "\"a,\"\"b\",c\n");
	produce(c, 0, NULL, "1,2,3");
	produce(c, 0, NULL, "\"open,1");
	produce(c, 0, NULL, "1,2\n3,4\n");
	produced(c);
	struct kafka *k = open_client(c);
	whole(k, r);
	struct seen *s = read_ranges(c, k, r, PARTITIONS);
	expect(s, 0, "1|2|0");
	expect(s, 1, "a,\"b|c|1");
	expect(s, 2, "! field_count events/0@2 found 3 fields, expected 2");
	assert_non_null(strstr(s->lines[3], "! bad_quote events/0@3 found no closing quote"));
	assert_non_null(
		strstr(s->lines[4], "! several_rows events/0@4 found a second row at byte 4"));
	seen_free(s);
	c->job.kafka.format = KAFKA_RAW;
	c->job.nfields = 0;
	need(c, "$value");
	s = read_ranges(c, k, r, PARTITIONS);
	expect(s, 3, "\"open,1");
	seen_free(s);
	kafka_close(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_whole_topic), TEST(test_rejects_and_tombstones),
		TEST(test_too_large),	TEST(test_no_object),
		TEST(test_csv_and_raw),
	};

	return RUN_ON_MOCK(tests);
}
