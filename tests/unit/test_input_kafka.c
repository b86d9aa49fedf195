/*
 * test_input_kafka.c - tests brokers that fail or do not answer, refused requests, and the group's
 * offsets
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "clock.h"
#include "pipeline/input/kafka/kafka_client.h"
#include "tests/unit/kafka_rig.h"

/* Failed fetches, also from a broker that is not the leader, give the same events. */
static void test_passing_errors(void **state)
{
	struct cluster *c = *state;
	struct offset_range r[PARTITIONS];

	need(c, "$offset");
	c->job.kafka.format = KAFKA_RAW;
	for (int i = 0; i < 300; i++)
		produce(c, i % PARTITIONS, NULL, "v");
	produced(c);
	struct kafka *k = open_client(c);
	rd_kafka_mock_push_request_errors(c->mock, 3, 2, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
					  RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE);
	rd_kafka_mock_push_request_errors(c->mock, 2, 1,
					  RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
	whole(k, r);
	rd_kafka_mock_push_request_errors(c->mock, 1, 4, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
					  RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
					  RD_KAFKA_RESP_ERR__TRANSPORT,
					  RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR);
	struct seen *s = read_ranges(c, k, r, PARTITIONS);
	assert_int_equal(s->rc, 0);
	assert_true(s->counts.events == 300);
	seen_free(s);
	kafka_close(k);
}

static void *restart(void *ctx)
{
	struct cluster *c = ctx;

	nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
	rd_kafka_mock_broker_set_up(c->mock, 1);
	return NULL;
}

static void test_broker_away(void **state)
{
	struct cluster *c = *state;
	struct offset_range r[PARTITIONS];
	pthread_t thread;

	need(c, "$offset");
	c->job.kafka.format = KAFKA_RAW;
	produce(c, 0, NULL, "v");
	produced(c);
	struct kafka *k = open_client(c);
	whole(k, r);
	rd_kafka_mock_broker_set_down(c->mock, 1);
	assert_int_equal(pthread_create(&thread, NULL, restart, c), 0);
	struct seen *s = read_ranges(c, k, r, PARTITIONS);
	pthread_join(thread, NULL);
	assert_int_equal(s->rc, 0);
	assert_true(s->counts.events == 1);
	if (!strstr(c->said, "no broker answers at 127.0.0.1:") || !strstr(c->said, "answer again"))
		fail_msg("said: %s", c->said);
	seen_free(s);
	/* the wait ends at its limit, and at once after a signal */
	rd_kafka_mock_broker_set_down(c->mock, 1);
	c->job.kafka.patience_s = 1;
	s = read_ranges(c, k, r, PARTITIONS);
	assert_int_equal(s->rc, RC_IO);
	assert_non_null(strstr(s->err.msg, "no broker answered"));
	seen_free(s);
	stop_flag = 1;
	c->job.kafka.patience_s = DURATION_FOREVER;
	s = read_ranges(c, k, r, PARTITIONS);
	assert_int_equal(s->rc, RC_STOPPED);
	seen_free(s);
	kafka_close(k);
}

/*
 * One broker refuses connections for a long time while another answers. The answer that the topic
 * exists does not end the wait, but a message does.
 */
static void test_one_broker_refuses(void **state)
{
	struct cluster *c = *state;
	struct offset_range r[PARTITIONS];
	struct error err;

	need(c, "$offset");
	c->job.kafka.format = KAFKA_RAW;
	produce(c, 0, NULL, "v");
	produced(c);
	struct kafka *k = open_client(c);
	whole(k, r);
	silence_complaint(&k->silence, "Disconnected", false);
	k->silence.refused_since = clock_seconds() - 61;
	assert_int_equal(kafka_still_there(k, NULL, &err), 0);
	assert_int_equal(kafka_check_patience(k, &err), RC_IO);
	assert_non_null(strstr(err.msg, "refuse the connection"));
	/* no broker answers, which is a different error */
	k->silence.refused_since = 0;
	silence_begin(&k->silence, DURATION_FOREVER);
	assert_int_equal(kafka_still_there(k, NULL, &err), 0);
	assert_non_null(strstr(c->said, "the brokers answer again"));
	k->silence.refused_since = clock_seconds();
	struct seen *s = read_ranges(c, k, r, PARTITIONS);
	assert_true(s->rc == RC_OK && s->counts.events == 1 && k->silence.refused_since == 0);
	seen_free(s);
	kafka_close(k);
}

/* A client without memory for the largest message fails before any request. */
static void test_memory(void **state)
{
	struct cluster *c = *state;
	struct kafka *k;
	struct error err;

	c->job.kafka.max_message = 15 << 20;
	assert_int_equal(kafka_open(&k, &c->job, (15 << 20) - 1, NULL, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "`max_message` allows messages of 15728640 bytes: found "
					"--memory 59M, expected at least 60M"));
	assert_int_equal(kafka_open(&k, &c->job, 15 << 20, NULL, &err), RC_OK);
	kafka_close(k);
	/* a client that reads no messages */
	assert_int_equal(kafka_open(&k, &c->job, 0, NULL, &err), RC_OK);
	kafka_close(k);
}

static void test_refusals(void **state)
{
	struct cluster *c = *state;
	struct kafka_topic t;
	struct kafka *k;
	struct error err;
	int32_t wanted[] = {1, 7};

	c->job.kafka.partitions = wanted;
	c->job.kafka.npartitions = 2;
	k = open_client(c);
	assert_int_equal(kafka_look(k, &t, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "has partitions 0 to 2, found 7"));
	kafka_close(k);
	struct {
		struct kafka_property p;
		const char *want;
	} cases[] = {
		{{.name = "no.such", .value = "1"}, "No such configuration property"},
		{{.name = "sasl.password", .env = "SALTMILL_TEST_NOT_SET"},
		 "found no environment variable SALTMILL_TEST_NOT_SET"},
		{{.name = "sasl.password", .file = "/nowhere/s"}, "/nowhere/s"},
		{{.name = "session.timeout.ms", .value = "hush"}, "Invalid value"},
		{{.name = "session.timeout.ms", .env = "SALTMILL_TEST_SECRET"},
		 "session.timeout.ms"},
	};
	setenv("SALTMILL_TEST_SECRET", "hush", 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		c->job.kafka.properties = &cases[i].p;
		c->job.kafka.nproperties = 1;
		cases[i].p.pos = (struct pos){3, 5};
		assert_int_equal(kafka_open(&k, &c->job, 1, NULL, &err), RC_CONFIG);
		if (!strstr(err.msg, "job.yaml:3:5: ") || !strstr(err.msg, cases[i].want))
			fail_msg("%s", err.msg);
	}
	assert_null(strstr(err.msg, "hush"));
	/* columns that a message does not have */
	static const char *const bad[] = {"$nokey", "$header.", "plain", "a..b"};
	c->job.kafka.nproperties = 0;
	k = open_client(c);
	for (size_t i = 0; i < 4; i++) {
		struct source *s;
		const struct source_topic topic = {.client = k};
		const struct input input = {.topic = &topic};
		struct source_options o = {.job = &c->job, .input = &input};

		c->job.nfields = 0;
		c->job.kafka.format = i == 2 ? KAFKA_RAW : KAFKA_JSON;
		need(c, bad[i]);
		assert_int_equal(source_open(&s, &o, &err), RC_CONFIG);
		assert_non_null(strstr(err.msg, bad[i]));
	}
	kafka_close(k);
}

static void test_group(void **state)
{
	struct cluster *c = *state;
	struct offset_range r[PARTITIONS] = {{.partition = 0, .end = 7},
					     {.partition = 2, .end = 9}};
	struct error err;

	c->job.kafka.group = "g";
	struct kafka *k = open_client(c);
	struct group_note got[2];
	if (kafka_committed(k, r, got, 2, &err))
		fail_msg("%s", err.msg);
	assert_true(got[0].offset == -1 && got[1].offset == -1 && !got[0].ours);
	if (kafka_commit(k, r, 2, &err))
		fail_msg("%s", err.msg);
	if (kafka_committed(k, r, got, 2, &err))
		fail_msg("%s", err.msg);
	assert_true(got[0].offset == 7 && got[1].offset == 9 && got[0].ours && got[1].ours);
	/* another client of the same machine and process */
	struct kafka *other = open_client(c);
	if (kafka_committed(other, r, got, 2, &err))
		fail_msg("%s", err.msg);
	assert_true(got[0].offset == 7 && !got[0].ours && strstr(got[0].by, "saltmill, process "));
	if (kafka_commit(other, r, 1, &err) || kafka_committed(k, r, got, 2, &err))
		fail_msg("%s", err.msg);
	assert_true(!got[0].ours && got[1].ours);
	kafka_close(other);
	kafka_close(k);
}

/*
 * The group's coordinator moves to another broker and the old one stops. The client still reads and
 * commits offsets.
 */
static void test_coordinator_moved(void **state)
{
	struct cluster *c = *state;
	struct offset_range r = {.partition = 0, .end = 7};
	struct error err;
	rd_kafka_mock_cluster_t *mock = rd_kafka_mock_cluster_new(c->producer, 3);

	rd_kafka_mock_topic_create(mock, "events", PARTITIONS, 1);
	for (int p = 0; p < PARTITIONS; p++)
		rd_kafka_mock_partition_set_leader(mock, "events", p, 3);
	rd_kafka_mock_coordinator_set(mock, "group", "g", 1);
	c->job.kafka.brokers = rd_kafka_mock_cluster_bootstraps(mock);
	c->job.kafka.group = "g";
	struct kafka *k = open_client(c);
	for (int round = 1; round < 3; round++, r.end++) {
		struct group_note got;

		if (kafka_commit(k, &r, 1, &err) || kafka_committed(k, &r, &got, 1, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(got.offset, r.end);
		rd_kafka_mock_coordinator_set(mock, "group", "g", round + 1);
		if (round == 2)
			rd_kafka_mock_broker_set_down(mock, 2);
	}
	struct group_note got;
	assert_int_equal(kafka_committed(k, &r, &got, 1, &err), RC_OK);
	assert_int_equal(got.offset, 8);
	assert_string_equal(
		c->said,
		""); /* librdkafka finds the new coordinator, so the client reports nothing */
	kafka_close(k);
	rd_kafka_mock_cluster_destroy(mock);
}

/* Older versions of librdkafka aborted the process if a client ended before its reading. */
static void test_closed_behind_an_assignment(void **state)
{
	enum { ROUNDS = 50, MOST = 2 * PARTITIONS };
	struct cluster *c = *state;
	struct offset_range ranges[MOST];
	struct error err;

	for (int p = 0; p < PARTITIONS; p++)
		produce(c, p, NULL, "x");
	produced(c);
	for (int i = 0; i < ROUNDS; i++) {
		struct kafka *k = open_client(c);
		struct kafka_batch b = {0};
		size_t n = whole(k, ranges);

		assert_int_equal(kafka_read(k, ranges, n, &err), RC_OK);
		while (kafka_take(k, &b, &err) == RC_OK && b.count == 0)
			;
		kafka_batch_clear(&b);
		kafka_batch_release(&b);
		assert_int_equal(kafka_read(k, ranges, n, &err), RC_OK);
		kafka_close(k);
	}
}

/* librdkafka's main thread, which the close waits for, is in a kinit that never ends. */
static void test_closed_in_a_login(void **state)
{
	enum { KINIT_MS = 6000, CLOSE_MS = 5000 };
	static struct kafka *given_up; /* the client still exists, so this is no leak */
	struct cluster *c = *state;
	struct kafka_property login[] = {
		{.name = "security.protocol", .value = "SASL_PLAINTEXT"},
		{.name = "sasl.mechanism", .value = "GSSAPI"},
		{.name = "sasl.kerberos.kinit.cmd", .value = "sleep 6"},
	};
	c->job.kafka.properties = login;
	c->job.kafka.nproperties = sizeof login / sizeof *login;
	c->job.allow_code = true;
	given_up = open_client(c);
	clock_sleep_ms(200); /* the kinit has begun */
	int64_t begin = clock_ms();
	kafka_close(given_up);
	int64_t took = clock_ms() - begin;
	/* the abandoned thread ends before the test does */
	clock_sleep_ms(took < KINIT_MS ? KINIT_MS - took : 0);
	assert_in_range(took, 0, CLOSE_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_passing_errors),     TEST(test_broker_away),
		TEST(test_one_broker_refuses), TEST(test_memory),
		TEST(test_refusals),	       TEST(test_group),
		TEST(test_coordinator_moved),  TEST(test_closed_behind_an_assignment),
		TEST(test_closed_in_a_login),
	};

	return RUN_ON_MOCK(tests);
}
