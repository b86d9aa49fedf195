/*
 * Dead letters on librdkafka's mock cluster: brokers that take them, and producers whose queue is
 * too small for them
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

/* n rejects with a value of so many bytes, and a header of so many. */
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

/* The first alarm is the user's signal; who does not hear it is killed by the second. */
static void stop_now(int sig)
{
	stop_flag = SIGTERM;
	signal(sig, SIG_DFL);
	alarm(20);
}

/* The user has seen that it waits. */
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

/* The job may want no reports of what went well; here they are waited for. */
static void test_all_reports(void **state)
{
	struct error err;

	write_rejects(3, 10, 10);
	if (send_with(*state, "delivery.report.only.error", "true", 3, 30, &err))
		fail_msg("%s", err.msg);
}

/* Room comes as the others are taken. */
static void test_small_queue(void **state)
{
	struct error err;

	write_rejects(40, 10, 10);
	if (send_with(*state, "queue.buffering.max.messages", "1", 40, 60, &err))
		fail_msg("%s", err.msg);
}

/* It does not come while no broker is there; a signal ends the waiting. */
static void test_stopped_with_a_full_queue(void **state)
{
	struct cluster *c = *state;
	struct error err;

	write_rejects(2, 10, 10);
	rd_kafka_mock_broker_set_down(c->mock, 1);
	assert_int_equal(send_with(c, "queue.buffering.max.messages", "1", 2, 1, &err), RC_STOPPED);
}

/* One for which there never will be room. */
static void test_larger_than_the_queue(void **state)
{
	struct error err;

	write_rejects(1, 5000, 10);
	assert_int_equal(send_with(*state, "queue.buffering.max.kbytes", "1", 1, 30, &err),
			 RC_CONFIG);
	assert_non_null(strstr(err.msg, "of 5000 bytes, which exceeds"));
	assert_non_null(strstr(err.msg, "queue.buffering.max.kbytes"));
}

/* Headers are bytes too: of twelve megabytes no more than eight wait at once. */
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
