/*
 * partitions.c - several instances share a topic by the partitions that a consumer group assigns
 *
 * Each partition is a stream of its own: state folder, intent, loads. The group only says who
 * should have a partition. The lock of its state decides who has it, and its position says where to
 * continue. So a member that was dropped but lives (a zombie) and the new owner cannot both load.
 * The new owner waits for the lock, which the kernel releases when the other one dies.
 *
 * There are two threads: one serves the group, the other makes the loads, one partition after the
 * other. The first closes revoked partitions at once, unless the other is busy with one. Then
 * reading stops (kafka_stop_by), but a load that is being written is finished. The group learns of
 * the revocation, and assigns the partitions again, only when all of them are closed.
 */
#include "partitions.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "pool.h"
#include "pass.h"
#include "kafka.h"
#include "group_parts.h"
#include "new_partitions.h"
#include "state.h"

#define LOOK_MS	     200
#define TRY_MOST_MS  2000
#define SAY_FIRST_MS 2000
#define SAY_AGAIN_MS 30000

/* --- the thread that makes the loads --- */

/* Pass offsets to the member, because the group rejects commits of any other client. */
static int tell(void *ctx, const struct offset_range *ranges, size_t n, struct error *err)
{
	struct share *s = ctx;

	(void)err;
	member_note(s->member, ranges, n);
	return RC_OK;
}

static int check_member(struct share *s, struct error *err)
{
	pthread_mutex_lock(&s->lock);
	int rc = s->rc;
	if (rc)
		*err = s->err;
	pthread_mutex_unlock(&s->lock);
	return rc ? rc : stop_check(err);
}

/* End the work on the busy part. If it was revoked meanwhile, that is not an error. */
static int let_go(struct share *s, int rc)
{
	pthread_mutex_lock(&s->lock);
	if (rc == RC_STOPPED && !stop_flag && s->busy->taken)
		rc = RC_OK;
	s->busy = NULL;
	if (!s->rc)
		s->stop = 0;
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static int take_in(struct share *s, struct error *err)
{
	struct shared shared;
	int64_t say_ms = clock_ms() + SAY_FIRST_MS;
	int rc;

	while ((rc = shared_open(&shared, s->opt->state_dir, true, err)) == RC_BUSY) {
		shared_close(&shared);
		if (clock_ms() > say_ms) {
			report_to(&s->opt->listener, "%s", err->msg);
			say_ms = clock_ms() + SAY_AGAIN_MS;
		}
		rc = check_member(s, err);
		if (rc)
			return rc;
		clock_sleep_ms(TRY_AGAIN_MS);
	}
	if (!rc)
		rc = new_partitions(&shared, s->client, s->job, &s->opt->listener, err);
	if (!rc)
		s->known = shared.topic.npartitions;
	shared_close(&shared);
	return rc;
}

static int check_folder(struct share *s, const struct part *p, struct error *err)
{
	bool there;
	int rc = io_exists(p->dir, &there, err);

	if (rc)
		return rc;
	if (!there)
		return error_set(
			err, RC_DATA,
			"%s, the state of partition %d, is gone; restore it, or set a position: "
			"`saltmill seek --state %s %d=OFFSET`",
			p->dir, p->id, s->opt->state_dir, p->id);
	if (!s->opt->load->output_dir)
		return RC_OK;
	if (mkdir(p->stream.parent, 0777) == 0)
		return io_sync_parent(p->stream.parent, err);
	if (errno != EEXIST)
		return error_set(err, RC_CONFIG, "cannot create %s: %s", p->stream.parent,
				 strerror(errno));
	return RC_OK;
}

/* Retry later: another process has the lock, and may release it at any moment. */
static int try_again(struct share *s, struct part *p, const char *why)
{
	if (p->delay_ms > TRY_AGAIN_MS && clock_ms() >= p->say_ms) {
		p->say_ms = clock_ms() + SAY_AGAIN_MS;
		report_to(&s->opt->listener, "partition %d waits: %s", p->id, why);
	}
	p->try_ms = clock_ms() + p->delay_ms;
	p->delay_ms = 2 * p->delay_ms < TRY_MOST_MS ? 2 * p->delay_ms : TRY_MOST_MS;
	return RC_OK;
}

static int open_state(struct share *s, struct part *p, struct error *err)
{
	struct ingest *in = &p->stream.in;
	int rc = check_folder(s, p, err);

	if (rc)
		return rc;
	*in = (struct ingest){.client = s->client, .tell = tell, .tell_ctx = s};
	rc = ingest_open(in, &p->job, s->opt->load, p->dir, &s->opt->listener, s->progress, err);
	if (rc == RC_BUSY) {
		ingest_close(in);
		return try_again(s, p, err->msg);
	}
	if (!rc) {
		p->held = true;
		stream_held(&p->stream, p->dir, true);
		rc = stream_recover(&p->stream, err);
	}
	if (rc)
		return rc;
	/* the previous owner may not have committed */
	const struct offset_range at = {.partition = p->id, .end = in->ranges[0].start};
	return tell(s, &at, 1, err);
}

/* Park the partition if the error concerns only it, so that the others continue. */
static int settle(struct part *p, int rc, const struct error *err)
{
	if (parking_is_for(rc))
		parking_put(&p->parking, &p->stream, p->dir, p->id, err->msg);
	else if (rc)
		ingest_close(&p->stream.in);
	return parking_is_for(rc) ? RC_OK : rc;
}

static int open_part(struct share *s, struct part *p, struct error *err)
{
	int rc = p->id < s->known ? RC_OK : take_in(s, err);

	if (rc)
		return rc;
	if (p->id >= s->known)
		return try_again(s, p, "the queried broker does not know it yet");
	return settle(p, open_state(s, p, err), err);
}

static bool is_to_open(struct part *p)
{
	return !p->taken && !p->stream.in.state && p->try_ms <= clock_ms() &&
	       parking_may_try(&p->parking, p->dir);
}

static int open_given(struct share *s, struct error *err)
{
	int rc = RC_OK;

	for (int32_t id = 0; rc == RC_OK; id++) {
		pthread_mutex_lock(&s->lock);
		struct part *p = s->parts;
		while (p && (p->id < id || !is_to_open(p)))
			p = p->next;
		s->busy = p;
		pthread_mutex_unlock(&s->lock);
		if (!p)
			return RC_OK;
		id = p->id;
		rc = let_go(s, open_part(s, p, err));
		if (!rc)
			rc = check_member(s, err);
	}
	return rc;
}

/* List the partitions that are open or parked; the caller owns the list. */
static int32_t *seen_ids(struct share *s, size_t *n)
{
	pthread_mutex_lock(&s->lock);
	int32_t *ids = mem_calloc(share_count(s) + 1, sizeof *ids);
	*n = 0;
	for (const struct part *p = s->parts; p; p = p->next)
		if ((p->stream.in.state || p->parking.parked) && !p->taken)
			ids[(*n)++] = p->id;
	pthread_mutex_unlock(&s->lock);
	return ids;
}

/* Compute what an open partition can load, or what a parked one could. */
static int see_part(struct part *p, const struct kafka_topic *t, struct kafka_partition *at,
		    struct error *err)
{
	struct kafka_topic one = *t;
	struct stream *st = &p->stream;

	one.partitions = at;
	one.count = 1;
	int rc = st->in.state ? settle(p, ingest_see(&st->in, &one, err), err) : RC_OK;
	if (rc)
		return rc;
	if (!st->in.state) {
		int64_t from = p->parking.position >= 0 ? p->parking.position : at->low;

		st->seen.lag = at->high > from ? (uint64_t)(at->high - from) : 0;
		return RC_OK;
	}
	st->seen.lag = st->in.available;
	if (!st->in.available)
		parking_end(&p->parking, st, p->id);
	stream_note(st);
	return RC_OK;
}

/* The caller holds the lock, or no other thread runs. */
static uint64_t count_parked(const struct share *s)
{
	uint64_t n = 0;

	for (const struct part *p = s->parts; p; p = p->next)
		n += !p->taken && p->parking.parked;
	return n;
}

static int see(struct share *s, const struct kafka_topic *t, struct error *err)
{
	uint64_t lag = 0;
	double since = 0;
	int rc = RC_OK;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; rc == RC_OK && i < t->count; i++) {
		struct part *p = share_find(s, t->partitions[i].id);

		if (!p || p->taken || !(p->stream.in.state || p->parking.parked))
			continue;
		rc = see_part(p, t, &t->partitions[i], err);
		lag += p->stream.seen.lag;
		if (p->stream.waiting_since > 0 && (since == 0 || p->stream.waiting_since < since))
			since = p->stream.waiting_since;
	}
	stream_show(s->opt->gauges, lag, since);
	const struct offset_range all = {.end = (int64_t)lag};
	stream_show_topics(s->opt->gauges, s->job, &all, 1);
	s->opt->gauges->parked = count_parked(s);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static int look(struct share *s, struct error *err)
{
	size_t n;
	int32_t *ids = seen_ids(s, &n);
	struct kafka_topic t = {0};
	int rc = n ? kafka_look_at(s->client, ids, n, &t, err) : RC_OK;

	if (!rc)
		rc = see(s, &t, err);
	kafka_topic_release(&t);
	mem_free(ids);
	return rc;
}

/* Choose in turns a partition whose cut is due and mark it as busy. */
static struct part *next_due(struct share *s)
{
	struct part *found = NULL;

	pthread_mutex_lock(&s->lock);
	for (int round = 0; round < 2 && !found; round++)
		for (struct part *p = s->parts; p && !found; p = p->next)
			if ((p->id > s->last) == (round == 0) && p->stream.in.state && !p->taken &&
			    stream_is_due(&p->stream))
				found = p;
	s->busy = found;
	if (found)
		s->last = found->id;
	pthread_mutex_unlock(&s->lock);
	return found;
}

static int load_part(struct share *s, struct part *p, struct error *err)
{
	int rc = stream_load_cut(&p->stream, err);

	if (!rc)
		parking_end(&p->parking, &p->stream, p->id);
	else if (parking_is_for(rc))
		rc = settle(p, rc, err);
	return let_go(s, rc);
}

static int load_in_turns(struct share *s, struct error *err)
{
	int rc;

	while ((rc = check_member(s, err)) == RC_OK) {
		rc = open_given(s, err);
		if (!rc)
			rc = look(s, err);
		if (rc)
			break;
		struct part *p = next_due(s);
		if (p)
			rc = load_part(s, p, err);
		else
			clock_sleep_ms(LOOK_MS);
		if (rc)
			break;
	}
	return rc;
}

/* --- life --- */

/* Require fixed regions. If each load chose its own, HBase would split the files of all others. */
static int check_regions(const struct job *job, const struct existing_regions *live,
			 struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < job->ntables; i++) {
		const struct job_table *t = &job->tables[i];
		struct splits ignored = {0};

		if (existing_regions_table(live, i))
			continue;
		rc = regions_without_data(&t->regions, &ignored, err);
		splits_release(&ignored);
		if (rc == RC_END)
			rc = error_set(
				err, RC_CONFIG,
				"%s:%u:%u: table %s: with `share: true` every load would choose its own "
				"regions; expected the same regions for all: `regions: {split: file}`, an "
				"algorithm with `count`, or --existing (`saltmill plan` writes the file)",
				job->path, t->regions.pos.line, t->regions.pos.column,
				t->schema.name);
	}
	return rc;
}

static int join_group(struct share *s, struct error *err)
{
	const struct member_calls calls = {share_given, share_taken, s};
	pthread_t thread;
	int rc = member_open(&s->member, s->job, &calls, &s->opt->listener, err);

	if (rc)
		return rc;
	if (pthread_create(&thread, NULL, share_serve_group, s) != 0)
		return error_set(err, RC_IO, "cannot start a thread");
	rc = load_in_turns(s, err);
	pthread_mutex_lock(&s->lock);
	s->leaving = true;
	pthread_mutex_unlock(&s->lock);
	pthread_join(thread, NULL);
	if (s->rc)
		*err = s->err;
	return s->rc ? s->rc : rc;
}

int share_run(const struct job *job, const struct stream_options *opt, struct progress *progress,
	      struct error *err)
{
	struct share s = {.job = job, .opt = opt, .progress = progress, .last = -1};
	int rc = check_regions(job, opt->load->live, err);

	if (rc)
		return rc;
	pthread_mutex_init(&s.lock, NULL);
	rc = kafka_open(&s.client, job, memory_topic_bytes(opt->load->common->memory_bytes),
			&opt->listener, err);
	if (!rc) {
		kafka_stop_by(s.client, &s.stop);
		rc = take_in(&s, err);
	}
	if (!rc)
		rc = join_group(&s, err);
	opt->gauges->parked = count_parked(&s); /* includes partitions parked since the last look */
	/*
	 * release the locks before leaving the group, so that the next owner finds the partitions
	 * free; until then their loads are ours to report
	 */
	while (s.parts) {
		struct part *p = s.parts;

		s.parts = p->next;
		p->held = false;
		share_part_free(p);
	}
	member_close(s.member);
	kafka_close(s.client);
	pthread_mutex_destroy(&s.lock);
	return rc;
}
