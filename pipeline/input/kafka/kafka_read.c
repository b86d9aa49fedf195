/*
 * kafka_read.c - read ranges of topics
 *
 * Partitions are assigned with explicit offsets, so there is no group membership and no rebalance.
 * A range ends when its last offset or a later one was seen, or when the broker says that the
 * partition ends at or after it. The last offset may be a transaction marker or compacted away; it
 * is never delivered then.
 *
 * A gap in the offsets is not taken for loss. A client cannot distinguish lost messages from those
 * that compaction or an aborted transaction left out. But a broker never answers a fetch below its
 * log start with later messages. It returns OFFSET_OUT_OF_RANGE, which auto.offset.reset=error
 * makes an error. So if retention, DeleteRecords or a recreated topic removes part of a range, the
 * run fails (lost_position). The broker vouches for every gap inside an answered fetch. The
 * manifest shows how many offsets had no event (end - start - events).
 *
 * No offset reveals a recreated topic that has outgrown the position, and librdkafka 2.0 gives no
 * topic id: see ranges.h.
 */
#include <string.h>
#include <time.h>

#include "kafka_client.h"
#include "clock.h"
#include "pool.h"
#include "bytes.h"

#define TAKE_MS	    20	 /* time that librdkafka waits for a full batch */
#define BATCH_MOST  4096 /* messages */
#define BATCH_BYTES (1u << 20)

/* List the unfinished ranges with the offset of their next message. */
static rd_kafka_topic_partition_list_t *list_left(const struct kafka *k)
{
	const struct ranges *s = &k->ranges;
	rd_kafka_topic_partition_list_t *l = rd_kafka_topic_partition_list_new((int)s->count);

	for (size_t i = 0; i < s->count; i++)
		if (!s->item[i].done)
			rd_kafka_topic_partition_list_add(l,
							  kafka_topic_of(&k->job->kafka,
									 s->item[i].range.topic),
							  s->item[i].range.partition)
				->offset = s->item[i].next;
	return l;
}

static int assign(struct kafka *k, struct error *err)
{
	rd_kafka_topic_partition_list_t *l = list_left(k);

	/*
	 * The pause in end_range outlives its assignment, so resume first. After the assignment,
	 * librdkafka's own start of the fetch could overtake the resume; it would be dropped as
	 * outdated, and nothing would ever be fetched.
	 */
	if (l->cnt)
		rd_kafka_resume_partitions(k->client, l);
	kafka_settle(k->client);
	rd_kafka_resp_err_t e = rd_kafka_assign(k->client, l->cnt ? l : NULL);
	rd_kafka_topic_partition_list_destroy(l);
	return e ? error_set(err, RC_IO, "topic %s: cannot start reading: %s",
			     kafka_name(&k->job->kafka), rd_kafka_err2str(e))
		 : RC_OK;
}

int kafka_read(struct kafka *k, const struct offset_range *ranges, size_t n, struct error *err)
{
	ranges_begin(&k->ranges, ranges, n);
	k->heard_at = clock_seconds();
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
	/* do not fetch what follows the range */
	rd_kafka_topic_partition_list_t *l = kafka_list(k, &r->range, 1);
	rd_kafka_pause_partitions(k->client, l);
	rd_kafka_topic_partition_list_destroy(l);
}

/* Query where the partitions begin (start of each); the caller owns *low. */
static int find_lows(struct kafka *k, struct offset_range **low, struct error *err)
{
	size_t n = k->ranges.count;

	*low = mem_calloc(n, sizeof **low);
	for (size_t i = 0; i < n; i++)
		(*low)[i] = k->ranges.item[i].range;
	return kafka_list_offsets(k, RD_KAFKA_OFFSET_BEGINNING, *low, n, err);
}

/*
 * Skip checks whose message was deleted. That message was loaded before, so its loss does no harm.
 */
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
 * Decide what to do if the broker lacks the requested offset, or its log ends before the range.
 * RC_OK: read on, because the leader lagged only for a moment, or only loaded messages are missing.
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

/* Find the range of a message; NULL: it belongs to none. */
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
	/* ignore errors of the group: it is used only to commit offsets */
	if (kafka_is_passing(m->err) ||
	    ((!r || r->done) && m->err != RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED))
		return RC_OK;
	return error_set(err, RC_IO, "%s/%d at offset %lld: %s",
			 m->rkt ? rd_kafka_topic_name(m->rkt) : kafka_name(&k->job->kafka),
			 m->partition, r ? (long long)r->next : -1, rd_kafka_message_errstr(m));
}

/* Copy everything but the headers. */
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
		return RC_OK; /* sent before an assignment or a pause */
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
 * Wake librdkafka's fetcher. Before 2.2 it checks a queue that was full only after a second. Any
 * request wakes its thread earlier; the answer to this one is ignored.
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

/* Record the last message of each range. Going backwards, only that one is examined closely. */
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

/* Check that the topic is the one whose messages were loaded. */
static int settle(struct kafka *k, struct error *err)
{
	const char *topic = kafka_name(&k->job->kafka);
	char *note;
	int rc = ranges_settle(&k->ranges, topic, &note);

	if (note && !k->noted)
		report_to(&k->silence.listener, "%s", note);
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

/*
 * Check that the topics of unfinished ranges exist if no message comes. If a topic is deleted while
 * it is read, librdkafka (at least 2.0) may report nothing forever.
 */
static int ask_what_is_left(struct kafka *k, struct error *err)
{
	const struct ranges *s = &k->ranges;
	const char *asked = NULL;
	int rc = RC_OK;

	if (clock_seconds() < k->heard_at + KAFKA_TOPICS_S)
		return RC_OK;
	for (size_t i = 0; rc == RC_OK && i < s->count; i++) {
		const char *topic = kafka_topic_of(&k->job->kafka, s->item[i].range.topic);

		if (s->item[i].done || (asked && strcmp(asked, topic) == 0))
			continue;
		asked = topic;
		rc = kafka_still_there(k, topic, err);
	}
	k->heard_at = clock_seconds();
	return rc;
}

int kafka_take(struct kafka *k, struct kafka_batch *b, struct error *err)
{
	kafka_batch_clear(b);
	if (k->ranges.left == 0)
		return RC_END;
	int rc = kafka_check_patience(k, err);
	if (rc)
		return rc;
	if (!b->cap) {
		b->cap = BATCH_MOST;
		b->messages = mem_alloc(b->cap * sizeof *b->messages);
		b->range = mem_alloc(b->cap * sizeof *b->range);
	}
	rd_kafka_poll(k->client, 0); /* runs on_error */
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
	if (n > 0)
		k->heard_at = clock_seconds();
	else if (rc == RC_OK)
		rc = ask_what_is_left(k, err);
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
	*room = mem_reserve(*room, nroom, n, sizeof **room);
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
