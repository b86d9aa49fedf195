/*
 * kafka.c - a client of the brokers, and reading ranges of topics
 *
 * Partitions are assigned with explicit offsets, so there is no group membership and no rebalance
 * can happen.  A range ends when its last offset was seen, or a later one, or when the broker says
 * that the partition ends at or behind it: the last offset may be a transaction's marker or
 * compacted away, and is then never delivered.
 *
 * Why a gap in the offsets is not taken for loss: a client cannot tell what compaction or an
 * aborted transaction left out from what is missing.  But a broker never answers a fetch below its
 * log start with later messages: that is OFFSET_OUT_OF_RANGE, which auto.offset.reset=error makes
 * an error here.  So everything that retention, DeleteRecords or a topic made anew takes away from
 * a range ends the run (lost_position); every gap within an answered fetch is one the broker
 * vouches for.  How many offsets held no event is in the manifest (end - start - events).
 *
 * A topic that was made anew and has outgrown the position shows in no offset, and in no id that
 * librdkafka 2.0 tells: see ranges.h.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "kafka_client.h"
#include "clock.h"
#include "pool.h"
#include "properties.h"
#include "units.h"

#define PAUSE_MS    200
#define CLOSE_S	    3
#define TAKE_MS	    20	 /* librdkafka waits so long for a batch to get full */
#define BATCH_MOST  4096 /* messages */
#define BATCH_BYTES (1u << 20)

/* --- configuration --- */

struct setting {
	struct kafka *kafka;
	rd_kafka_conf_t *conf;
};

int kafka_set_property(void *ctx, const struct property *p, struct error *err)
{
	char why[300];
	rd_kafka_conf_res_t r = rd_kafka_conf_set(ctx, p->name, p->value, why, sizeof(why));
	if (r == RD_KAFKA_CONF_OK || (r == RD_KAFKA_CONF_UNKNOWN && p->optional))
		return RC_OK;
	return error_set(err, RC_CONFIG, "librdkafka refuses property %s%s%s", p->name,
			 p->secret ? "" : ": ", p->secret ? "" : why);
}

/* And remember what is to be shown nowhere. */
static int set_property(void *ctx, const struct property *p, struct error *err)
{
	struct setting *s = ctx;
	struct kafka *k = s->kafka;
	k->shows_log = k->shows_log || (strcmp(p->name, "debug") == 0 && *p->value);
	if (p->secret && *p->value) {
		k->secrets = mem_realloc(k->secrets, (k->nsecrets + 1) * sizeof(*k->secrets));
		k->secrets[k->nsecrets++] = mem_strdup(p->value);
	}
	return kafka_set_property(s->conf, p, err);
}

/* --- brokers that do not answer --- */

/* Errors that go away by themselves when the cluster is well again. */
static bool is_passing(rd_kafka_resp_err_t e)
{
#define E(name) RD_KAFKA_RESP_ERR_##name
	static const rd_kafka_resp_err_t passing[] = {
		E(_TRANSPORT),
		E(_ALL_BROKERS_DOWN),
		E(_RESOLVE),
		E(_TIMED_OUT),
		E(_TIMED_OUT_QUEUE),
		E(_MSG_TIMED_OUT),
		E(_WAIT_COORD),
		E(_WAIT_CACHE),
		E(_IN_PROGRESS),
		E(_NODE_UPDATE),
		E(_OUTDATED),
		E(REQUEST_TIMED_OUT),
		E(NETWORK_EXCEPTION),
		E(LEADER_NOT_AVAILABLE),
		E(NOT_LEADER_FOR_PARTITION),
		E(BROKER_NOT_AVAILABLE),
		E(REPLICA_NOT_AVAILABLE),
		E(OFFSET_NOT_AVAILABLE),
		E(KAFKA_STORAGE_ERROR),
		E(FENCED_LEADER_EPOCH),
		E(UNKNOWN_LEADER_EPOCH),
		E(COORDINATOR_LOAD_IN_PROGRESS),
		E(COORDINATOR_NOT_AVAILABLE),
		E(NOT_COORDINATOR),
	};
#undef E
	for (size_t i = 0; i < sizeof(passing) / sizeof(*passing); i++)
		if (passing[i] == e)
			return true;
	return false;
}

/*
 * Before 2.6.1 librdkafka's SCRAM repeats the nonce, which brokers have ceased to take (its issue
 * 4895, CVE-2024-56128), and they call that wrong credentials.
 */
static const char *scram_advice(const char *reason)
{
	return rd_kafka_version() < 0x02060100 && strstr(reason, "SCRAM")
		       ? "; if name and password are right: this librdkafka's SCRAM is refused by "
			 "Kafka "
			 "3.8.1 and later, use librdkafka 2.6.1 or later"
		       : "";
}

/* What librdkafka says, without the secrets; they all serve as long as the client lives. */
static const char *without_secrets(const struct kafka *k, char *text)
{
	for (size_t i = 0; i < k->nsecrets; i++) {
		size_t len = strlen(k->secrets[i]);
		for (char *at = text; (at = strstr(at, k->secrets[i])); at += len)
			memset(at, '*', len);
	}
	return text;
}

static uint64_t patience(const struct kafka *k)
{
	uint64_t said = k->job->kafka.patience_s;
	return said ? said : k->patience_s;
}

/* librdkafka's own complaints; called by the thread that takes messages or polls. */
static void on_error(rd_kafka_t *client, int code, const char *reason, void *opaque)
{
	char text[600];
	struct kafka *k = opaque;
	bool login = code == RD_KAFKA_RESP_ERR__AUTHENTICATION ||
		     code == RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED;
	(void)client;
	if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
		silence_begin(&k->silence, patience(k));
		return;
	}
	snprintf(text, sizeof(text), "%.350s%s", reason, login ? scram_advice(reason) : "");
	silence_complaint(&k->silence, without_secrets(k, text), login);
}

/*
 * Called as on_error is (log.queue).  librdkafka from 2.1 on calls a broker that hangs up no error
 * and only logs it.  What `debug` asks for is shown.
 */
static void on_log(const rd_kafka_t *client, int level, const char *facility, const char *said)
{
	char text[2000];
	struct kafka *k = rd_kafka_opaque(client);
	snprintf(text, sizeof(text), "librdkafka: %s: %s", facility, said);
	without_secrets(k, text);
	if (k->shows_log && k->silence.log.line)
		k->silence.log.line(k->silence.log.ctx, text);
	const char *thread_end = strstr(text, "]: ");
	if (level < LOG_DEBUG && thread_end && strcmp(facility, "FAIL") == 0 &&
	    strstr(text, "Disconnected"))
		silence_complaint(&k->silence, thread_end + 3, false);
}

/* RC_OK: try again. */
static int check_patience(struct kafka *k, struct error *err)
{
	int rc = silence_check(&k->silence, patience(k), err);
	if (!rc && k->stop && *k->stop)
		return error_set(err, RC_STOPPED, "stopped: the partition is given up");
	return rc ? rc : stop_check(err);
}

int kafka_wait_or_fail(struct kafka *k, rd_kafka_resp_err_t e, const char *what, struct error *err)
{
	if (!is_passing(e))
		return error_set(err, RC_IO, "topic %s: %s: %s", kafka_name(&k->job->kafka), what,
				 rd_kafka_err2str(e));
	rd_kafka_poll(k->client, 0); /* on_error knows more */
	int known = silence_check(&k->silence, DURATION_FOREVER, err);
	if (known)
		return known;
	if (!*k->silence.reason)
		snprintf(k->silence.reason, sizeof(k->silence.reason), "%s", rd_kafka_err2str(e));
	silence_begin(&k->silence, patience(k));
	for (int waited = 0; waited < 1000; waited += PAUSE_MS) {
		int rc = check_patience(k, err);
		if (rc)
			return rc;
		rd_kafka_poll(k->client, PAUSE_MS);
	}
	return RC_OK;
}

/* --- life --- */

static void forget_secrets(struct kafka *k)
{
	for (size_t i = 0; i < k->nsecrets; i++) {
		explicit_bzero(k->secrets[i], strlen(k->secrets[i]));
		mem_free(k->secrets[i]);
	}
	mem_free(k->secrets);
}

static void name_client(struct kafka *k)
{
	char host[65] = "";
	uint64_t random = 0;
	gethostname(host, sizeof(host) - 1);
	/* process 1 of two containers with one name are two */
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint64_t)(clock_seconds() * 1e9);
	snprintf(k->name, sizeof(k->name), "saltmill, process %ld on %s, %016llx", (long)getpid(),
		 host, (unsigned long long)random);
}

bool kafka_is_here(void)
{
	return true;
}

int kafka_open(struct kafka **out, const struct job *job, uint64_t memory_bytes,
	       const struct kafka_log *log, struct error *err)
{
	char why[300];
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	struct kafka *k = mem_calloc(1, sizeof(*k));
	k->job = job;
	k->mean_bytes = 64 << 10; /* small first batches, until messages were seen */
	k->patience_s = DURATION_FOREVER;
	k->silence.brokers = job->kafka.brokers;
	if (log)
		k->silence.log = *log;
	rd_kafka_conf_set_opaque(conf, k);
	rd_kafka_conf_set_error_cb(conf, on_error);
	rd_kafka_conf_set_log_cb(conf, on_log);
	rd_kafka_conf_set(conf, "log.queue", "true", NULL, 0); /* on_log is called where we poll */
	int rc = properties_each(job, memory_bytes, set_property, &(struct setting){k, conf}, err);
	if (!rc)
		k->client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof(why));
	if (!k->client) {
		rd_kafka_conf_destroy(conf);
		forget_secrets(k);
		mem_free(k);
		return rc ? rc
			  : error_set(err, RC_CONFIG, "%s:%u:%u: librdkafka: %s", job->path,
				      job->kafka.pos.line, job->kafka.pos.column, why);
	}
	rd_kafka_set_log_queue(k->client, NULL);
	k->queue = rd_kafka_queue_get_consumer(k->client);
	kafka_open_topics(k);
	name_client(k);
	*out = k;
	return RC_OK;
}

void kafka_patience(struct kafka *k, uint64_t seconds)
{
	k->patience_s = seconds;
}

void kafka_stop_by(struct kafka *k, const atomic_int *flag)
{
	k->stop = flag;
}

static void *destroy_client(void *client)
{
	rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	return NULL;
}

bool kafka_destroy_in_time(rd_kafka_t *client)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, destroy_client, client) != 0) {
		destroy_client(client);
		return true;
	}
	const struct timespec until = clock_deadline(CLOSE_S * 1000);
	bool ended = pthread_timedjoin_np(thread, NULL, &until) == 0;
	if (!ended)
		pthread_detach(thread);
	return ended;
}

void kafka_close(struct kafka *k)
{
	if (!k)
		return;
	rd_kafka_queue_destroy(k->queue);
	kafka_close_topics(k);
	if (!kafka_destroy_in_time(k->client))
		return; /* its threads may still look at *k */
	forget_secrets(k);
	ranges_release(&k->ranges);
	arena_release(&k->names);
	mem_free(k->topics);
	mem_free(k);
}

/* --- reading ranges --- */

/* The ranges that are being read, where the next message is expected. */
static rd_kafka_topic_partition_list_t *list_left(const struct kafka *k)
{
	const struct ranges *s = &k->ranges;
	rd_kafka_topic_partition_list_t *l = rd_kafka_topic_partition_list_new((int)s->count);
	for (size_t i = 0; i < s->count; i++)
		if (!s->item[i].done)
			rd_kafka_topic_partition_list_add(l,
							  kafka_topic_name(k,
									   s->item[i].range.topic),
							  s->item[i].range.partition)
				->offset = s->item[i].next;
	return l;
}

static int assign(struct kafka *k, struct error *err)
{
	rd_kafka_topic_partition_list_t *l = list_left(k);
	/*
	 * end_range's pause of an earlier reading outlives its assignment.  Behind the assignment
	 * resuming could be overtaken by librdkafka's own start of the fetch, is then taken for
	 * outdated and dropped, and nothing is ever fetched.
	 */
	if (l->cnt)
		rd_kafka_resume_partitions(k->client, l);
	rd_kafka_resp_err_t e = rd_kafka_assign(k->client, l->cnt ? l : NULL);
	rd_kafka_topic_partition_list_destroy(l);
	return e ? error_set(err, RC_IO, "topic %s: cannot begin to read: %s",
			     kafka_name(&k->job->kafka), rd_kafka_err2str(e))
		 : RC_OK;
}

int kafka_read(struct kafka *k, const struct offset_range *ranges, size_t n, struct error *err)
{
	ranges_begin(&k->ranges, ranges, n);
	return assign(k, err);
}

void kafka_taken(const struct kafka *k, struct offset_range *ranges, size_t n)
{
	for (size_t i = 0; i < n && i < k->ranges.count; i++) {
		ranges[i].events = k->ranges.item[i].range.events;
		ranges[i].last = k->ranges.item[i].range.last;
	}
}

static void end_range(struct kafka *k, struct reading_range *r)
{
	if (!ranges_end(&k->ranges, r))
		return;
	/* what stands behind the range is not to be fetched */
	rd_kafka_topic_partition_list_t *l = kafka_list(k, &r->range, 1);
	rd_kafka_pause_partitions(k->client, l);
	rd_kafka_topic_partition_list_destroy(l);
}

/* Where the partitions begin that are being read: start of each; owned by the caller. */
static int find_lows(struct kafka *k, struct offset_range **low, struct error *err)
{
	size_t n = k->ranges.count;
	*low = mem_calloc(n, sizeof(**low));
	for (size_t i = 0; i < n; i++)
		(*low)[i] = k->ranges.item[i].range;
	return kafka_list_offsets(k, RD_KAFKA_OFFSET_BEGINNING, *low, n, err);
}

/* The messages that were loaded last may be gone by now, without harm to what is to be read. */
static int miss_deleted(struct kafka *k, struct error *err)
{
	struct ranges *s = &k->ranges;
	struct offset_range *low;
	int rc = find_lows(k, &low, err);
	for (size_t i = 0; !rc && i < s->count; i++) {
		struct reading_range *r = &s->item[i];
		if (r->unchecked && r->before.offset < low[i].start)
			ranges_miss(s, r);
		if (r->next >= r->range.end)
			end_range(k, r);
	}
	mem_free(low);
	return rc;
}

/*
 * The broker has not what we ask for, or its log ends before our range does.  RC_OK: it has, after
 * all (a leader that was behind for a moment), or can do without: read on.
 */
static int lost_position(struct kafka *k, struct reading_range *r, struct error *err)
{
	int rc = r->unchecked ? miss_deleted(k, err) : RC_OK;
	struct offset_range low = r->range, high = r->range, left = r->range;
	if (rc || r->done)
		return rc ? rc : assign(k, err);
	rc = kafka_list_offsets(k, RD_KAFKA_OFFSET_END, &high, 1, err);
	if (!rc)
		rc = kafka_list_offsets(k, RD_KAFKA_OFFSET_BEGINNING, &low, 1, err);
	left.start = r->next;
	if (!rc)
		rc = kafka_check_range(k->job->kafka.topic, &left, low.start, high.start, err);
	return rc ? rc : assign(k, err);
}

/* NULL: of none that is being read. */
static struct reading_range *range_of(struct kafka *k, const rd_kafka_message_t *m)
{
	const char *topic = m->rkt && !k->job->kafka.topic ? rd_kafka_topic_name(m->rkt) : NULL;
	return ranges_find(&k->ranges, topic, m->partition);
}

static int take_error(struct kafka *k, const rd_kafka_message_t *m, struct error *err)
{
	struct reading_range *r = range_of(k, m);
	if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && r) {
		silence_end(&k->silence);
		if (m->offset >= r->range.end)
			end_range(k, r);
		else if (!r->done)
			return lost_position(k, r, err);
		return RC_OK;
	}
	if ((m->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
	     m->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) &&
	    r && !r->done)
		return lost_position(k, r, err);
	/* the group's own troubles are none of ours: nothing is asked of it but to note offsets */
	if (is_passing(m->err) ||
	    ((!r || r->done) && m->err != RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED))
		return RC_OK;
	return error_set(err, RC_IO, "%s/%d at offset %lld: %s",
			 m->rkt ? rd_kafka_topic_name(m->rkt) : kafka_name(&k->job->kafka),
			 m->partition, r ? (long long)r->next : -1, rd_kafka_message_errstr(m));
}

/* All but its headers. */
static void describe(const rd_kafka_message_t *m, struct message *out)
{
	rd_kafka_timestamp_type_t type;
	*out = (struct message){
		.partition = m->partition,
		.offset = m->offset,
		.timestamp_ms = rd_kafka_message_timestamp(m, &type),
		.key = bytes_of(m->key, m->key ? m->key_len : 0),
		.value = bytes_of(m->payload, m->payload ? m->len : 0),
	};
}

/* *keep: the message belongs to its range. */
static int take_one(struct kafka *k, const rd_kafka_message_t *m, bool *keep, uint32_t *range,
		    struct error *err)
{
	*keep = false;
	if (m->err)
		return take_error(k, m, err);
	struct reading_range *r = range_of(k, m);
	if (!r || r->done || m->offset < r->next)
		return RC_OK; /* of before an assignment or a pause */
	if (r->unchecked) {
		struct message msg;
		describe(m, &msg);
		ranges_check(&k->ranges, r, &msg);
	}
	*keep = ranges_see(&k->ranges, r, m->offset);
	if (*keep) {
		*range = (uint32_t)(r - k->ranges.item);
		k->mean_bytes += (m->len + m->key_len) / 16 - k->mean_bytes / 16;
	}
	if (m->offset + 1 >= r->range.end || k->ranges.wrong)
		end_range(k, r);
	return RC_OK;
}

static size_t batch_size(const struct kafka *k)
{
	size_t n = BATCH_BYTES / (k->mean_bytes + 32);
	return n < 4 ? 4 : n > BATCH_MOST ? BATCH_MOST : n;
}

/*
 * librdkafka before 2.2 looks at a queue that was full again after a second.  Any request wakes its
 * thread up earlier; this one's answer is not waited for.
 */
static void wake_fetcher(struct kafka *k)
{
	double now = clock_seconds();
	if (rd_kafka_version() >= 0x02020000 || k->silence.since != 0 ||
	    now - k->woken_at < 0.005 || rd_kafka_queue_length(k->queue) >= batch_size(k))
		return;
	k->woken_at = now;
	rd_kafka_topic_partition_list_t *l = list_left(k);
	for (int i = 0; i < l->cnt; i++)
		l->elems[i].offset = RD_KAFKA_OFFSET_END;
	rd_kafka_offsets_for_times(k->client, l, 0);
	rd_kafka_topic_partition_list_destroy(l);
}

/* Backwards: only the last message of each range is looked at closely. */
static void keep_last(struct kafka *k, const struct kafka_batch *b)
{
	for (size_t i = b->count; i-- > 0;) {
		const rd_kafka_message_t *m = b->messages[i];
		struct reading_range *r = &k->ranges.item[b->range[i]];
		struct message msg;
		if (r->range.last.known && m->offset <= r->range.last.offset)
			continue;
		describe(m, &msg);
		ranges_last(r, &msg);
	}
}

/* Is it the topic whose messages were loaded? */
static int settle(struct kafka *k, struct error *err)
{
	const char *topic = kafka_name(&k->job->kafka);
	char *note;
	int rc = ranges_settle(&k->ranges, topic, &note);
	if (note && !k->noted && k->silence.log.line)
		k->silence.log.line(k->silence.log.ctx, note);
	k->noted = k->noted || note;
	mem_free(note);
	if (!rc)
		return RC_OK;
	struct offset_range *low;
	rc = find_lows(k, &low, err);
	if (!rc)
		rc = ranges_refuse(&k->ranges, topic, low, err);
	mem_free(low);
	return rc;
}

int kafka_take(struct kafka *k, struct kafka_batch *b, struct error *err)
{
	kafka_batch_clear(b);
	if (k->ranges.left == 0)
		return RC_END;
	int rc = check_patience(k, err);
	if (rc)
		return rc;
	if (!b->cap) {
		b->cap = BATCH_MOST;
		b->messages = mem_alloc(b->cap * sizeof(*b->messages));
		b->range = mem_alloc(b->cap * sizeof(*b->range));
	}
	rd_kafka_poll(k->client, 0); /* on_error */
	wake_fetcher(k);
	rd_kafka_message_t **m = (rd_kafka_message_t **)b->messages;
	ssize_t n = rd_kafka_consume_batch_queue(k->queue, TAKE_MS, m, batch_size(k));
	for (ssize_t i = 0; i < n; i++) {
		bool keep = false;
		rd_kafka_message_t *one = m[i];
		if (!rc)
			rc = take_one(k, one, &keep, &b->range[b->count], err);
		if (keep)
			m[b->count++] = one;
		else
			rd_kafka_message_destroy(one);
	}
	if (b->count)
		silence_end(&k->silence);
	keep_last(k, b);
	return rc ? rc : settle(k, err);
}

/* --- messages --- */

static size_t read_headers(const rd_kafka_message_t *m, struct message_header **room, size_t *nroom)
{
	rd_kafka_headers_t *h;
	if (rd_kafka_message_headers(m, &h) != RD_KAFKA_RESP_ERR_NO_ERROR)
		return 0;
	size_t n = rd_kafka_header_cnt(h);
	if (*nroom < n) {
		*nroom = n;
		*room = mem_realloc(*room, n * sizeof(**room));
	}
	for (size_t i = 0; i < n; i++) {
		const void *value;
		size_t len;
		rd_kafka_header_get_all(h, i, &(*room)[i].name, &value, &len);
		(*room)[i].value = bytes_of(value, len);
	}
	return n;
}

void kafka_message(const struct kafka_batch *b, size_t i, bool headers, struct message *out,
		   struct message_header **room, size_t *nroom)
{
	const rd_kafka_message_t *m = b->messages[i];
	describe(m, out);
	if (headers) {
		out->nheaders = read_headers(m, room, nroom);
		out->headers = *room;
	}
}

void kafka_batch_clear(struct kafka_batch *b)
{
	for (size_t i = 0; i < b->count; i++)
		rd_kafka_message_destroy(b->messages[i]);
	b->count = 0;
}

void kafka_batch_release(struct kafka_batch *b)
{
	kafka_batch_clear(b);
	mem_free(b->messages);
	mem_free(b->range);
	*b = (struct kafka_batch){0};
}
