/*
 * test_stream_ingest.c - tests that loads of a topic with a state folder contain each offset
 * exactly once, and that partitions take turns
 *
 * The test runs on librdkafka's mock cluster. It computes the expected rows from the messages that
 * it produced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <malloc.h>
#include <signal.h>

#include "stream.h"
#include "tests/unit/kafka_rig.h"
#include "tests/unit/load_rig.h"

#define TOPIC_HEAD                                                                                 \
	"source:\n  kafka: {brokers: '%s', %s, format: json, start: earliest}\n"                   \
	"fields:\n  n: {type: u32}\n  at: {type: time, unit: s}\n"

static void produce_some(struct cluster *c, int partition, int from, int to)
{
	char text[80];

	for (int i = from; i < to; i++) {
		snprintf(text, sizeof text, "{\"id\":\"%d-%04d\",\"n\":%d,\"at\":100}", partition,
			 i, i);
		produce(c, partition, NULL, text);
	}
	produced(c);
}

static void open_job_of(struct job *job, const struct cluster *c, const char *topics)
{
	char *yaml = mem_format(TOPIC_HEAD "%s", c->job.kafka.brokers, topics, JOB_TABLE);

	open_job(job, yaml, NULL);
	mem_free(yaml);
}

static void open_topic_job(struct job *job, const struct cluster *c)
{
	open_job_of(job, c, "topic: events");
}

static int load_topic(struct cluster *c, const struct job *job, const char *out, uint64_t rejects,
		      struct load_result *result, struct error *err)
{
	char *folder = mem_format("%s/%s", dir, out), *state = mem_format("%s/state", dir);
	struct progress progress = {.phase = NULL};
	struct listener log = {remember, c};
	struct load_options o = {.common = &rig_options,
				 .input = &rig_input,
				 .output_dir = folder,
				 .limit = {.count = rejects}};
	int rc = ingest_batch(job, &o, state, &log, &progress, result, err);

	mem_free(folder);
	mem_free(state);
	return rc;
}

static void expect_range(const struct manifest *m, size_t i, int32_t partition, int64_t start,
			 int64_t end)
{
	assert_true(m->offsets[i].partition == partition && m->offsets[i].start == start &&
		    m->offsets[i].end == end);
}

static int make(void **state)
{
	strcpy(strrchr(dir, '-') + 1, "XXXXXX");
	return setup(state) || make_cluster(state);
}

static int drop(void **state)
{
	return drop_cluster(state) || teardown(state);
}

/* Loads follow each other without a gap, name the load before, and are in the state's list. */
static void test_load_after_load(void **state)
{
	struct cluster *c = *state;
	struct job job;
	struct load_result r;
	struct error err;

	open_topic_job(&job, c);
	produce_some(c, 0, 0, 30);
	produce_some(c, 2, 0, 5);
	if (load_topic(c, &job, "one", 0, &r, &err))
		fail_msg("%s", err.msg);
	assert_true(r.manifest.read == 35 && r.manifest.tables[0].rows == 35);
	assert_false(r.manifest.previous.known && r.manifest.previous.load);
	load_result_release(&r);
	produce_some(c, 0, 30, 31);
	produce_some(c, 1, 0, 7);
	if (load_topic(c, &job, "two", 0, &r, &err))
		fail_msg("%s", err.msg);
	assert_true(r.manifest.read == 8 && r.manifest.tables[0].rows == 8);
	expect_range(&r.manifest, 0, 0, 30, 31);
	expect_range(&r.manifest, 1, 1, 0, 7);
	assert_true(r.manifest.previous.known);
	load_result_release(&r);

	struct state_view v;
	size_t n;
	bool gone;
	char *folder = mem_format("%s/state", dir);
	if (state_view_open(&v, folder, VIEW_ALL, false, &err))
		fail_msg("%s", err.msg);
	struct state_view_load *loads;
	assert_int_equal(state_view_loads(&v, &loads, &n, &err), 0);
	/* the start position, then both loads */
	assert_int_equal(n, 3);
	assert_int_equal(loads[0].load->phase, STATE_SEEK);
	assert_true(loads[1].load->read == 35 && loads[2].load->read == 8);
	for (size_t i = 0; i < n; i++)
		assert_null(manifest_chain_check(loads[i].load, &gone));
	/* the test changes the published manifest, and the chain detects it */
	char *manifest = mem_format("%s/one/manifest.json", dir);
	FILE *f = fopen(manifest, "a");
	fputc('\n', f);
	fclose(f);
	char *problem = manifest_chain_check(loads[1].load, &gone);
	assert_non_null(problem);
	assert_false(gone);
	mem_free(problem);
	/* without the manifest, the check reports the load as missing */
	unlink(manifest);
	problem = manifest_chain_check(loads[1].load, &gone);
	assert_true(gone && strstr(problem, "/one does not exist, "));
	mem_free(problem);
	mem_free(manifest);
	mem_free(loads);
	state_view_close(&v);
	mem_free(folder);
	job_release(&job);
}

/* A failed load records no offsets, so the next load reads them. */
static void test_a_failed_load_takes_nothing(void **state)
{
	struct cluster *c = *state;
	struct job job;
	struct load_result r;
	struct error err;

	open_topic_job(&job, c);
	produce_some(c, 0, 0, 3);
	produce(c, 0, NULL, "{\"id\":\"x\",\"n\":\"many\",\"at\":100}");
	produced(c);
	assert_int_equal(load_topic(c, &job, "bad", 0, &r, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "events/0 at offset 3: bad_number"));
	load_result_release(&r);
	assert_false(there("bad") || there("bad.saltmill-partial"));
	if (load_topic(c, &job, "good", 1, &r, &err))
		fail_msg("%s", err.msg);
	assert_true(r.manifest.read == 4 && r.manifest.rejected == 1);
	expect_range(&r.manifest, 0, 0, 0, 4);
	load_result_release(&r);
	/* no offsets remain, so there is an empty load or a message, and never the old events */
	if (load_topic(c, &job, "rest", 0, &r, &err) == RC_OK)
		assert_int_equal(r.manifest.read, 0);
	load_result_release(&r);
	job_release(&job);
}

/* A check shows what a load would read, and reads nothing. */
static void test_peek(void **state)
{
	struct cluster *c = *state;
	struct job job;
	struct ingest in = {0};
	struct load_result r;
	struct error err;
	struct listener log = {remember, c};

	open_topic_job(&job, c);
	produce_some(c, 1, 0, 9);
	for (int twice = 0; twice < 2; twice++) {
		if (ingest_peek(&in, &job, 0, 64 << 20, NULL, &log, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(in.available, 9);
		ingest_close(&in);
		in = (struct ingest){0};
	}
	if (load_topic(c, &job, "all", 0, &r, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(r.manifest.read, 9);
	load_result_release(&r);
	job_release(&job);
}

/* Without a group, nobody can notice a copy of the state. A quiet run does not report this. */
static void test_no_group(void **state)
{
	static const struct {
		bool has_state, quiet, reported;
		const char *group;
	} cases[] = {{.has_state = true, .reported = true},
		     {.has_state = true, .quiet = true},
		     {.has_state = true, .group = "g"},
		     {.has_state = false}};
	struct cluster *c = *state;
	struct job job;
	struct error err;
	struct listener log = {remember, c};

	open_topic_job(&job, c);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct run_options common = rig_options;
		struct load_options o = {.common = &common, .input = &rig_input};
		struct ingest in = {0};

		common.quiet = cases[i].quiet;
		job.kafka.group = cases[i].group;
		c->said[0] = 0;
		if (ingest_open(&in, &job, &o, cases[i].has_state ? path_of("state") : NULL, &log,
				NULL, &err))
			fail_msg("case %zu: %s", i, err.msg);
		ingest_close(&in);
		if (!strstr(c->said, "names no `group:`") == cases[i].reported)
			fail_msg("case %zu: %s", i, c->said);
	}
	job.kafka.group = NULL;
	job_release(&job);
}

static struct state *open_state(void)
{
	struct state *s;
	struct error err;

	if (state_open(&s, path_of("state"), true, &err))
		fail_msg("%s", err.msg);
	return s;
}

/* Leaves the intent of a killed load into `out`, with partition 0 up to `end` and the others
 * empty. */
static void leave_intent(struct state *s, const char *topic, const char *out, int64_t end,
			 bool publishing)
{
	struct offset_range r[PARTITIONS];
	struct error err;
	char *folder = mem_format("%s/%s", dir, out);

	for (int p = 0; p < PARTITIONS; p++) {
		r[p] = (struct offset_range){.topic = topic, .partition = p};
		assert_true(state_position(s, topic, p, &r[p].start));
		r[p].end = p ? r[p].start : end;
	}
	assert_int_equal(state_intend(s, state_next_name(s), folder, r, PARTITIONS, &err), 0);
	if (publishing)
		assert_int_equal(state_publishing(s, &err), 0);
	state_close(s);
	mem_free(folder);
}

static void load_all(struct cluster *c, const struct job *job, const char *out, uint64_t events)
{
	struct load_result r;
	struct error err;

	alarm(60); /* fails instead of waiting for ever */
	if (load_topic(c, job, out, 0, &r, &err))
		fail_msg("%s", err.msg);
	alarm(0);
	assert_int_equal(r.manifest.read, events);
	load_result_release(&r);
}

/* The state is a copy with the intent of a load that the original has published meanwhile. */
static void test_copied_with_intent(void **state)
{
	struct cluster *c = *state;
	struct job job;
	struct load_result r;
	struct error err;
	const struct offset_range by_other = {.partition = 0, .end = 35};

	open_job_of(&job, c, "topic: events, group: g");
	produce_some(c, 0, 0, 30);
	load_all(c, &job, "one", 30);
	produce_some(c, 0, 30, 35);
	leave_intent(open_state(), NULL, "two", 35, false);
	c->job.kafka.group = "g";
	struct kafka *k = open_client(c);
	if (kafka_commit(k, &by_other, 1, &err))
		fail_msg("%s", err.msg);
	kafka_close(k);
	assert_int_equal(load_topic(c, &job, "two", 0, &r, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "group g has committed offset 35"));
	load_result_release(&r);
	assert_false(there("two") || there("two.saltmill-partial"));
	struct state *s = open_state();
	assert_non_null(state_intent(s));
	state_close(s);
	job_release(&job);
}

/* A run with `topics: [events]` died in a load, and the job then has `topic: events` again. */
static void test_intent_that_names_its_topic(void **state)
{
	struct cluster *c = *state;
	struct job job;

	open_topic_job(&job, c);
	produce_some(c, 0, 0, 30);
	load_all(c, &job, "one", 30);
	produce_some(c, 0, 30, 35);
	leave_intent(open_state(), "events", "two", 35, false);
	load_all(c, &job, "two", 5);
	job_release(&job);
}

/* The intent names the topic, and the load's manifest does not. */
static void test_recorded_by_either_name(void **state)
{
	struct cluster *c = *state;
	struct job job;
	struct error err;
	const struct offset_range zero[PARTITIONS] = {{.partition = 0},
						      {.partition = 1},
						      {.partition = 2}};

	open_topic_job(&job, c);
	produce_some(c, 0, 0, 30);
	load_all(c, &job, "one", 30);
	struct state *old = open_state();
	char *away = mem_strdup(path_of("away"));
	assert_int_equal(rename(path_of("state"), away), 0);
	/* the same steps again, up to the rename of the load's folder */
	struct state *s = open_state();
	assert_int_equal(state_bind(s, state_topics(old), false, &err), 0);
	state_close(old);
	assert_int_equal(state_seek(s, zero, PARTITIONS, &err), 0);
	leave_intent(s, "events", "one", 30, true);
	produce_some(c, 0, 30, 33);
	load_all(c, &job, "two", 3);
	assert_non_null(strstr(c->said, "before the crash, and records it now"));
	mem_free(away);
	job_release(&job);
}

/* The stream uses the brokers' answer about a pattern's topics after the end of the query. */
static void test_seek_of_a_pattern(void **state)
{
	struct cluster *c = *state;
	struct job job;
	struct seek_result r;
	struct error err;
	int64_t at;

	open_job_of(&job, c, "pattern: 'event.*'");
	produce_some(c, 0, 0, 30);
	load_all(c, &job, "one", 30);
	struct offset_range to = {.topic = "events", .partition = 0, .end = 10};
	char *folder = mem_strdup(path_of("state"));
	mallopt(M_PERTURB, 0xa5); /* the test overwrites freed memory */
	int rc = seek_run(folder, &job, &to, 1, &r, &err);
	mallopt(M_PERTURB, 0);
	if (rc)
		fail_msg("%s", err.msg);
	assert_true(r.n == 1 && r.steps[0].from == 30 && r.steps[0].to == 10);
	assert_string_equal(r.why_unasked, "");
	seek_result_release(&r);
	/* the brokers' answer refuses an offset without a message */
	to.end = 31;
	assert_int_equal(seek_run(folder, &job, &to, 1, &r, &err), RC_CONFIG);
	assert_non_null(
		strstr(err.msg, "found offset 31, expected 0 (the oldest message) to 30 ("));
	seek_result_release(&r);
	struct state *s = open_state();
	assert_true(state_position(s, "events", 0, &at) && at == 10);
	state_close(s);
	mem_free(folder);
	job_release(&job);
}

static int64_t noted(struct cluster *c, const char *topic)
{
	struct group_note note;
	struct error err;
	const struct offset_range r = {.topic = topic, .partition = 0};
	struct kafka *k = open_client(c);

	if (kafka_committed(k, &r, &note, 1, &err))
		fail_msg("%s", err.msg);
	kafka_close(k);
	return note.offset;
}

/* The group's offsets contain a later topic before the first load of its messages. */
static void test_later_topics_are_claimed(void **state)
{
	struct cluster *c = *state;
	struct job job;
	struct load_result r;
	struct error err;
	struct ingest in = {0};
	struct progress progress = {.phase = NULL};
	const struct load_options o = {.common = &rig_options, .input = &rig_input};
	const struct listener log = {remember, c};
	char *folder = mem_strdup(path_of("state")), *nowhere = mem_format("%s/no/where", dir);

	open_job_of(&job, c, "pattern: '(events|more)', group: g");
	c->job.kafka.group = "g";
	if (ingest_open(&in, &job, &o, folder, &log, &progress, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(noted(c, "events"), 0);
	/* the topic list after users created, deleted and created `more` again */
	rd_kafka_mock_topic_create(c->mock, "more", 1, 1);
	struct kafka_size sizes[] = {{"events", 1}, {"more", 1}};
	struct kafka_partition places[] = {{"events", 0, 0, 0}, {"more", 0, 0, 0}};
	struct kafka_topic t = {.topics = sizes, .partitions = places};
	strcpy(t.cluster, in.cluster);
	sizes[0].npartitions = PARTITIONS;
	for (int round = 0; round < 3; round++) {
		t.ntopics = t.count = round == 1 ? 1 : 2;
		if (ingest_see(&in, &t, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(in.claimed, round == 1);
		assert_int_equal(noted(c, "more"), round ? 0 : -1);
		assert_int_equal(ingest_load(&in, nowhere, &r, &err), RC_CONFIG);
		assert_true(in.claimed && noted(c, "more") == 0);
	}
	ingest_close(&in);
	mem_free(folder);
	mem_free(nowhere);
	job_release(&job);
}

/*
 * The test deletes two of a pattern's three topics. The first had a partition that the job names,
 * and the second had none of the job's partitions. The job stays valid, and only the first deletion
 * loses data.
 */
static void test_topics_that_go(void **state)
{
	struct cluster *c = *state;
	struct job job;
	struct load_result r;
	struct error err;

	rd_kafka_mock_topic_create(c->mock, "events.large", 5, 1);
	rd_kafka_mock_topic_create(c->mock, "events.small", 1, 1);
	open_job_of(&job, c, "pattern: 'events.*', partitions: [1, 4]");
	produce_some(c, 1, 0, 30);
	load_all(c, &job, "one", 30);
	for (int i = 0; i < 2; i++) {
		c->said[0] = 0;
		produce_some(c, 1, 30 + i, 31 + i);
		if (load_topic(c, &job, i ? "three" : "two", 0, &r, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(r.manifest.read, 1);
		load_result_release(&r);
		assert_null(strstr(c->said, "events.small"));
		assert_int_equal(strstr(c->said, "events.large no longer exists") != NULL, i);
		rd_kafka_mock_topic_set_error(c->mock, "events.large",
					      RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
		rd_kafka_mock_topic_set_error(c->mock, "events.small",
					      RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
	}
	/* a number that no topic ever had is an error */
	job_release(&job);
	open_job_of(&job, c, "pattern: 'events.*', partitions: [1, 5]");
	assert_int_equal(load_topic(c, &job, "four", 0, &r, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "has partitions 0 to 4, found 5"));
	job_release(&job);
}

/* A manifest without topic ids cannot identify the topic of a state. */
static void test_rebuild_from_no_topic(void **state)
{
	struct cluster *c = *state;
	struct job job;
	struct manifest m;
	struct arena arena = {0};
	struct buf text = {0}, lines = {0};
	struct error err;

	open_topic_job(&job, c);
	produce_some(c, 0, 0, 30);
	load_all(c, &job, "one", 30);
	char *folder = mem_strdup(path_of("state")), *load = mem_strdup(path_of("one"));
	const char *const folders[] = {load};
	if (manifest_read(&m, path_of("one/manifest.json"), &arena, &err))
		fail_msg("%s", err.msg);
	m.topic = NULL;
	manifest_format(&m, &text);
	buf_put(&text, 0);
	write_text("one/manifest.json", (const char *)text.ptr);
	assert_int_equal(rebuild_run(folder, folders, 1, &lines, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "one/manifest.json: found offsets of partition 0 without"));
	assert_int_equal(lines.len, 0);
	buf_release(&text);
	buf_release(&lines);
	arena_release(&arena);
	mem_free(folder);
	mem_free(load);
	job_release(&job);
}

struct turns {
	unsigned loads[PARTITIONS], n;
};

static void take_turn(void *ctx, const char *name, const char *out, const struct load_result *r)
{
	struct turns *t = ctx;

	(void)out;
	assert_int_equal(r->manifest.read, 10);
	t->loads[strtoul(name + 1, NULL, 10)]++; /* p00002/00000001 */
	if (++t->n == 2 * PARTITIONS)
		stop_flag = SIGTERM;
}

/* Several loads of each partition are due. The partitions take turns, so none waits for the last load
 * of another. */
static void test_turns(void **state)
{
	struct cluster *c = *state;
	struct job job;
	struct turns turns = {0};
	struct topic_lags lags = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct stream_gauges gauges = {.by_topic = &lags};
	struct progress progress = {.phase = NULL};
	const struct load_options load = {.common = &rig_options, .input = &rig_input};
	char *folder = mem_strdup(path_of("shared"));
	const struct stream_options opt = {.load = &load,
					   .state_dir = folder,
					   .listener = {remember, c},
					   .gauges = &gauges,
					   .published = take_turn,
					   .ctx = &turns};
	struct error err;

	char *yaml =
		mem_format(TOPIC_HEAD "%s    regions: {split: uniform, count: 2}\n",
			   c->job.kafka.brokers,
			   "topic: events, share: true, group: g, roll: {rows: 10}", JOB_TABLE);
	open_job(&job, yaml, NULL);
	mem_free(yaml);
	for (int p = 0; p < PARTITIONS; p++)
		produce_some(c, p, 0, 40);
	stop_flag = 0;
	if (stream_run(&job, &opt, &progress, &err) != RC_STOPPED)
		fail_msg("%s; said %s", err.msg, c->said);
	stop_flag = 0;
	for (int p = 0; p < PARTITIONS; p++)
		assert_int_equal(turns.loads[p], 2);
	topic_lags_release(&lags);
	mem_free(folder);
	job_release(&job);
}

#define ON_TOPIC(f) cmocka_unit_test_setup_teardown(f, make, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_TOPIC(test_load_after_load),
		ON_TOPIC(test_a_failed_load_takes_nothing),
		ON_TOPIC(test_peek),
		ON_TOPIC(test_no_group),
		ON_TOPIC(test_copied_with_intent),
		ON_TOPIC(test_intent_that_names_its_topic),
		ON_TOPIC(test_recorded_by_either_name),
		ON_TOPIC(test_seek_of_a_pattern),
		ON_TOPIC(test_later_topics_are_claimed),
		ON_TOPIC(test_topics_that_go),
		ON_TOPIC(test_rebuild_from_no_topic),
		ON_TOPIC(test_turns),
	};

	return RUN_ON_MOCK(tests);
}
