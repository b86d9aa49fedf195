/*
 * Tests dead letters on librdkafka's mock cluster, with brokers that accept them and with producers
 * whose queue is too small
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <unistd.h>

#include "tests/unit/kafka_rig.h"
#include "tests/unit/temp_dir.h"

#define MIB ((size_t)1 << 20)

/* Writes `n` rejects, each with a value and a header of the given sizes. */
static void write_rejects(size_t n, size_t value, size_t header)
{
	FILE *f = fopen(path_of("rejects.jsonl"), "w");
	assert_non_null(f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "{\"topic\":\"events\",\"partition\":0,\"offset\":%zu,\"raw\":\"", i);
		for (size_t j = 0; j < value; j++)
			fputc('v', f);
		fprintf(f, "\",\"reason\":\"bad\",\"headers\":[{\"name\":\"h\",\"value\":\"");
		for (size_t j = 0; j < header; j++)
			fputc('h', f);
		fprintf(f, "\"}]}\n");
	}
	assert_int_equal(fclose(f), 0);
}

/* The first alarm is the user's signal. If the program ignores it, the second alarm kills the
 * process. */
static void stop_now(int sig)
{
	stop_flag = SIGTERM;
	signal(sig, SIG_DFL);
	alarm(20);
}

/* The user has read the message that the program waits. */
static void stop_when_told(void *ctx, const char *sentence)
{
	remember(ctx, sentence);
	if (strstr(sentence, "waiting until the brokers accept"))
		stop_flag = SIGTERM;
}

static int send_with(struct cluster *c, const char *name, const char *value, uint64_t n,
		     unsigned stop_s, struct error *err)
{
	struct kafka_property p = {.name = name, .value = value};

	c->job.kafka.dead_letters = "dead";
	c->job.kafka.properties = &p;
	c->job.kafka.nproperties = name ? 1 : 0;
	rd_kafka_mock_topic_create(c->mock, "dead", 1, 1);
	const struct listener log = {stop_when_told, c};
	struct kafka *k;
	if (kafka_open(&k, &c->job, MIB, &log, err))
		fail_msg("%s", err->msg);
	signal(SIGALRM, stop_now);
	alarm(stop_s);
	int rc = kafka_send_rejects(k, path_of("rejects.jsonl"), n, err);
	alarm(0);
	kafka_close(k);
	return rc;
}

/* The job may switch off delivery reports of successes, but this code waits for them. */
static void test_all_reports(void **state)
{
	struct error err;

	write_rejects(3, 10, 10);
	if (send_with(*state, "delivery.report.only.error", "true", 3, 30, &err))
		fail_msg("%s", err.msg);
}

/* The queue gets room after the delivery of messages. */
static void test_small_queue(void **state)
{
	struct error err;

	write_rejects(40, 10, 10);
	if (send_with(*state, "queue.buffering.max.messages", "1", 40, 60, &err))
		fail_msg("%s", err.msg);
}

/* The queue gets no room while no broker answers. A signal ends the wait. */
static void test_stopped_with_a_full_queue(void **state)
{
	struct cluster *c = *state;
	struct error err;

	write_rejects(2, 10, 10);
	rd_kafka_mock_broker_set_down(c->mock, 1);
	assert_int_equal(send_with(c, "queue.buffering.max.messages", "1", 2, 1, &err), RC_STOPPED);
}

/* A message is too large for the queue. */
static void test_larger_than_the_queue(void **state)
{
	struct error err;

	write_rejects(1, 5000, 10);
	assert_int_equal(send_with(*state, "queue.buffering.max.kbytes", "1", 1, 30, &err),
			 RC_CONFIG);
	assert_non_null(strstr(err.msg, "of 5000 bytes, expected at most the size"));
	assert_non_null(strstr(err.msg, "queue.buffering.max.kbytes"));
}

/* Headers also count as bytes, so at most eight of twelve megabytes wait at once. */
static void test_headers_wait_too(void **state)
{
	struct cluster *c = *state;
	struct error err;

	write_rejects(12, 0, MIB);
	rd_kafka_mock_broker_set_down(c->mock, 1);
	assert_int_equal(send_with(c, NULL, NULL, 12, 60, &err), RC_STOPPED);
	assert_non_null(strstr(c->said, "accept 8 dead letters"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all_reports),
		TEST(test_small_queue),
		TEST(test_stopped_with_a_full_queue),
		TEST(test_larger_than_the_queue),
		TEST(test_headers_wait_too),
	};

	if (setup(NULL))
		return 1;
	int failed = RUN_ON_MOCK(tests);
	return teardown(NULL) ? 1 : failed;
}
