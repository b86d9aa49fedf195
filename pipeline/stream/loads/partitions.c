/*
 * partitions.c - several instances share a topic by the partitions that a consumer group assigns
 *
 * Each partition is a separate stream with a state folder, an intent and loads. The group assigns a
 * partition to an instance. The instance loads the partition only while it holds the lock of the
 * partition's state. The load continues at the state's position. A member that the group dropped
 * may still run (a zombie). Because of the lock, the zombie and the new owner cannot both load. The
 * new owner waits for the lock, which the kernel releases when the other process dies.
 *
 * One thread serves the group. A second thread makes the loads, one partition after the other. The
 * first thread closes revoked partitions at once, except the partition that the second thread is
 * loading. For that partition, the first thread stops the reading (kafka_stop_by), but the second
 * thread finishes a load that it already writes. After the close of all revoked partitions, the
 * member confirms the revocation. The group can then assign them again.
 */
#include "stream.h"

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
#include "room.h"
#include "state.h"

#define LOOK_MS	     200
#define TRY_MOST_MS  2000
#define SAY_FIRST_MS 2000
#define SAY_AGAIN_MS 30000

/* --- the thread that makes the loads --- */

/* Pass offsets to the member of the group, because the group rejects commits of other clients. */
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

/* End the work on the busy part. If the group revoked the part meanwhile, ignore the error. */
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
	if (rc == RC_OK)
		rc = new_partitions(&shared, s->client, s->job, &s->opt->listener, err);
	if (rc == RC_OK)
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
			"%s, the state of partition %d, no longer exists; restore it, or set a "
			"position: `saltmill seek --state %s %d=OFFSET`",
			p->dir, p->id, s->opt->state_dir, p->id);
	if (!s->opt->load->output_dir)
		return RC_OK;
	if (mkdir(p->stream.parent, 0777) < 0 && errno != EEXIST)
		return error_set(err, RC_CONFIG, "cannot create %s: %s", p->stream.parent,
				 strerror(errno));
	/*
	 * sync also an existing folder, because the run that made it may have died before the sync
	 */
	return io_sync_parent(p->stream.parent, err);
}

/* Retry the part later, because another process holds the lock and may release it at any moment. */
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
	if (rc == RC_OK) {
		p->held = true;
		stream_held(&p->stream, p->dir, true);
		rc = stream_recover(&p->stream, err);
	}
	if (rc)
		return rc;
	/* commit the position again, because the previous owner may have died before its commit */
	const struct offset_range at = {.partition = p->id, .end = in->ranges[0].start};
	return tell(s, &at, 1, err);
}

/*
 * Park the partition if the error concerns no other partition. The other partitions then continue.
 */
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
		return try_again(s, p, "the queried broker does not know this partition yet");
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
		if (rc == RC_OK)
			rc = check_member(s, err);
	}
	return rc;
}

/* List the partitions that are open or parked. The caller owns the list. */
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

/*
 * Compute the range of offsets that an open partition can load, or that a parked partition could
 * load.
 */
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

/* Count the parked partitions. The caller holds the lock, or no other thread runs. */
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
	size_t n = 0;
	int rc = RC_OK;
	struct offset_range *left = mem_calloc(t->count + 1, sizeof *left);

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; rc == RC_OK && i < t->count; i++) {
		struct part *p = share_find(s, t->partitions[i].id);

		if (!p || p->taken || !(p->stream.in.state || p->parking.parked))
			continue;
		rc = see_part(p, t, &t->partitions[i], err);
		lag += p->stream.seen.lag;
		left[n++] = (struct offset_range){.partition = p->id,
						  .start = t->partitions[i].high -
							   (int64_t)p->stream.seen.lag,
						  .end = t->partitions[i].high};
		if (p->stream.waiting_since > 0 && (since == 0 || p->stream.waiting_since < since))
			since = p->stream.waiting_since;
	}
	stream_show(s->opt->gauges, lag, since);
	stream_show_lags(s->opt->gauges, s->job, left, n);
	s->opt->gauges->parked = count_parked(s);
	pthread_mutex_unlock(&s->lock);
	mem_free(left);
	return rc;
}

static int look(struct share *s, struct error *err)
{
	size_t n;
	int32_t *ids = seen_ids(s, &n);
	struct kafka_topic t = {0};
	int rc = n ? kafka_look_at(s->client, ids, n, &t, err) : RC_OK;

	if (rc == RC_OK)
		rc = see(s, &t, err);
	kafka_topic_release(&t);
	mem_free(ids);
	return rc;
}

/* Choose a partition whose next load is due, and mark it as busy. Partitions take turns. */
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

	if (rc == RC_OK) {
		room_end(&s->full_since, &s->opt->listener);
		parking_end(&p->parking, &p->stream, p->id);
	} else if (parking_is_for(rc)) {
		rc = settle(p, rc, err);
	} else if (room_is_missing(rc, err) && state_intent(p->stream.in.state)) {
		/*
		 * the load may be in place without a record; the next opening of the state records
		 * it
		 */
		ingest_close(&p->stream.in);
	}
	return let_go(s, rc);
}

static int load_next(struct share *s, struct error *err)
{
	int rc = open_given(s, err);

	if (rc == RC_OK)
		rc = look(s, err);
	if (rc)
		return rc;
	struct part *p = next_due(s);
	if (p)
		return load_part(s, p, err);
	clock_sleep_ms(LOOK_MS);
	return RC_OK;
}

static int load_in_turns(struct share *s, struct error *err)
{
	int rc;

	while ((rc = check_member(s, err)) == RC_OK) {
		rc = load_next(s, err);
		/* no part is busy during the wait, so the group may revoke any of them */
		if (room_is_missing(rc, err))
			rc = room_wait(&s->full_since, s->job, DURATION_FOREVER, &s->opt->listener,
				       err);
		if (rc)
			break;
	}
	return rc;
}

/* --- start and end --- */

/*
 * Check that the regions have fixed borders. If each load chose regions, HBase would have to split
 * the files of all other loads.
 */
static int check_regions(const struct job *job, const struct existing_regions *live,
			 struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < job->ntables; i++) {
		const struct job_table *t = &job->tables[i];
		struct splits ignored = {0};

		if (existing_regions_table(live, i))
			continue;
		rc = regions_without_data(job, t, &ignored, NULL, err);
		splits_release(&ignored);
		if (rc == RC_END)
			rc = error_set(
				err, RC_CONFIG,
				"%s:%u:%u: table %s: `share: true` needs regions that are equal "
				"in all loads; expected `regions: {split: file}`, an algorithm "
				"with `count`, or --existing; `saltmill plan` writes the file",
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

/*
 * Run the partitions that the group assigns to this instance. Each partition is a stream with a
 * separate state below opt->state_dir (shared_state.c). All instances must have access to that
 * folder.
 */
static int share_run(const struct job *job, const struct stream_options *opt,
		     struct progress *progress, struct error *err)
{
	struct share s = {.job = job, .opt = opt, .progress = progress, .last = -1};
	int rc = check_regions(job, opt->load->live, err);

	if (rc)
		return rc;
	pthread_mutex_init(&s.lock, NULL);
	rc = kafka_open(&s.client, job, memory_topic_bytes(opt->load->common->memory_bytes),
			&opt->listener, err);
	if (rc == RC_OK) {
		kafka_stop_by(s.client, &s.stop);
		rc = take_in(&s, err);
	}
	if (rc == RC_OK)
		rc = join_group(&s, err);
	/* count again, because the stream may have parked partitions since the last cycle */
	opt->gauges->parked = count_parked(&s);
	/*
	 * Release the locks before leaving the group, so that the next owner can open the
	 * partitions. Until then this instance reports their loads.
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

int stream_run(const struct job *job, const struct stream_options *opt, struct progress *progress,
	       struct error *err)
{
	return job->kafka.share ? share_run(job, opt, progress, err)
				: stream_run_one(job, opt, progress, err);
}
