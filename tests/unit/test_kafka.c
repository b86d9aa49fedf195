/*
 * Ranges of a topic as events, against librdkafka's own mock cluster
 *
 * What is expected is computed from what was produced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "mem.h"
#include "pipeline/source/kafka.h"
#include "pipeline/source/source.h"
#include "pool.h"
#include "tests/unit/mock_main.h"
#include "units.h"

#define PARTITIONS 3

struct cluster {
	rd_kafka_t *producer;
	rd_kafka_mock_cluster_t *mock;
	struct job job;
	struct field fields[8];
	const char *names[8][1];
	char said[2000];
};

static int make_cluster(void **state)
{
	char why[300];
	struct cluster *c = mem_calloc(1, sizeof(*c));
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_conf_set(conf, "linger.ms", "1", why, sizeof(why));
	rd_kafka_conf_set(conf, "log_level", "0", why, sizeof(why));
	c->producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));
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

static int drop_cluster(void **state)
{
	struct cluster *c = *state;
	rd_kafka_mock_cluster_destroy(c->mock);
	rd_kafka_destroy(c->producer);
	mem_free(c);
	stop_flag = 0;
	return 0;
}

static void need(struct cluster *c, const char *column)
{
	size_t i = c->job.nfields++;
	c->names[i][0] = column;
	c->fields[i] = (struct field){.name = column, .columns = c->names[i], .ncolumns = 1};
}

static void produce(struct cluster *c, int partition, const char *key, const char *value)
{
	size_t key_len = key ? strlen(key) : 0;
	rd_kafka_vu_t parts[] = {
		{.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = "events"},
		{.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = partition},
		{.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {(void *)(uintptr_t)key, key_len}},
		{.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {(void *)(uintptr_t)value, value ? strlen(value) : 0}},
		{.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
		{.vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = 1476640644000},
		{.vtype = RD_KAFKA_VTYPE_HEADER, .u.header = {"kind", "x", 1}},
		{.vtype = RD_KAFKA_VTYPE_HEADER, .u.header = {"kind", key, (ssize_t)key_len}},
	};
	rd_kafka_error_t *e = rd_kafka_produceva(c->producer, parts, sizeof parts / sizeof *parts);
	assert_null(e);
}

static void produced(struct cluster *c)
{
	assert_int_equal(rd_kafka_flush(c->producer, 10000), 0);
}

static void remember(void *ctx, const char *sentence)
{
	struct cluster *c = ctx;
	size_t len = strlen(c->said);
	snprintf(c->said + len, sizeof(c->said) - len, "%s\n", sentence);
}

static struct kafka *open_client(struct cluster *c)
{
	struct kafka *k;
	struct error err;
	struct kafka_log log = {remember, c};
	if (kafka_open(&k, &c->job, 8 << 20, &log, &err))
		fail_msg("%s", err.msg);
	return k;
}

/* All of the topic. */
static size_t whole(struct kafka *k, struct offset_range *ranges)
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

/* What came out, a line an event in the order of seq: "seq: column|column" or "seq! reason detail". */
struct seen {
	char *lines[4096];
	struct source_counts counts;
	pthread_mutex_t lock;
	struct error err;
	int rc;
	struct source *source;
};

static int take_event(void *ctx, const struct event *e, struct reject *why)
{
	struct seen *s = ctx;
	struct buf b = {0};
	(void)why;
	for (size_t i = 0; i < e->ncolumns; i++)
		buf_printf(&b, "%s%.*s", i ? "|" : "", e->columns[i].absent ? 1 : (int)e->columns[i].len,
			   e->columns[i].absent ? "-" : (const char *)e->columns[i].ptr);
	pthread_mutex_lock(&s->lock);
	assert_null(s->lines[e->seq]);
	s->lines[e->seq] = mem_format("%.*s", (int)b.len, (char *)b.ptr);
	pthread_mutex_unlock(&s->lock);
	buf_release(&b);
	return RC_OK;
}

static int take_reject(void *ctx, const struct rejected *r, struct error *err)
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

static void *work(void *ctx)
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
	s->counts.tombstones += c.tombstones;
	if (rc != RC_END) {
		s->rc = rc;
		s->err = err;
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static struct seen *read_ranges(struct cluster *c, struct kafka *k, struct offset_range *ranges,
				size_t n)
{
	struct seen *s = mem_calloc(1, sizeof(*s));
	struct source_options o = {.job = &c->job, .kafka = k, .ranges = ranges, .nranges = n};
	struct error err;
	pthread_t threads[3];
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
	memcpy(ranges, r, n * sizeof(*r));
	source_close(s->source);
	return s;
}

static void seen_free(struct seen *s)
{
	for (size_t i = 0; i < 4096; i++)
		mem_free(s->lines[i]);
	mem_free(s);
}

static void expect(const struct seen *s, size_t seq, const char *want)
{
	if (!s->lines[seq] || strcmp(s->lines[seq], want) != 0)
		fail_msg("event %zu: got %s, want %s", seq, s->lines[seq] ? s->lines[seq] : "nothing",
			 want);
}

static void test_whole_topic(void **state)
{
	struct cluster *c = *state;
	struct offset_range r[PARTITIONS];
	char text[80];
	static const char *const columns[] = {"user.id", "page", "$key", "$partition", "$offset",
					      "$timestamp", "$header.kind", "$header.none"};
	for (size_t i = 0; i < 8; i++)
		need(c, columns[i]);
	for (int p = 0; p < PARTITIONS; p++)
		for (int i = 0; i < 500 + 100 * p; i++) {
			snprintf(text, sizeof(text), "{\"page\":\"/%d\",\"user\":{\"id\":%d}}", p, i);
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
			snprintf(text, sizeof(text), "%d|/%d|%s|%d|%d|1476640644000|%s|-", (int)i, p,
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
	assert_true(s->counts.events == 5 && s->counts.tombstones == 1 && s->counts.rejects == 3);
	expect(s, 0, "1");
	assert_null(s->lines[1]);
	expect(s, 2, "! bad_json events/1@2 byte 5: found the end, expected a value");
	expect(s, 3, "! bad_json events/1@3 byte 0: found the end, expected a value");
	expect(s, 4, "! bad_json events/1@4 byte 5: found \\x01, expected a value");
	seen_free(s);
	c->job.kafka.tombstones = TOMBSTONES_REJECT;
	s = read_ranges(c, k, r, PARTITIONS);
	assert_true(s->counts.tombstones == 0 && s->counts.rejects == 4);
	expect(s, 1, "! tombstone events/1@1 found a message without a value, expected one");
	seen_free(s);
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
	assert_non_null(strstr(s->lines[4], "! several_rows events/0@4 found a second row at byte 4"));
	seen_free(s);
	c->job.kafka.format = KAFKA_RAW;
	c->job.nfields = 0;
	need(c, "$value");
	s = read_ranges(c, k, r, PARTITIONS);
	expect(s, 3, "\"open,1");
	seen_free(s);
	kafka_close(k);
}

/* A fetch that fails, and one that comes from a leader that is none: the same events. */
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
	rd_kafka_mock_push_request_errors(c->mock, 2, 1, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
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
	/* patience comes to its end, and so does a signal's */
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

/* A mock partition keeps 5 MiB: older messages of partition 0 go. */
static void push_out(struct cluster *c)
{
	char *large = mem_calloc(1, 600001);
	memset(large, 'x', 600000);
	for (int i = 0; i < 20; i++)
		produce(c, 0, NULL, large);
	produced(c);
	mem_free(large);
}

/* Positions that the broker does not have. */
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
	if (!strstr(s->err.msg, "there were offsets up to 20, now the partition ends at 10") ||
	    !strstr(s->err.msg, "seek --state DIR 0=0"))
		fail_msg("%s", s->err.msg);
	seen_free(s);
	push_out(c);
	r[0] = (struct offset_range){.partition = 0, .start = 2, .end = 10};
	s = read_ranges(c, k, r, 1);
	assert_int_equal(s->rc, RC_DATA);
	if (!strstr(s->err.msg, "the next offset to load is 2") ||
	    !strstr(s->err.msg, "offsets are lost"))
		fail_msg("%s", s->err.msg);
	seen_free(s);
	kafka_close(k);
}

/* A further range of partition 0 and what came out of it. */
static int read_on(struct cluster *c, struct kafka *k, struct offset_range *r, int64_t end,
		   char *why, size_t size)
{
	r->start = r->end;
	r->end = end;
	struct seen *s = read_ranges(c, k, r, 1);
	int rc = s->rc;
	snprintf(why, size, "%s", rc ? s->err.msg : "");
	if (!rc)
		assert_true(s->counts.events == (uint64_t)r->events);
	seen_free(s);
	return rc;
}

/* The message in front of a range is read once more, and is the one it was or not. */
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
	assert_int_equal(read_on(c, k, r, 4, why, sizeof(why)), 0);
	assert_true(r[0].last.known && r[0].last.offset == 3 && r[0].last.timestamp_ms == 1476640644000);
	last = r[0].last;
	/* an empty range looks too, and keeps what it knew */
	assert_int_equal(read_on(c, k, r, 4, why, sizeof(why)), 0);
	assert_memory_equal(&last, &r[0].last, sizeof(last));
	assert_int_equal(read_on(c, k, r, 6, why, sizeof(why)), 0);
	assert_true(r[0].events == 2 && r[0].last.offset == 5);
	assert_memory_equal(last.digest, r[0].last.digest, 16); /* the same key and value */
	assert_int_equal(read_on(c, k, r, 7, why, sizeof(why)), 0);
	assert_memory_not_equal(last.digest, r[0].last.digest, 16); /* no key */
	assert_string_equal(c->said, "");
	/* what is told apart: an offset, a time, a digest */
	for (int i = 0; i < 3; i++) {
		struct offset_range bad = r[0];
		bad.last.offset -= i == 0;
		bad.last.timestamp_ms += i == 1;
		bad.last.digest[15] ^= (uint8_t)(i == 2);
		assert_int_equal(read_on(c, k, &bad, i == 1 ? 7 : 12, why, sizeof(why)), RC_DATA);
		if (!strstr(why, "partition 0: another message") || !strstr(why, "DIR 0=0`") ||
		    !strstr(why, "DIR 0=7`") || !strstr(why, "(0: offset "))
			fail_msg("%s", why);
	}
	/* a key that is empty is not one that is null, nor does it run into the value */
	struct offset_range p1 = {.partition = 1};
	struct anchor empty_key;
	assert_int_equal(read_on(c, k, &p1, 1, why, sizeof(why)), 0);
	empty_key = p1.last;
	assert_memory_not_equal(empty_key.digest, r[0].last.digest, 16);
	assert_int_equal(read_on(c, k, &p1, 2, why, sizeof(why)), 0);
	assert_memory_not_equal(empty_key.digest, p1.last.digest, 16);
	/* gone, as the offsets in front of it: that is said, and once */
	push_out(c);
	struct kafka_topic t;
	struct error err;
	assert_int_equal(kafka_look(k, &t, &err), 0);
	int64_t low = t.partitions[0].low, high = t.partitions[0].high;
	kafka_topic_release(&t);
	assert_true(low > 7 && high == 32);
	struct offset_range gone = r[0];
	gone.end = low;
	assert_int_equal(read_on(c, k, &gone, high - 1, why, sizeof(why)), 0);
	assert_true(gone.events == high - 1 - low && gone.last.offset == high - 2);
	assert_non_null(strstr(c->said, "topic events, partition 0: the brokers do not keep"));
	gone = r[0];
	gone.end = high;
	c->said[0] = 0;
	assert_int_equal(read_on(c, k, &gone, high, why, sizeof(why)), 0);
	assert_true(gone.events == 0 && !gone.last.known);
	assert_string_equal(c->said, "");
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
	assert_non_null(strstr(err.msg, "has the partitions 0 to 2, found 7"));
	kafka_close(k);
	struct {
		struct kafka_property p;
		const char *want;
	} cases[] = {
		{{.name = "no.such", .value = "1"}, "No such configuration property"},
		{{.name = "sasl.password", .env = "SALTMILL_TEST_NOT_SET"}, "SALTMILL_TEST_NOT_SET is not"},
		{{.name = "sasl.password", .file = "/nowhere/s"}, "/nowhere/s"},
		{{.name = "session.timeout.ms", .value = "hush"}, "Invalid value"},
		{{.name = "session.timeout.ms", .env = "SALTMILL_TEST_SECRET"}, "session.timeout.ms"},
	};
	setenv("SALTMILL_TEST_SECRET", "hush", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
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
		struct source_options o = {.job = &c->job, .kafka = k};
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
	struct offset_range r[PARTITIONS] = {{.partition = 0, .end = 7}, {.partition = 2, .end = 9}};
	struct error err;
	c->job.kafka.group = "g";
	struct kafka *k = open_client(c);
	struct offset_range got[2] = {{.partition = 0}, {.partition = 2}};
	if (kafka_committed(k, got, 2, &err))
		fail_msg("%s", err.msg);
	assert_true(got[0].start == -1 && got[1].start == -1);
	if (kafka_commit(k, r, 2, &err))
		fail_msg("%s", err.msg);
	if (kafka_committed(k, got, 2, &err))
		fail_msg("%s", err.msg);
	assert_true(got[0].start == 7 && got[1].start == 9);
	kafka_close(k);
}

/* The group's coordinator is another broker, and the old one is gone: asked and told all the same. */
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
		struct offset_range got = {.partition = 0};
		if (kafka_commit(k, &r, 1, &err) || kafka_committed(k, &got, 1, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(got.start, r.end);
		rd_kafka_mock_coordinator_set(mock, "group", "g", round + 1);
		if (round == 2)
			rd_kafka_mock_broker_set_down(mock, 2);
	}
	struct offset_range got = {.partition = 0};
	assert_int_equal(kafka_committed(k, &got, 1, &err), RC_OK);
	assert_int_equal(got.start, 8);
	assert_string_equal(c->said, ""); /* librdkafka finds the new one: nothing to tell anybody */
	kafka_close(k);
	rd_kafka_mock_cluster_destroy(mock);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_cluster, drop_cluster)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_whole_topic),	   TEST(test_rejects_and_tombstones),
		TEST(test_csv_and_raw),	   TEST(test_passing_errors),
		TEST(test_broker_away),	   TEST(test_lost_positions),
		TEST(test_anchors),	   TEST(test_refusals),
		TEST(test_group),	   TEST(test_coordinator_moved),
	};
	return RUN_ON_MOCK(tests);
}
