/*
 * Tests an instance that shares a topic, on librdkafka's own mock cluster. The instance keeps its
 * partitions until the end, and releases partitions that go to another instance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>

#include "state.h"
#include "stream.h"
#include "tests/unit/kafka_rig.h"
#include "tests/unit/temp_dir.h"

static struct kafka_property session[] = {{.name = "session.timeout.ms", .value = "4000"},
					  {.name = "heartbeat.interval.ms", .value = "100"}};

struct held {
	int now, most;
	struct state *
		other; /* another process's hold of partition 1, until this instance has partition 2 */
};

/* The test sends a signal when the instance has all partitions. */
static void holds(void *ctx, const char *state_dir, const char *prefix, bool held)
{
	struct held *h = ctx;

	assert_non_null(strstr(state_dir, "shared/"));
	assert_int_equal(prefix[0], 'p');
	if (strcmp(prefix, "p00002/") == 0 && h->other) {
		state_close(h->other);
		h->other = NULL;
	}
	h->now += held ? 1 : -1;
	if (h->now > h->most)
		h->most = h->now;
	if (h->now == PARTITIONS)
		stop_flag = SIGTERM;
}

/* Runs the instance until it has all partitions. */
static void run_shared(struct cluster *c, struct held *h)
{
	struct run_options common = {.threads = 1, .memory_bytes = 64 << 20};
	struct existing_regions live = {0};
	const struct input none = {0};
	const struct load_options load = {.common = &common, .input = &none, .live = &live};
	struct topic_lags lags = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct stream_gauges gauges = {.by_topic = &lags};
	struct progress progress = {.phase = NULL};
	struct error err;
	const struct stream_options opt = {.load = &load,
					   .state_dir = path_of("shared"),
					   .listener = {remember, c},
					   .gauges = &gauges,
					   .holds = holds,
					   .ctx = h};

	c->job.kafka.share = true;
	c->job.kafka.group = "g";
	c->job.kafka.properties = session;
	c->job.kafka.nproperties = sizeof session / sizeof *session;
	stop_flag = 0;
	if (stream_run(&c->job, &opt, &progress, &err) != RC_STOPPED)
		fail_msg("%s; said %s", err.msg, c->said);
	assert_int_equal(h->most, PARTITIONS);
	topic_lags_release(&lags);
}

/* The stream counts loads that wait for HBase at the end, because no other instance has taken them.
 */
static void test_held_to_the_end(void **state)
{
	struct held h = {0};

	run_shared(*state, &h);
	assert_int_equal(h.now, PARTITIONS);
}

/* An instance that gets a partition from another one waits for its lock. A short wait is usual, so
 * the instance reports only longer ones. */
static void test_short_wait(void **state)
{
	struct cluster *c = *state;
	struct held h = {0};
	struct error err;

	run_shared(c, &h);
	h = (struct held){0};
	assert_int_equal(state_open(&h.other, path_of("shared/p00001"), true, &err), RC_OK);
	c->said[0] = 0;
	run_shared(c, &h);
	assert_null(h.other);
	if (strstr(c->said, "waits"))
		fail_msg("%s", c->said);
}

static int make(void **state)
{
	strcpy(strrchr(dir, '-') + 1, "XXXXXX");
	return setup(state) ? -1 : make_cluster(state);
}

static int drop(void **state)
{
	return drop_cluster(state) ? -1 : teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_held_to_the_end, make, drop),
		cmocka_unit_test_setup_teardown(test_short_wait, make, drop),
	};

	return RUN_ON_MOCK(tests);
}
