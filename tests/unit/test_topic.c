/*
 * test_topic.c - loads of a topic with a state folder: each offset is in exactly one of them
 *
 * On librdkafka's mock cluster; what is expected is computed from what was produced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest.h"
#include "manifest_chain.h"
#include "state_view.h"
#include "tests/unit/kafka_rig.h"
#include "tests/unit/load_rig.h"

#define TOPIC_HEAD                                                                                 \
	"source:\n  kafka: {brokers: '%s', topic: events, format: json, start: earliest}\n"        \
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

static void open_topic_job(struct job *job, const struct cluster *c)
{
	char *yaml = mem_format(TOPIC_HEAD "%s", c->job.kafka.brokers, JOB_TABLE);
	open_job(job, yaml, NULL);
	mem_free(yaml);
}

static int load_topic(struct cluster *c, const struct job *job, const char *out, uint64_t rejects,
		      struct load_result *result, struct error *err)
{
	char *folder = mem_format("%s/%s", dir, out), *state = mem_format("%s/state", dir);
	struct progress progress = {0};
	struct kafka_log log = {remember, c};
	struct load_options o = {.common = &rig_options,
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

/* Loads follow each other without a gap, are chained, and the state lists them. */
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
	/* where it began, then both */
	assert_int_equal(n, 3);
	assert_int_equal(loads[0].load->phase, STATE_SEEK);
	assert_true(loads[1].load->read == 35 && loads[2].load->read == 8);
	for (size_t i = 0; i < n; i++)
		assert_null(manifest_chain_check(loads[i].load, &gone));
	/* what was published is changed: the chain shows it */
	char *manifest = mem_format("%s/one/manifest.json", dir);
	FILE *f = fopen(manifest, "a");
	fputc('\n', f);
	fclose(f);
	char *problem = manifest_chain_check(loads[1].load, &gone);
	assert_non_null(problem);
	assert_false(gone);
	mem_free(problem);
	/* and without it, it is gone */
	unlink(manifest);
	problem = manifest_chain_check(loads[1].load, &gone);
	assert_true(gone && strstr(problem, "/one is gone, "));
	mem_free(problem);
	mem_free(manifest);
	mem_free(loads);
	state_view_close(&v);
	mem_free(folder);
	job_release(&job);
}

/* A load that fails takes nothing: the next one has its offsets. */
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
	/* nothing is left to load: an empty load, or a word that there is none; never the old
	 * events */
	if (load_topic(c, &job, "rest", 0, &r, &err) == RC_OK)
		assert_int_equal(r.manifest.read, 0);
	load_result_release(&r);
	job_release(&job);
}

/* Who only looks sees what a load would take, and takes nothing. */
static void test_peek(void **state)
{
	struct cluster *c = *state;
	struct job job;
	struct ingest in = {0};
	struct load_result r;
	struct error err;
	struct kafka_log log = {remember, c};
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

#define ON_TOPIC(f) cmocka_unit_test_setup_teardown(f, make, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_TOPIC(test_load_after_load),
		ON_TOPIC(test_a_failed_load_takes_nothing),
		ON_TOPIC(test_peek),
	};
	return RUN_ON_MOCK(tests);
}
