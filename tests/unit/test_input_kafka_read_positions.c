/*
 * test_input_kafka_read_positions.c - tests offsets that the broker lacks, and offsets with a
 * different message
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/kafka_rig.h"

/* A mock partition keeps 5 MiB, so the broker deletes older messages of partition 0. */
static void push_out(struct cluster *c)
{
	char *large = mem_calloc(1, 600001);

	memset(large, 'x', 600000);
	for (int i = 0; i < 20; i++)
		produce(c, 0, NULL, large);
	produced(c);
	mem_free(large);
}

/* Tests positions that the broker lacks. */
static void test_lost_positions(void **state)
{
	struct cluster *c = *state;
	struct offset_range r[PARTITIONS];

	need(c, "$offset");
	c->job.kafka.format = KAFKA_RAW;
	for (int i = 0; i < 10; i++)
		produce(c, 0, NULL, "v");
	produced(c);
	struct kafka *k = open_client(c);
	whole(k, r);
	r[0].end = 20;
	struct seen *s = read_ranges(c, k, r, PARTITIONS);
	assert_int_equal(s->rc, RC_DATA);
	if (!strstr(s->err.msg, "found the partition's end at offset 10, expected at least 20") ||
	    !strstr(s->err.msg, "seek --state DIR 0=0"))
		fail_msg("%s", s->err.msg);
	seen_free(s);
	push_out(c);
	r[0] = (struct offset_range){.partition = 0, .start = 2, .end = 10};
	s = read_ranges(c, k, r, 1);
	assert_int_equal(s->rc, RC_DATA);
	if (!strstr(s->err.msg, "expected at most 2, the next offset to load") ||
	    !strstr(s->err.msg, "offsets before their load"))
		fail_msg("%s", s->err.msg);
	seen_free(s);
	kafka_close(k);
}

/* Reads a further range of partition 0 and logs its events. */
static int read_on(struct cluster *c, struct kafka *k, struct offset_range *r, int64_t end,
		   char *why, size_t size)
{
	r->start = r->end;
	r->end = end;
	struct seen *s = read_ranges(c, k, r, 1);
	int rc = s->rc;
	snprintf(why, size, "%s", rc ? s->err.msg : "");
	if (rc == RC_OK)
		assert_true(s->counts.events == (uint64_t)r->events);
	seen_free(s);
	return rc;
}

/* The client reads the message before a range again, and compares it. */
static void test_anchors(void **state)
{
	struct cluster *c = *state;
	struct offset_range r[PARTITIONS] = {{0}};
	struct anchor last;
	char why[800];

	need(c, "$offset");
	c->job.kafka.format = KAFKA_RAW;
	for (int i = 0; i < 12; i++)
		produce(c, 0, i % 2 ? "key" : NULL, i < 8 ? "v" : "w");
	produce(c, 1, "", "v");
	produce(c, 1, "v", "");
	produced(c);
	struct kafka *k = open_client(c);
	assert_int_equal(read_on(c, k, r, 4, why, sizeof why), 0);
	assert_true(r[0].last.known && r[0].last.offset == 3 &&
		    r[0].last.timestamp_ms == 1476640644000);
	last = r[0].last;
	/* an empty range also checks the message, and keeps the recorded message */
	assert_int_equal(read_on(c, k, r, 4, why, sizeof why), 0);
	assert_memory_equal(&last, &r[0].last, sizeof last);
	assert_int_equal(read_on(c, k, r, 6, why, sizeof why), 0);
	assert_true(r[0].events == 2 && r[0].last.offset == 5);
	assert_memory_equal(last.digest, r[0].last.digest, 16); /* the same key and value */
	assert_int_equal(read_on(c, k, r, 7, why, sizeof why), 0);
	assert_memory_not_equal(last.digest, r[0].last.digest, 16); /* no key */
	assert_string_equal(c->said, "");
	/* the check detects each difference of offset, time or digest */
	for (int i = 0; i < 3; i++) {
		struct offset_range bad = r[0];

		bad.last.offset -= i == 0;
		bad.last.timestamp_ms += i == 1;
		bad.last.digest[15] ^= (uint8_t)(i == 2);
		assert_int_equal(read_on(c, k, &bad, i == 1 ? 7 : 12, why, sizeof why), RC_DATA);
		if (!strstr(why, "partition 0: found another message") ||
		    !strstr(why, "DIR 0=0`") || !strstr(why, "DIR 0=7`") ||
		    !strstr(why, "(0: offset "))
			fail_msg("%s", why);
	}
	/* an empty key differs from null, and a key's end differs from a value's beginning */
	struct offset_range p1 = {.partition = 1};
	struct anchor empty_key;
	assert_int_equal(read_on(c, k, &p1, 1, why, sizeof why), 0);
	empty_key = p1.last;
	assert_memory_not_equal(empty_key.digest, r[0].last.digest, 16);
	assert_int_equal(read_on(c, k, &p1, 2, why, sizeof why), 0);
	assert_memory_not_equal(empty_key.digest, p1.last.digest, 16);
	/*
	 * the broker deleted the message and the offsets before it, and the check reports this once
	 */
	push_out(c);
	struct kafka_topic t;
	struct error err;
	assert_int_equal(kafka_look(k, &t, &err), 0);
	int64_t low = t.partitions[0].low, high = t.partitions[0].high;
	kafka_topic_release(&t);
	assert_true(low > 7 && high == 32);
	struct offset_range gone = r[0];
	gone.end = low;
	assert_int_equal(read_on(c, k, &gone, high - 1, why, sizeof why), 0);
	assert_true(gone.events == high - 1 - low && gone.last.offset == high - 2);
	assert_non_null(
		strstr(c->said,
		       "topic events, partition 0: the brokers deleted the last loaded message"));
	gone = r[0];
	gone.end = high;
	c->said[0] = 0;
	assert_int_equal(read_on(c, k, &gone, high, why, sizeof why), 0);
	assert_true(gone.events == 0 && !gone.last.known);
	assert_string_equal(c->said, "");
	kafka_close(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lost_positions),
		TEST(test_anchors),
	};

	return RUN_ON_MOCK(tests);
}
