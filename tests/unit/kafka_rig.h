/*
 * kafka_rig.h - a topic on librdkafka's own mock cluster, and ranges of it printed as one line an
 * event
 *
 * Include it after cmocka.h.
 */
#ifndef SALTMILL_TEST_KAFKA_RIG_H
#define SALTMILL_TEST_KAFKA_RIG_H

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <pthread.h>
#include <stdio.h>

#include "mem.h"
#include "kafka.h"
#include "source.h"
#include "pool.h"
#include "tests/unit/mock_main.h"
#include "bytes.h"

#define PARTITIONS 3

struct cluster {
	rd_kafka_t *producer;
	rd_kafka_mock_cluster_t *mock;
	struct job job;
	struct field fields[8];
	const char *names[8][1];
	char said[2000];
};

static inline int make_cluster(void **state)
{
	char why[300];
	struct cluster *c = mem_calloc(1, sizeof *c);
	rd_kafka_conf_t *conf = rd_kafka_conf_new();

	rd_kafka_conf_set(conf, "linger.ms", "1", why, sizeof why);
	rd_kafka_conf_set(conf, "log_level", "0", why, sizeof why);
	c->producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
	c->mock = rd_kafka_mock_cluster_new(c->producer, 1);
	const char *brokers = rd_kafka_mock_cluster_bootstraps(c->mock);
	rd_kafka_brokers_add(c->producer, brokers);
	rd_kafka_mock_topic_create(c->mock, "events", PARTITIONS, 1);
	c->job = (struct job){
		.path = "job.yaml",
		.source = SOURCE_KAFKA,
		.csv = {.delimiter = ',', .quote = '"'},
		.kafka = {.brokers = brokers, .topic = "events", .patience_s = DURATION_FOREVER},
		.fields = c->fields,
	};
	*state = c;
	return 0;
}

static inline int drop_cluster(void **state)
{
	struct cluster *c = *state;

	rd_kafka_mock_cluster_destroy(c->mock);
	rd_kafka_destroy(c->producer);
	mem_free(c);
	stop_flag = 0;
	return 0;
}

static inline void need(struct cluster *c, const char *column)
{
	size_t i = c->job.nfields++;

	c->names[i][0] = column;
	c->fields[i] = (struct field){.name = column, .columns = c->names[i], .ncolumns = 1};
}

static inline void produce(struct cluster *c, int partition, const char *key, const char *value)
{
	size_t key_len = key ? strlen(key) : 0;
	rd_kafka_vu_t parts[] = {
		{.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = "events"},
		{.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = partition},
		{.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {(void *)(uintptr_t)key, key_len}},
		{.vtype = RD_KAFKA_VTYPE_VALUE,
		 .u.mem = {(void *)(uintptr_t)value, value ? strlen(value) : 0}},
		{.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
		{.vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = 1476640644000},
		{.vtype = RD_KAFKA_VTYPE_HEADER, .u.header = {"kind", "x", 1}},
		{.vtype = RD_KAFKA_VTYPE_HEADER, .u.header = {"kind", key, (ssize_t)key_len}},
	};
	rd_kafka_error_t *e = rd_kafka_produceva(c->producer, parts, sizeof parts / sizeof *parts);

	assert_null(e);
}

static inline void produced(struct cluster *c)
{
	assert_int_equal(rd_kafka_flush(c->producer, 10000), 0);
}

static inline void remember(void *ctx, const char *sentence)
{
	struct cluster *c = ctx;
	size_t len = strlen(c->said);

	snprintf(c->said + len, sizeof c->said - len, "%s\n", sentence);
}

static inline struct kafka *open_client(struct cluster *c)
{
	struct kafka *k;
	struct error err;
	struct listener log = {remember, c};

	if (kafka_open(&k, &c->job, 8 << 20, &log, &err))
		fail_msg("%s", err.msg);
	return k;
}

/* Sets the range to the whole topic. */
static inline size_t whole(struct kafka *k, struct offset_range *ranges)
{
	struct kafka_topic t;
	struct error err;

	if (kafka_look(k, &t, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < t.count; i++)
		ranges[i] = (struct offset_range){.partition = t.partitions[i].id,
						  .start = t.partitions[i].low,
						  .end = t.partitions[i].high};
	size_t n = t.count;
	kafka_topic_release(&t);
	return n;
}

/* Returns the events read, with one line for each event in the order of seq. A line is "seq:
 * column|column" or "seq! reason detail". */
struct seen {
	char *lines[4096];
	struct source_counts counts;
	pthread_mutex_t lock;
	struct error err;
	int rc;
	struct source *source;
};

static inline int take_event(void *ctx, const struct event *e, struct reject *why)
{
	struct seen *s = ctx;
	struct buf b = {0};

	(void)why;
	for (size_t i = 0; i < e->ncolumns; i++)
		buf_printf(&b, "%s%.*s", i ? "|" : "",
			   e->columns[i].absent ? 1 : (int)e->columns[i].len,
			   e->columns[i].absent ? "-" : (const char *)e->columns[i].ptr);
	pthread_mutex_lock(&s->lock);
	assert_null(s->lines[e->seq]);
	s->lines[e->seq] = mem_format("%.*s", (int)b.len, (char *)b.ptr);
	pthread_mutex_unlock(&s->lock);
	buf_release(&b);
	return RC_OK;
}

static inline int take_reject(void *ctx, const struct rejected *r, struct error *err)
{
	struct seen *s = ctx;

	(void)err;
	assert_string_equal(r->message->topic, "events");
	pthread_mutex_lock(&s->lock);
	assert_null(s->lines[r->seq]);
	s->lines[r->seq] = mem_format("! %s %s@%llu %s", r->why.reason, r->file,
				      (unsigned long long)r->offset, r->why.detail);
	pthread_mutex_unlock(&s->lock);
	return RC_OK;
}

static inline void *work(void *ctx)
{
	struct seen *s = ctx;
	struct source_sink sink = {.ctx = s, .event = take_event, .reject = take_reject};
	struct source_worker *w = source_worker_new(s->source);
	struct source_counts c;
	struct error err;
	int rc;

	while ((rc = source_work(w, &sink, &err)) == RC_OK)
		;
	source_worker_counts(w, &c);
	source_worker_free(w);
	pthread_mutex_lock(&s->lock);
	s->counts.events += c.events;
	s->counts.rejects += c.rejects;
	s->counts.filtered += c.filtered;
	if (rc != RC_END) {
		s->rc = rc;
		s->err = err;
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* `most_bytes` is the size limit of a message; 0 if there is no limit */
static inline struct seen *read_ranges_upto(struct cluster *c, struct kafka *k,
					    struct offset_range *ranges, size_t n,
					    uint64_t most_bytes)
{
	struct seen *s = mem_calloc(1, sizeof *s);
	const struct source_topic topic = {.client = k, .ranges = ranges, .nranges = n};
	const struct input input = {.topic = &topic};
	struct source_options o = {.job = &c->job, .input = &input};
	struct error err;
	pthread_t threads[3];

	c->job.kafka.max_message = most_bytes;
	pthread_mutex_init(&s->lock, NULL);
	if (source_open(&s->source, &o, &err))
		fail_msg("%s", err.msg);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, s), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	size_t nranges;
	const struct offset_range *r = source_ranges(s->source, &nranges);
	assert_int_equal(nranges, n);
	memcpy(ranges, r, n * sizeof *r);
	source_close(s->source);
	return s;
}

static inline struct seen *read_ranges(struct cluster *c, struct kafka *k,
				       struct offset_range *ranges, size_t n)
{
	return read_ranges_upto(c, k, ranges, n, 0);
}

static inline void seen_free(struct seen *s)
{
	for (size_t i = 0; i < 4096; i++)
		mem_free(s->lines[i]);
	mem_free(s);
}

static inline void expect(const struct seen *s, size_t seq, const char *want)
{
	if (!s->lines[seq] || strcmp(s->lines[seq], want) != 0)
		fail_msg("event %zu: got %s, want %s", seq,
			 s->lines[seq] ? s->lines[seq] : "nothing", want);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_cluster, drop_cluster)

#endif
