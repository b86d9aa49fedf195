/*
 * Tests members of a consumer group on librdkafka's own mock cluster. At most one member holds a
 * partition at any time, and in the end exactly one does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <time.h>

#include "mem.h"
#include "kafka.h"
#include "tests/unit/mock_main.h"
#include "bytes.h"

#define PARTITIONS 6
#define MEMBERS	   2

struct cluster;
struct hands {
	struct cluster *cluster;
	struct member *member;
	bool has[PARTITIONS], leaving; /* revoked and not released yet */
	int given, taken;
};

struct cluster {
	rd_kafka_t *client;
	rd_kafka_mock_cluster_t *mock;
	struct job job;
	struct kafka_property session[2];
	struct hands hands[MEMBERS];
	char said[2000];
};

static int make_cluster(void **state)
{
	char why[300];
	struct cluster *c = mem_calloc(1, sizeof *c);
	rd_kafka_conf_t *conf = rd_kafka_conf_new();

	rd_kafka_conf_set(conf, "log_level", "0", why, sizeof why);
	c->client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
	c->mock = rd_kafka_mock_cluster_new(c->client, 3);
	rd_kafka_mock_topic_create(c->mock, "events", PARTITIONS, 1);
	rd_kafka_mock_coordinator_set(c->mock, "group", "g", 1);
	/* the mock's rebalances take a second less than a session */
	c->session[0] = (struct kafka_property){.name = "session.timeout.ms", .value = "4000"};
	c->session[1] = (struct kafka_property){.name = "heartbeat.interval.ms", .value = "100"};
	c->job = (struct job){
		.path = "job.yaml",
		.source = SOURCE_KAFKA,
		.kafka = {.brokers = rd_kafka_mock_cluster_bootstraps(c->mock),
			  .topic = "events",
			  .group = "g",
			  .share = true,
			  .patience_s = DURATION_FOREVER,
			  .properties = c->session,
			  .nproperties = 2},
	};
	*state = c;
	return 0;
}

static int drop_cluster(void **state)
{
	struct cluster *c = *state;

	for (int i = 0; i < MEMBERS; i++)
		member_close(c->hands[i].member);
	rd_kafka_mock_cluster_destroy(c->mock);
	rd_kafka_destroy(c->client);
	mem_free(c);
	return 0;
}

static void remember(void *ctx, const char *sentence)
{
	struct cluster *c = ctx;
	size_t len = strlen(c->said);

	snprintf(c->said + len, sizeof c->said - len, "%s\n", sentence);
}

static void on_given(void *ctx, const int32_t *ids, size_t n)
{
	struct hands *h = ctx;

	for (size_t i = 0; i < n; i++) {
		for (int m = 0; m < MEMBERS; m++)
			assert_false(h->cluster->hands[m].has[ids[i]]);
		h->has[ids[i]] = true;
	}
	h->given++;
}

static void on_taken(void *ctx, const int32_t *ids, size_t n, bool lost)
{
	struct hands *h = ctx;

	assert_false(lost);
	for (size_t i = 0; i < n; i++) {
		assert_true(h->has[ids[i]]);
		h->has[ids[i]] = false;
	}
	h->leaving = true;
	h->taken++;
}

static void join(struct cluster *c, int i)
{
	struct hands *h = &c->hands[i];
	const struct member_calls calls = {on_given, on_taken, h};
	const struct listener log = {remember, c};
	struct error err;

	h->cluster = c;
	if (member_open(&h->member, &c->job, &calls, &log, &err))
		fail_msg("%s", err.msg);
}

static void leave(struct cluster *c, int i)
{
	struct hands *h = &c->hands[i];

	memset(h->has, 0, sizeof h->has);
	member_close(h->member);
	h->member = NULL;
}

static int held(const struct cluster *c, int i)
{
	int n = 0;

	for (int p = 0; p < PARTITIONS; p++)
		n += c->hands[i].has[p];
	return n;
}

static void poll_all(struct cluster *c)
{
	struct error err;

	for (int i = 0; i < MEMBERS; i++) {
		struct hands *h = &c->hands[i];

		if (!h->member)
			continue;
		if (member_poll(h->member, 10, &err))
			fail_msg("%s", err.msg);
		if (h->leaving)
			member_let_go(h->member);
		h->leaving = false;
	}
}

/* Waits until each member has the given number of partitions. */
static void settle(struct cluster *c, int a, int b)
{
	time_t end = time(NULL) + 30;

	while (held(c, 0) != a || held(c, 1) != b) {
		poll_all(c);
		if (time(NULL) > end)
			fail_msg("held %d and %d, said %s", held(c, 0), held(c, 1), c->said);
	}
}

/* Only the new owner of a partition may commit its offset. */
static void expect_own_notes(struct cluster *c)
{
	struct error err;
	struct kafka *k;

	if (kafka_open(&k, &c->job, 8 << 20, NULL, &err))
		fail_msg("%s", err.msg);
	for (int32_t p = 0; p < PARTITIONS; p++) {
		struct offset_range r = {.partition = p, .end = 10 + p};

		member_note(c->hands[0].member, &r, 1);
	}
	for (int i = 0; i < 50; i++)
		poll_all(c);
	for (int32_t p = 0; p < PARTITIONS; p++) {
		struct offset_range r = {.partition = p};
		struct group_note note;

		assert_int_equal(kafka_committed(k, &r, &note, 1, &err), RC_OK);
		assert_int_equal(note.offset, c->hands[0].has[p] ? 10 + p : -1);
	}
	kafka_close(k);
}

static void test_come_and_go(void **state)
{
	struct cluster *c = *state;

	join(c, 0);
	settle(c, 6, 0);
	join(c, 1);
	settle(c, 3, 3);
	/* with the cooperative protocol, a member need not release partitions that it keeps */
	assert_int_equal(c->hands[0].taken, 1);
	assert_int_equal(c->hands[1].taken, 0);
	expect_own_notes(c);
	leave(c, 0);
	settle(c, 0, 6);
	assert_string_equal(c->said, "");
}

static void expect_committed(struct cluster *c, struct kafka *k, int64_t want)
{
	struct error err;
	const struct offset_range r = {.partition = 2};
	struct group_note note;
	time_t end = time(NULL) + 30;

	do {
		poll_all(c);
		if (kafka_committed(k, &r, &note, 1, &err))
			fail_msg("%s", err.msg);
		if (time(NULL) > end)
			fail_msg("committed %lld, said %s", (long long)note.offset, c->said);
	} while (note.offset != want);
}

/* Another broker becomes the coordinator. The members find it, and so does a client that only
 * queries offsets. */
static void test_coordinator_moved(void **state)
{
	struct cluster *c = *state;
	struct error err;
	struct kafka *k;
	const struct listener log = {remember, c};
	struct offset_range r = {.partition = 2, .end = 40};

	if (kafka_open(&k, &c->job, 8 << 20, &log, &err))
		fail_msg("%s", err.msg);
	join(c, 0);
	settle(c, 6, 0);
	member_note(c->hands[0].member, &r, 1);
	expect_committed(c, k, 40);
	rd_kafka_mock_coordinator_set(c->mock, "group", "g", 2);
	r.end = 50;
	member_note(c->hands[0].member, &r, 1);
	expect_committed(c, k, 50);
	assert_int_equal(held(c, 0), 6);
	kafka_close(k);
}

/*
 * A member leaves during a rebalance, before it has any partition. librdkafka before 2.3 aborts the
 * process at the end of such a client (its issue 4312).
 */
static void test_leave_before_given(void **state)
{
	enum { SYNC_GROUP = 14 };
	struct cluster *c = *state;
	rd_kafka_resp_err_t busy[200];
	for (size_t i = 0; i < 200; i++)
		busy[i] = RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS;
	rd_kafka_mock_push_request_errors_array(c->mock, SYNC_GROUP, 200, busy);
	join(c, 0);
	for (time_t end = time(NULL) + 6; time(NULL) < end;)
		poll_all(c);
	assert_int_equal(c->hands[0].given, 0);
	leave(c, 0);
	rd_kafka_mock_clear_request_errors(c->mock, SYNC_GROUP);
	join(c, 1);
	settle(c, 0, 6);
}

static void test_refusals(void **state)
{
	struct cluster *c = *state;
	struct member *m;
	struct error err;
	const struct member_calls calls = {on_given, on_taken, &c->hands[0]};

	c->session[1] = (struct kafka_property){.name = "no.such", .value = "1", .pos = {3, 5}};
	assert_int_equal(member_open(&m, &c->job, &calls, NULL, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "job.yaml:3:5: librdkafka rejects property no.such"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_cluster, drop_cluster)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_come_and_go),
		TEST(test_coordinator_moved),
		TEST(test_leave_before_given),
		TEST(test_refusals),
	};

	return RUN_ON_MOCK(tests);
}
