/*
 * kafka_read.c - read the messages of the load's ranges from the brokers
 *
 * The client assigns partitions with explicit offsets, so there is no group membership and no
 * rebalance. A range ends at its last offset or at a later offset. It also ends when the broker
 * reports the end of the partition at or after the last offset. If the last offset is a transaction
 * marker, or if compaction removed it, it never arrives.
 *
 * A gap in the offsets does not count as a loss. A client cannot distinguish lost messages from
 * those that compaction or an aborted transaction left out. But a broker never answers a fetch
 * below its log start with later messages. It returns OFFSET_OUT_OF_RANGE, which
 * auto.offset.reset=error makes an error. So if retention, DeleteRecords or a recreated topic
 * removes part of a range, the run fails (lost_position). A gap inside an answered fetch is
 * therefore no loss. The manifest shows how many offsets had no event (end - start - events).
 *
 * Offsets cannot reveal a recreated topic that is longer than the position, and librdkafka 2.0 has
 * no call for topic ids (see ranges.h).
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "kafka_client.h"
#include "clock.h"
#include "pool.h"
#include "bytes.h"

#define TAKE_MS	    20	 /* time that librdkafka waits for a full batch */
#define BATCH_MOST  4096 /* messages */
#define BATCH_BYTES (1u << 20)
#define DAMAGE_S    20 /* time to find the end of a damaged batch */
#define PROBE_S	    2  /* seconds of DAMAGE_S for one fetch */

/* List the unfinished ranges with the offsets of their next messages. */
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
	 * The pause in end_range outlives its assignment, so resume before the next assignment. A
	 * resume after the assignment could come later than librdkafka's own start of the fetch.
	 * librdkafka then drops that start as outdated and never fetches.
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
	k->damage = (struct damage){0};
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
	/* do not fetch messages after the range */
	rd_kafka_topic_partition_list_t *l = kafka_list(k, &r->range, 1);
	rd_kafka_pause_partitions(k->client, l);
	rd_kafka_topic_partition_list_destroy(l);
}

/* Query the first offset of each partition. The caller owns `*low`. */
static int find_lows(struct kafka *k, struct offset_range **low, struct error *err)
{
	size_t n = k->ranges.count;

	*low = mem_calloc(n, sizeof **low);
	for (size_t i = 0; i < n; i++)
		(*low)[i] = k->ranges.item[i].range;
	return kafka_list_offsets(k, RD_KAFKA_OFFSET_BEGINNING, *low, n, err);
}

/*
 * Skip the check of a range if its message no longer exists. An earlier load has the message, so
 * the load loses no data.
 */
static int miss_deleted(struct kafka *k, struct error *err)
{
	struct ranges *s = &k->ranges;
	struct offset_range *low;
	int rc = find_lows(k, &low, err);

	for (size_t i = 0; rc == RC_OK && i < s->count; i++) {
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
 * Handle a broker that lacks the requested offset, or whose log ends before the range. Return RC_OK
 * to continue, because the leader only lagged for a moment or only loaded messages are missing.
 */
static int lost_position(struct kafka *k, struct reading_range *r, struct error *err)
{
	int rc = r->unchecked ? miss_deleted(k, err) : RC_OK;
	struct offset_range low = r->range, high = r->range, left = r->range;

	if (rc || r->done)
		return rc ? rc : assign(k, err);
	rc = kafka_list_offsets(k, RD_KAFKA_OFFSET_END, &high, 1, err);
	if (rc == RC_OK)
		rc = kafka_list_offsets(k, RD_KAFKA_OFFSET_BEGINNING, &low, 1, err);
	left.start = r->next;
	if (rc == RC_OK)
		rc = kafka_check_range(k->job->kafka.topic, &left, low.start, high.start, err);
	return rc ? rc : assign(k, err);
}

/* Find the range of a message. Return NULL if no range contains the message. */
static struct reading_range *range_of(struct kafka *k, const rd_kafka_message_t *m)
{
	const char *topic = m->rkt && !k->job->kafka.topic ? rd_kafka_topic_name(m->rkt) : NULL;

	return ranges_find(&k->ranges, topic, m->partition);
}

/* --- damaged batches --- */

static bool is_damage(rd_kafka_resp_err_t e)
{
	return e == RD_KAFKA_RESP_ERR__BAD_MSG || e == RD_KAFKA_RESP_ERR__BAD_COMPRESSION ||
	       e == RD_KAFKA_RESP_ERR_INVALID_MSG || e == RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED;
}

static void note_damage(struct kafka *k, struct reading_range *r, const rd_kafka_message_t *m)
{
	struct damage *d = &k->damage;

	if (d->range)
		return;
	*d = (struct damage){.range = r, .from = r->next, .to = -1};
	if (d->from < m->offset && m->offset < r->range.end)
		d->from = m->offset;
	snprintf(d->why, sizeof d->why, "%s", rd_kafka_message_errstr(m));
}

enum probe { READABLE, DAMAGED, SILENT };

/* Drop all fetched messages, so that no old message counts as the answer for another offset. */
static void drain(struct kafka *k)
{
	rd_kafka_message_t *m = NULL;

	rd_kafka_assign(k->client, NULL);
	kafka_settle(k->client);
	while (rd_kafka_consume_batch_queue(k->queue, 0, &m, 1) == 1)
		rd_kafka_message_destroy(m);
}

/* Wait for the partition's first answer to a fetch from an offset. */
static enum probe wait_for_answer(struct kafka *k, int64_t offset, double until, int64_t *found)
{
	const struct reading_range *r = k->damage.range;
	struct error ignored;
	enum probe answer = SILENT;

	while (answer == SILENT && clock_seconds() < until && !kafka_check_patience(k, &ignored)) {
		rd_kafka_message_t *m = NULL;

		rd_kafka_poll(k->client, 0); /* runs on_error */
		if (rd_kafka_consume_batch_queue(k->queue, TAKE_MS, &m, 1) != 1)
			continue;
		if (range_of(k, m) == r && is_damage(m->err))
			answer = DAMAGED;
		else if (range_of(k, m) == r && m->offset >= offset &&
			 (!m->err || m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF))
			answer = READABLE;
		*found = m->offset;
		rd_kafka_message_destroy(m);
	}
	return answer;
}

/*
 * Find out whether the broker can deliver the partition from an offset. Set `*found` to the offset
 * of the message there. A fetch may stall while librdkafka waits after an error, so start the fetch
 * again.
 */
static enum probe probe(struct kafka *k, int64_t offset, double until, int64_t *found)
{
	enum probe answer = SILENT;
	rd_kafka_topic_partition_list_t *l = kafka_list(k, &k->damage.range->range, 1);

	l->elems[0].offset = offset;
	while (answer == SILENT && clock_seconds() < until && !stop_flag) {
		drain(k);
		rd_kafka_resume_partitions(k->client, l);
		kafka_settle(k->client);
		rd_kafka_assign(k->client, l);
		answer = wait_for_answer(k, offset, clock_seconds() + PROBE_S, found);
	}
	rd_kafka_topic_partition_list_destroy(l);
	return answer;
}

/*
 * Find the end of the damaged batch. librdkafka does not report the end, but each offset of the
 * batch gives the same error. So try offsets at growing distances, then bisect.
 */
static void find_end(struct kafka *k)
{
	struct damage *d = &k->damage;
	struct offset_range end = d->range->range;
	struct error ignored;
	double until = clock_seconds() + DAMAGE_S;
	int64_t bad = d->from, good, found;

	if (kafka_list_offsets(k, RD_KAFKA_OFFSET_END, &end, 1, &ignored))
		return;
	good = end.start;
	for (int64_t step = 1; bad + 1 < good || d->to < 0;) {
		int64_t at = step && bad + step < good ? bad + step : bad + (good - bad + 1) / 2;
		enum probe answer = probe(k, at, until, &found);

		if (answer == SILENT)
			return;
		if (answer == DAMAGED && at >= good)
			return;
		if (answer == READABLE) {
			good = at;
			d->to = found;
			step = 0;
		} else {
			bad = at;
			step *= 2;
		}
	}
	/* be certain, because a user who skips to a later offset loses messages */
	if (probe(k, bad, until, &found) != DAMAGED || probe(k, good, until, &found) != READABLE ||
	    found != d->to)
		d->to = -1;
}

/*
 * Explain a damaged batch. Return RC_OK to read on, if only messages before the range are damaged,
 * because earlier loads have them.
 */
static int judge_damage(struct kafka *k, struct error *err)
{
	struct damage *d = &k->damage;
	struct offset_range *r = d->range ? &d->range->range : NULL;
	struct buf b = {0};

	if (!r)
		return RC_OK;
	struct offset_range *found = &k->damage_found;
	if (place_order(found->topic, found->partition, r->topic, r->partition) == 0 &&
	    d->from >= found->start && d->from < found->end)
		d->to = found->end;
	else
		find_end(k);
	*found = (struct offset_range){r->topic, r->partition, .start = d->from, .end = d->to};
	if (d->to >= 0 && d->to <= r->start) {
		ranges_miss(&k->ranges, d->range);
		if (d->range->next >= r->end)
			end_range(k, d->range);
		d->range = NULL;
		return assign(k, err);
	}
	d->from = d->from < r->start ? r->start : d->from;
	const struct place_text to = place_text(r->topic, r->partition);
	buf_printf(&b,
		   "%s at offset %lld: found a damaged batch on the brokers (%s), expected a "
		   "valid batch",
		   place_text(kafka_topic_of(&k->job->kafka, r->topic), r->partition).text,
		   (long long)d->from, d->why);
	if (d->from > r->start)
		buf_printf(&b,
			   "; `saltmill load --until %s=%lld` loads the messages before the "
			   "batch",
			   to.text, (long long)d->from);
	if (d->to >= 0)
		buf_printf(&b,
			   "; the next batch begins at offset %lld, and `saltmill seek --state "
			   "DIR %s=%lld` skips the damaged batch",
			   (long long)d->to, to.text, (long long)d->to);
	error_set(err, RC_DATA, "%.*s", (int)b.len, (const char *)b.ptr);
	buf_release(&b);
	return RC_DATA;
}

bool kafka_other_message(const struct kafka *k)
{
	return k->ranges.wrong > 0;
}

bool kafka_damaged(const struct kafka *k, int64_t *from)
{
	*from = k->damage.from;
	return k->damage.range != NULL;
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
	if (is_damage(m->err) && r && !r->done) {
		note_damage(k, r, m);
		return RC_OK;
	}
	/* ignore errors of the group; the client needs the group only to commit offsets */
	if (kafka_is_passing(m->err) ||
	    ((!r || r->done) && m->err != RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED))
		return RC_OK;
	return error_set(err, RC_IO, "%s/%d at offset %lld: %s",
			 m->rkt ? rd_kafka_topic_name(m->rkt) : kafka_name(&k->job->kafka),
			 m->partition, r ? (long long)r->next : -1, rd_kafka_message_errstr(m));
}

/* Describe a message without its headers. */
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

/* Handle one message. Set `*keep` if the message belongs to a range. */
static int take_one(struct kafka *k, const rd_kafka_message_t *m, bool *keep, uint32_t *range,
		    struct error *err)
{
	*keep = false;
	if (m->err)
		return take_error(k, m, err);
	struct reading_range *r = range_of(k, m);
	if (!r || r->done || m->offset < r->next)
		return RC_OK; /* the broker sent this message before an assignment or a pause */
	if (k->damage.range == r)
		return RC_OK;
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

	return n < 1 ? 1 : n > BATCH_MOST ? BATCH_MOST : n;
}

/*
 * Wake librdkafka's fetcher. Before 2.2 the fetcher checks a full queue again only after a second.
 * Any request wakes its thread earlier, so the caller ignores the answer to this request.
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

/*
 * Record the last message of each range. The loop goes backwards, so it examines only that message
 * closely.
 */
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

/* Check that nobody has recreated the topic since the load of its messages. */
static int settle(struct kafka *k, struct error *err)
{
	const char *topic = kafka_name(&k->job->kafka);
	char *note;
	int rc = ranges_settle(&k->ranges, topic, &note);

	if (note && !k->noted)
		report_to(&k->silence.listener, "%s", note);
	k->noted = k->noted || note;
	mem_free(note);
	if (rc == RC_OK)
		return RC_OK;
	struct offset_range *low;
	rc = find_lows(k, &low, err);
	if (rc == RC_OK)
		rc = ranges_refuse(&k->ranges, topic, low, err);
	mem_free(low);
	return rc;
}

/*
 * Check that the topics of unfinished ranges exist, if no message comes. If somebody deletes a
 * topic during a read, librdkafka (at least 2.0) may never report the deletion.
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
	rd_kafka_poll(k->client, 0); /* run on_error */
	wake_fetcher(k);
	rd_kafka_message_t **m = (rd_kafka_message_t **)b->messages;
	ssize_t n = rd_kafka_consume_batch_queue(k->queue, TAKE_MS, m, batch_size(k));
	for (ssize_t i = 0; i < n; i++) {
		bool keep = false;
		rd_kafka_message_t *one = m[i];

		if (rc == RC_OK)
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
	if (rc == RC_OK)
		rc = judge_damage(k, err);
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
