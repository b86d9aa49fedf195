/*
 * messages.c - turn ranges of topics into events, for any number of threads
 *
 * A worker takes a batch of messages under the lock and decodes it outside. The seq of an event is
 * the number of offsets in all earlier ranges, plus the event's position in its range. So the seq
 * depends neither on the worker nor on the order in which brokers deliver topics and partitions.
 */
#include "input/messages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "input/message_columns.h"
#include "kafka.h"
#include "mem.h"
#include "pool.h"
#include "replay.h"

#define REPLAY_BATCH 256
#define SHARE_BLOCK  256 /* number of offsets that a share includes or skips together */

struct messages {
	const struct job *job;
	struct kafka *kafka; /* borrowed, NULL in a replay */
	struct replay replay;
	size_t replayed; /* messages read so far; protected by the lock */
	struct decoding *decoding;
	struct offset_range *ranges;
	uint64_t *seq_base; /* one per range */
	char **names;	    /* "topic/partition" by range */
	size_t nranges;
	_Atomic uint64_t bytes_done;
	_Atomic uint64_t seen, wanted; /* messages */
	double fraction;
	struct arena arena;

	pthread_mutex_t lock; /* protects kafka and the members below */
	struct error failure; /* code 0 if none */
};

struct messages_worker {
	struct messages *all;
	struct decoder *decoder;
	struct kafka_batch batch;
	const struct message *replay; /* replay_count messages */
	size_t replay_count, replay_seq;
	struct message_header *headers;
	size_t nheaders;
	uint64_t bytes; /* bytes of the batch */
	struct source_counts counts;
	uint8_t apart[128]; /* keeps the counts of two workers in different cache lines */
};

/* Return the topic of a range. */
static const char *topic_of(const struct messages *m, size_t range)
{
	return kafka_topic_of(&m->job->kafka, m->ranges[range].topic);
}

int messages_open(struct messages **out, const struct source_options *o, struct error *err)
{
	uint64_t seq = 0;
	const struct input *in = o->input;
	const struct source_topic none = {0}, *t = in->topic ? in->topic : &none;

	if (in->nfiles > 1)
		return error_set(err, RC_CONFIG, "found %zu files, expected one rejects.jsonl",
				 in->nfiles);
	if (!in->topic && !in->nfiles)
		return error_set(err, RC_CONFIG,
				 "%s:%u:%u: found a kafka source, expected one of files, "
				 "because this command reads only files",
				 o->job->path, o->job->kafka.pos.line, o->job->kafka.pos.column);
	/* a replay has no client that has checked this */
	if (o->row_bytes && kafka_check_memory(o->job, o->row_bytes, err))
		return err->code;
	struct messages *m = mem_calloc(1, sizeof *m);
	m->job = o->job;
	m->kafka = t->client;
	m->fraction = o->fraction > 0 ? o->fraction : 1;
	m->nranges = t->nranges;
	m->ranges = arena_alloc(&m->arena, (t->nranges + 1) * sizeof *m->ranges);
	m->seq_base = arena_alloc(&m->arena, (t->nranges + 1) * sizeof *m->seq_base);
	m->names = arena_alloc(&m->arena, (t->nranges + 1) * sizeof *m->names);
	pthread_mutex_init(&m->lock, NULL);
	for (size_t i = 0; i < m->nranges; i++) {
		m->ranges[i] = t->ranges[i];
		m->seq_base[i] = seq;
		seq += (uint64_t)(m->ranges[i].end - m->ranges[i].start);
		const struct place_text name = place_text(topic_of(m, i), m->ranges[i].partition);
		m->names[i] = arena_strdup(&m->arena, name.text);
	}
	int rc = decoding_new(&m->decoding, o->job, err);
	if (rc == RC_OK && m->kafka)
		rc = kafka_read(m->kafka, m->ranges, m->nranges, err);
	else if (rc == RC_OK)
		rc = replay_open(&m->replay, in->files[0], &o->job->kafka, err);
	if (rc) {
		messages_close(m);
		return rc;
	}
	*out = m;
	return RC_OK;
}

void messages_close(struct messages *m)
{
	if (!m)
		return;
	decoding_free(m->decoding);
	replay_close(&m->replay);
	pthread_mutex_destroy(&m->lock);
	arena_release(&m->arena);
	mem_free(m);
}

const char *const *messages_columns(const struct messages *m, size_t *n)
{
	return decoding_columns(m->decoding, n);
}

const struct offset_range *messages_ranges(struct messages *m, size_t *n)
{
	if (m->kafka)
		kafka_taken(m->kafka, m->ranges, m->nranges);
	*n = m->nranges;
	return m->ranges;
}

const struct source_file *messages_files(const struct messages *m, size_t *n)
{
	*n = m->kafka ? 0 : 1;
	return &m->replay.file;
}

void messages_place(const struct messages *m, uint64_t seq, struct buf *out)
{
	size_t i = 0;

	if (!m->kafka) {
		const struct message *at = &m->replay.messages[seq];

		buf_printf(out, "%s/%d at offset %lld", at->topic, (int)at->partition,
			   (long long)at->offset);
		return;
	}
	while (i + 1 < m->nranges && m->seq_base[i + 1] <= seq)
		i++;
	buf_printf(out, "%s at offset %lld", m->names[i],
		   (long long)(m->ranges[i].start + (int64_t)(seq - m->seq_base[i])));
}

void messages_progress(const struct messages *m, uint64_t *bytes_done)
{
	*bytes_done = atomic_load_explicit(&m->bytes_done, memory_order_relaxed);
}

struct messages_worker *messages_worker_new(struct messages *m)
{
	struct messages_worker *w = mem_calloc(1, sizeof *w);

	w->all = m;
	w->decoder = decoder_new(m->decoding);
	return w;
}

void messages_worker_free(struct messages_worker *w)
{
	if (!w)
		return;
	kafka_batch_release(&w->batch);
	decoder_free(w->decoder);
	mem_free(w->headers);
	mem_free(w);
}

void messages_worker_counts(const struct messages_worker *w, struct source_counts *counts)
{
	*counts = w->counts;
}

static int take_replay(struct messages_worker *w)
{
	struct messages *m = w->all;
	size_t left = m->replay.count - m->replayed;

	w->replay = m->replay.messages + m->replayed;
	w->replay_seq = m->replayed;
	w->replay_count = left < REPLAY_BATCH ? left : REPLAY_BATCH;
	m->replayed += w->replay_count;
	return w->replay_count ? RC_OK : RC_END;
}

static int take_batch(struct messages_worker *w, struct error *err)
{
	struct messages *m = w->all;
	int rc;

	kafka_batch_clear(&w->batch);
	pthread_mutex_lock(&m->lock);
	if (m->failure.code) {
		*err = m->failure;
		rc = err->code;
	} else {
		rc = m->kafka ? kafka_take(m->kafka, &w->batch, err) : take_replay(w);
		if (rc < 0)
			m->failure = *err;
	}
	pthread_mutex_unlock(&m->lock);
	return rc;
}

static void get_message(struct messages_worker *w, size_t i, bool headers, struct message *out)
{
	if (!w->all->kafka) {
		*out = w->replay[i];
		return;
	}
	kafka_message(&w->batch, i, headers, out, &w->headers, &w->nheaders);
	out->topic = topic_of(w->all, w->batch.range[i]);
}

static uint64_t seq_of(const struct messages_worker *w, size_t i, const struct message *m)
{
	const struct messages *all = w->all;

	if (!all->kafka)
		return w->replay_seq + i;
	size_t r = w->batch.range[i];
	return all->seq_base[r] + (uint64_t)(m->offset - all->ranges[r].start);
}

static int reject_message(struct messages_worker *w, size_t i, const struct event *event,
			  const struct reject *why, const struct source_sink *sink,
			  struct error *err)
{
	struct messages *m = w->all;
	struct message full;

	w->counts.rejects++;
	if (!sink->reject)
		return RC_OK;
	get_message(w, i, true, &full);
	struct rejected rejected = {
		.file = m->kafka ? m->names[w->batch.range[i]] : m->replay.file.path,
		.offset = event->offset,
		.seq = event->seq,
		.raw = event->raw,
		.message = &full,
		.why = *why,
	};
	return sink->reject(sink->ctx, &rejected, err);
}

/*
 * Choose the first block of each range, and then each block at which the accumulated share passes a
 * whole number.
 */
static bool is_wanted(struct messages *m, const struct message *msg, int64_t first)
{
	if (!(m->fraction < 1))
		return true;
	double block = (double)((msg->offset - first) / SHARE_BLOCK);
	bool wanted = block < 1 ||
		      (uint64_t)(block * m->fraction) != (uint64_t)((block - 1) * m->fraction);
	m->seen++;
	m->wanted += wanted;
	return wanted;
}

double messages_share(const struct messages *m)
{
	return m->seen ? (double)m->wanted / (double)m->seen : 1;
}

static uint64_t message_bytes(const struct message *msg)
{
	uint64_t bytes = msg->key.len + msg->value.len;

	for (size_t i = 0; i < msg->nheaders; i++)
		bytes += msg->headers[i].value.len;
	return bytes;
}

static int refuse_large(const struct kafka_source *k, uint64_t bytes, struct reject *why)
{
	why->reason = "message_too_large";
	why->field = NULL;
	snprintf(why->detail, sizeof why->detail,
		 "found a message of %llu bytes, expected at most %llu; raise the key "
		 "`max_message` of the job",
		 (unsigned long long)bytes, (unsigned long long)k->max_message);
	return RC_DATA;
}

/* Decode a message. Return RC_END for a message without a value, which the source filters. */
static int decode(struct messages_worker *w, const struct message *msg, struct event *event,
		  struct reject *why, struct error *err)
{
	const struct kafka_source *k = &w->all->job->kafka;
	uint64_t bytes = message_bytes(msg);

	if (k->max_message && bytes > k->max_message)
		return refuse_large(k, bytes, why);
	if (msg->value.ptr || w->all->job->kafka.tombstones == TOMBSTONES_DELETE)
		return decoder_run(w->decoder, msg, &event->columns, why, err);
	if (w->all->job->kafka.tombstones == TOMBSTONES_FILTER)
		return RC_END;
	why->reason = "tombstone";
	why->field = NULL;
	snprintf(why->detail, sizeof why->detail, "found a message without a value, expected one");
	return RC_DATA;
}

static int take_message(struct messages_worker *w, size_t i, const struct source_sink *sink,
			struct error *err)
{
	struct messages *m = w->all;
	struct message msg;
	struct reject why;

	get_message(w, i, decoding_headers(m->decoding), &msg);
	w->bytes += msg.key.len + msg.value.len;
	if (!is_wanted(m, &msg, m->kafka ? m->ranges[w->batch.range[i]].start : 0))
		return RC_OK;
	w->counts.events++;
	struct event event = {.seq = seq_of(w, i, &msg),
			      .offset = (uint64_t)msg.offset,
			      .raw = msg.value};
	messages_columns(m, &event.ncolumns);
	int rc = stop_flag ? stop_check(err) : decode(w, &msg, &event, &why, err);
	if (rc == RC_END) {
		w->counts.filtered++;
		return RC_OK;
	}
	if (rc == RC_OK && sink->event)
		rc = sink->event(sink->ctx, &event, &why);
	return rc == RC_DATA ? reject_message(w, i, &event, &why, sink, err) : rc;
}

int messages_work(struct messages_worker *w, const struct source_sink *sink, struct error *err)
{
	struct messages *m = w->all;
	int rc = take_batch(w, err);

	if (rc)
		return rc;
	size_t n = m->kafka ? w->batch.count : w->replay_count;
	w->bytes = 0;
	for (size_t i = 0; rc == RC_OK && i < n; i++)
		rc = take_message(w, i, sink, err);
	kafka_batch_clear(&w->batch);
	atomic_fetch_add_explicit(&m->bytes_done, w->bytes, memory_order_relaxed);
	if (rc) {
		pthread_mutex_lock(&m->lock);
		if (!m->failure.code)
			error_set(
				&m->failure, rc,
				stop_flag
					? "stopped by a signal"
					: "the load stops because another thread could not process its messages");
		pthread_mutex_unlock(&m->lock);
	}
	return rc;
}
