/*
 * dead_letters.c - produce rejected messages to the dead-letter topic before the publication of
 * their load
 *
 * The messages come from the load's rejects.jsonl, which is complete at this time. If a load dies
 * after this step, the next run reads the same offsets and produces the messages again (at least
 * once). Their headers with topic, partition and offset identify duplicates.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "kafka_client.h"
#include "pool.h"
#include "properties.h"
#include "replay.h"
#include "bytes.h"

#define WAITING_BYTES (8 << 20) /* limit of unacknowledged bytes */
#define MOST_BYTES    "1000000000"
#define WAIT_MS	      100
#define SAY_FIRST_S   5
#define SAY_AGAIN_S   30

/*
 * A letter that waits for its acknowledgement. `at` is the offset of the letter's line in the file.
 */
struct letter {
	struct outbox *all;
	off_t at;
	size_t bytes;
};

struct outbox {
	struct kafka *kafka;
	rd_kafka_t *producer;
	const char *path;
	FILE *file;
	char *line; /* allocated by getline */
	size_t line_size;
	size_t waiting; /* number of unacknowledged letters */
	uint64_t waiting_bytes;
	off_t *large; /* letters that the broker refused for their size */
	size_t nlarge;
	rd_kafka_resp_err_t refused; /* first other error of a letter */
	double say_at;
};

static void on_delivery(rd_kafka_t *client, const rd_kafka_message_t *m, void *opaque)
{
	struct letter *one = m->_private;
	struct outbox *l = one->all;

	(void)client, (void)opaque;
	l->waiting--;
	l->waiting_bytes -= one->bytes;
	if (m->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
		l->large = mem_grow(l->large, l->nlarge, sizeof *l->large);
		l->large[l->nlarge++] = one->at;
	} else if (m->err && !l->refused) {
		l->refused = m->err;
	}
	mem_free(one);
}

/*
 * Ignore the log, because it may contain a secret. The consumer logs the same problems without
 * secrets.
 */
static void on_log(const rd_kafka_t *client, int level, const char *facility, const char *said)
{
	(void)client, (void)level, (void)facility, (void)said;
}

static int set(rd_kafka_conf_t *conf, const char *name, const char *value, struct error *err)
{
	const struct property p = {.name = name, .value = value};

	return kafka_set_property(conf, &p, err);
}

/*
 * Set properties that the job's properties must not change. Only the broker limits the size of
 * messages.
 */
static int set_own(rd_kafka_conf_t *conf, const struct kafka *k, struct error *err)
{
	char wait[24];
	uint64_t said = k->job->kafka.patience_s, s = said ? said : k->patience_s;

	/* 0 disables the limit */
	snprintf(wait, sizeof wait, "%d", s > INT_MAX / 1000 ? 0 : (int)s * 1000);
	int rc = set(conf, "message.max.bytes", MOST_BYTES, err);
	if (rc == RC_OK)
		rc = set(conf, "message.timeout.ms", wait, err);
	if (rc == RC_OK)
		rc = set(conf, "topic.metadata.propagation.max.ms", "5000", err);
	if (rc == RC_OK) /* on_delivery must see every letter */
		rc = set(conf, "delivery.report.only.error", "false", err);
	return rc ? rc : set(conf, "request.required.acks", "-1", err);
}

static int open_producer(struct outbox *l, struct error *err)
{
	char why[300] = "";
	const struct job *job = l->kafka->job;
	rd_kafka_conf_t *conf = rd_kafka_conf_new();

	rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
	rd_kafka_conf_set_log_cb(conf, on_log);
	int rc = properties_each(job, 0, kafka_set_property, conf, err);
	if (rc == RC_OK)
		rc = set_own(conf, l->kafka, err);
	if (rc == RC_OK)
		l->producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
	if (l->producer)
		return RC_OK;
	rd_kafka_conf_destroy(conf);
	return rc ? rc
		  : error_set(err, RC_CONFIG, "%s:%u:%u: dead_letters: librdkafka: %s", job->path,
			      job->kafka.pos.line, job->kafka.pos.column, why);
}

/* --- waiting --- */

static int check_refused(const struct outbox *l, struct error *err)
{
	if (!l->refused)
		return RC_OK;
	return error_set(
		err, RC_IO,
		"dead letters: cannot produce to topic %s: %s; saltmill does not publish the "
		"load, and loses no message",
		l->kafka->job->kafka.dead_letters, rd_kafka_err2str(l->refused));
}

static void say_waiting(struct outbox *l)
{
	const struct listener *listener = &l->kafka->silence.listener;
	double now = clock_seconds();

	if (now < l->say_at)
		return;
	l->say_at = now + SAY_AGAIN_S;
	report_to(listener,
		  "waiting until the brokers accept %zu dead letters (topic %s); saltmill "
		  "publishes the load after this",
		  l->waiting, l->kafka->job->kafka.dead_letters);
}

static int wait_once(struct outbox *l, struct error *err)
{
	rd_kafka_poll(l->producer, WAIT_MS);
	say_waiting(l);
	int rc = check_refused(l, err);
	return rc ? rc : stop_check(err);
}

/* Wait until at most `bytes` bytes have no acknowledgement. 0 waits for all letters. */
static int wait_for(struct outbox *l, uint64_t bytes, struct error *err)
{
	int rc = check_refused(l, err);

	l->say_at = clock_seconds() + SAY_FIRST_S;
	rd_kafka_poll(l->producer, 0);
	while (rc == RC_OK && (bytes ? l->waiting_bytes > bytes : l->waiting > 0))
		rc = wait_once(l, err);
	return rc ? rc : check_refused(l, err);
}

/* --- one letter --- */

static void add_header(rd_kafka_headers_t *h, const char *name, const char *value)
{
	rd_kafka_header_add(h, name, -1, value, -1);
}

static void add_number(rd_kafka_headers_t *h, const char *name, long long value)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", value);
	add_header(h, name, text);
}

static rd_kafka_headers_t *headers_of(const struct message *m, const struct replay_why *why,
				      bool whole)
{
	rd_kafka_headers_t *h = rd_kafka_headers_new(m->nheaders + 6);

	for (size_t i = 0; i < m->nheaders; i++)
		rd_kafka_header_add(h, m->headers[i].name, -1, m->headers[i].value.ptr,
				    (ssize_t)m->headers[i].value.len);
	add_header(h, "saltmill.reason", why->reason ? why->reason : "");
	if (why->field)
		add_header(h, "saltmill.field", why->field);
	add_header(h, "saltmill.topic", m->topic);
	add_number(h, "saltmill.partition", m->partition);
	add_number(h, "saltmill.offset", m->offset);
	if (!whole)
		add_number(h, "saltmill.too_large", (long long)m->value.len);
	return h;
}

static size_t headers_bytes(const rd_kafka_headers_t *h)
{
	const char *name;
	const void *value;
	size_t len, n = 0;

	for (size_t i = 0; !rd_kafka_header_get_all(h, i, &name, &value, &len); i++)
		n += strlen(name) + len;
	return n;
}

/*
 * Wait for space in the producer's full queue. Return RC_CONFIG if the queue is too small for this
 * letter alone.
 */
static int make_room(struct outbox *l, size_t bytes, struct error *err)
{
	if (l->waiting)
		return wait_once(l, err);
	return error_set(
		err, RC_CONFIG,
		"dead letters: found a letter of %zu bytes, expected at most the size of the "
		"producer's queue. saltmill does not publish the load, and loses no message. Set "
		"a larger queue.buffering.max.kbytes in `properties`",
		bytes);
}

/* Distinguish an empty value from null, because null is a tombstone. */
static struct bytes value_of(const struct message *m, bool whole)
{
	struct bytes value = whole || !m->value.ptr ? m->value : bytes_str("");

	return value.ptr && !value.len ? bytes_str("") : value;
}

static int produce(struct outbox *l, const struct message *m, const struct replay_why *why,
		   off_t at, bool whole, struct error *err)
{
	struct letter *one = mem_alloc(sizeof *one);
	struct bytes value = value_of(m, whole);
	rd_kafka_headers_t *h = headers_of(m, why, whole);

	*one = (struct letter){l, at, m->key.len + value.len + headers_bytes(h)};
	const void *key = m->key.ptr, *body = value.ptr;
	rd_kafka_vu_t parts[] = {
		{.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = l->kafka->job->kafka.dead_letters},
		{.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
		{.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {(void *)(uintptr_t)key, m->key.len}},
		{.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {(void *)(uintptr_t)body, value.len}},
		{.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = h},
		{.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = one},
		{.vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = m->timestamp_ms},
	};
	size_t n = sizeof parts / sizeof *parts;
	rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__QUEUE_FULL;
	int rc = RC_OK;
	while (rc == RC_OK && code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
		rd_kafka_error_t *e =
			rd_kafka_produceva(l->producer, parts, n - (m->timestamp_ms < 0));

		code = rd_kafka_error_code(e);
		rd_kafka_error_destroy(e);
		if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL)
			rc = make_room(l, m->key.len + value.len, err);
	}
	if (rc) {
		rd_kafka_headers_destroy(h);
		mem_free(one);
		return rc;
	}
	l->waiting++;
	l->waiting_bytes += one->bytes;
	if (!code)
		return RC_OK;
	rd_kafka_headers_destroy(h);
	const rd_kafka_message_t refused = {.err = code, ._private = one};
	on_delivery(l->producer, &refused, NULL);
	return check_refused(l, err);
}

/* Send the line at byte `at`, which is also the position of the file. */
static int send_line(struct outbox *l, off_t at, bool whole, struct message *m, struct arena *a,
		     struct error *err)
{
	struct replay_why why;
	ssize_t len = getline(&l->line, &l->line_size, l->file);

	if (len < 0)
		return error_set(err, RC_DATA,
				 "%s: truncated: found fewer lines than the load wrote, expected "
				 "all lines",
				 l->path);
	int rc = replay_line(bytes_of(l->line, (size_t)len), l->path, &l->kafka->job->kafka, m,
			     &why, a, err);
	return rc == RC_OK ? produce(l, m, &why, at, whole, err) : rc;
}

static int send_all(struct outbox *l, uint64_t n, struct error *err)
{
	int rc = RC_OK;

	for (uint64_t i = 0; rc == RC_OK && i < n; i++) {
		struct arena a = {0};
		struct message m;

		rc = send_line(l, ftello(l->file), true, &m, &a, err);
		arena_release(&a);
		if (rc == RC_OK)
			rc = wait_for(l, WAITING_BYTES, err);
	}
	return rc ? rc : wait_for(l, 0, err);
}

/* --- letters that are too large --- */

static void say_large(const struct outbox *l, const struct message *m)
{
	const struct listener *listener = &l->kafka->silence.listener;

	report_to(
		listener,
		"dead letter of %s/%d at offset %lld: topic %s rejects the letter's %zu bytes as "
		"too large. saltmill sent the letter without the value, which is in rejects.jsonl",
		m->topic, (int)m->partition, (long long)m->offset,
		l->kafka->job->kafka.dead_letters, m->value.len);
}

/*
 * Send a large letter alone, because brokers reject a whole batch for its size. If the broker
 * refuses the letter again, send the letter without its value.
 */
static int send_large(struct outbox *l, off_t at, struct error *err)
{
	int rc = RC_OK;

	for (int whole = 1; rc == RC_OK && whole >= 0; whole--) {
		struct arena a = {0};
		struct message m;

		l->nlarge = 0;
		if (fseeko(l->file, at, SEEK_SET) < 0)
			rc = error_errno(err, "cannot read %s", l->path);
		if (rc == RC_OK)
			rc = send_line(l, at, whole, &m, &a, err);
		if (rc == RC_OK)
			rc = wait_for(l, 0, err);
		if (rc == RC_OK && !l->nlarge)
			whole = 0;
		else if (rc == RC_OK && whole)
			say_large(l, &m);
		arena_release(&a);
	}
	if (rc == RC_OK && l->nlarge)
		/* the key and headers alone are too large */
		l->refused = RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
	return rc ? rc : check_refused(l, err);
}

static int send_again(struct outbox *l, struct error *err)
{
	off_t *large = l->large;
	size_t n = l->nlarge;
	int rc = RC_OK;

	l->large = NULL;
	for (size_t i = 0; rc == RC_OK && i < n; i++)
		rc = send_large(l, large[i], err);
	mem_free(large);
	return rc;
}

/* Drop the unacknowledged letters. Their callbacks run here. */
static void close_producer(struct outbox *l)
{
	if (!l->producer)
		return;
	rd_kafka_purge(l->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
	while (l->waiting > 0 && rd_kafka_outq_len(l->producer) > 0)
		rd_kafka_poll(l->producer, WAIT_MS);
	rd_kafka_destroy(l->producer);
}

int kafka_send_rejects(struct kafka *k, const char *rejects, uint64_t n, struct error *err)
{
	struct outbox l = {.kafka = k, .path = rejects, .file = fopen(rejects, "re")};
	int rc = l.file ? open_producer(&l, err) : error_errno(err, "cannot read %s", rejects);

	if (rc == RC_OK)
		rc = send_all(&l, n, err);
	if (rc == RC_OK)
		rc = send_again(&l, err);
	close_producer(&l);
	if (l.file)
		fclose(l.file);
	free(l.line);
	mem_free(l.large);
	return rc;
}
