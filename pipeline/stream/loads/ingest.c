/*
 * ingest.c - the protocol of stream/loads/README.md 2, step by step
 *
 *   intent written -> load_run reads and writes -> "may be published" noted -> folder renamed (the
 *   commit) -> recorded in the state, intent removed -> offsets committed to the group
 *
 * After a crash before the rename, the next run reads the ranges of the intent again and writes the
 * same bytes. After a crash that follows the rename, the next run finds a folder whose manifest
 * names the load, and records the load.
 */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "io.h"
#include "loading.h"
#include "parked_places.h"
#include "room.h"
#include "topics.h"

/*
 * Limit how long a single load waits for the brokers, because a nightly run must not wait forever.
 */
#define BATCH_PATIENCE_S 300

/* Replace DIR in *err by the state's folder. The functions that set *err do not know the folder. */
int ingest_name_state(const struct ingest *in, int rc, struct error *err)
{
	static const char word[] = "--state DIR";
	struct buf b = {0};

	if (rc >= 0 || !in->state_dir || !strstr(err->msg, word))
		return rc;
	const char *from = err->msg;
	for (const char *at; (at = strstr(from, word)); from = at + strlen(word)) {
		buf_append(&b, from, (size_t)(at - from));
		buf_printf(&b, "--state %s", in->state_dir);
	}
	buf_append_str(&b, from);
	error_set(err, rc, "%.*s", (int)b.len, (const char *)b.ptr);
	buf_release(&b);
	return rc;
}

static const char *topic_of(const struct ingest *in, const struct offset_range *r)
{
	return kafka_topic_of(&in->job->kafka, r->topic);
}

/* Query the partitions of this job, even if another ingest owns the client. */
int ingest_take_look(struct ingest *in, struct kafka_topic *t, struct error *err)
{
	const struct kafka_source *k = &in->job->kafka;

	return kafka_look_at(in->client, k->partitions, k->npartitions, t, err);
}

int ingest_see(struct ingest *in, const struct kafka_topic *t, struct error *err)
{
	int rc = topics_bind(in, t, err);

	if (rc == RC_OK)
		rc = ingest_set_ranges(in, t, err);
	return ingest_name_state(in, rc, err);
}

int ingest_look(struct ingest *in, struct error *err)
{
	struct kafka_topic t;
	int rc = ingest_take_look(in, &t, err);

	if (rc)
		return rc;
	rc = ingest_see(in, &t, err);
	kafka_topic_release(&t);
	return rc;
}

/*
 * Apply rule 5 of stream/loads/README.md 1. If the group is ahead, other loads committed offsets
 * that this state lacks. If two instances load at the same speed, their offsets are equal.
 * Therefore the check also compares the instance's name in the commit.
 */
static int check_note(const struct ingest *in, const struct offset_range *r,
		      const struct group_note *note, struct error *err)
{
	const struct kafka_source *k = &in->job->kafka;
	bool ahead = note->offset > r->start;
	bool in_step = note->offset == r->start && in->claimed && !note->ours;

	if (!ahead && !in_step)
		return RC_OK;
	if (ahead && state_was_at(in->state, r->topic, r->partition, note->offset)) {
		report_to(&in->listener,
			  "%s: group %s has committed offset %lld, where this state was before "
			  "`saltmill seek`; saltmill continues at %lld and commits that",
			  place_text(topic_of(in, r), r->partition).text, k->group,
			  (long long)note->offset, (long long)r->start);
		return RC_OK;
	}
	char advice[400] = "run only one of them, or give each job its own `partitions:`";
	if (ahead)
		snprintf(
			advice, sizeof advice,
			"to continue at the group's offset: `saltmill seek --state DIR %s=%lld`; to "
			"load it again, use another `group:`",
			place_text(r->topic, r->partition).text, (long long)note->offset);
	return error_set(
		err, RC_DATA,
		"%s: group %s has committed offset %lld%s%s, this state is at %lld: another "
		"instance loads this partition with another state folder%s; nothing is lost; %s",
		place_text(topic_of(in, r), r->partition).text, k->group, (long long)note->offset,
		*note->by ? " by " : "", note->by, (long long)r->start,
		ahead ? ", or this folder is an old copy" : "", advice);
}

/* Return the positions as empty ranges. The caller owns the array. */
static struct offset_range *positions(const struct ingest *in)
{
	struct offset_range *at = mem_calloc(in->nranges + 1, sizeof *at);

	for (size_t i = 0; i < in->nranges; i++) {
		at[i] = in->ranges[i];
		at[i].end = at[i].start;
	}
	return at;
}

/*
 * Commit the positions together with the name of this instance. Group members need no name, because
 * the broker rejects commits of an old generation.
 */
static void claim(struct ingest *in)
{
	struct error err;

	if (in->claimed || in->borrowed || !in->nranges)
		return;
	struct offset_range *at = positions(in);
	in->claimed = kafka_commit(in->client, at, in->nranges, &err) == RC_OK;
	if (!in->claimed)
		report_to(&in->listener, "%s; saltmill retries before the next load", err.msg);
	mem_free(at);
}

int ingest_check_notes(const struct ingest *in, const struct offset_range *r, size_t n,
		       struct error *err)
{
	if (!in->job->kafka.group || !in->state)
		return RC_OK;
	struct group_note *notes = mem_calloc(n + 1, sizeof *notes);
	int rc = kafka_committed(in->client, r, notes, n, err);
	for (size_t i = 0; rc == RC_OK && i < n; i++)
		rc = check_note(in, &r[i], &notes[i], err);
	mem_free(notes);
	return rc;
}

int ingest_check_group(struct ingest *in, struct error *err)
{
	int rc = ingest_check_notes(in, in->ranges, in->nranges, err);

	if (rc == RC_OK && in->job->kafka.group && in->state)
		claim(in);
	return rc;
}

/*
 * Store the start of a new state, so that later runs resolve `start: latest` to the same offsets.
 */
static int keep_start(struct ingest *in, struct error *err)
{
	if (!in->state || !state_is_new(in->state))
		return RC_OK;
	struct offset_range *at = positions(in);
	int rc = state_seek(in->state, at, in->nranges, err);
	mem_free(at);
	return rc;
}

/* Pass the state's topics to the client. The client then reports a missing topic. */
static void recall_topics(const struct ingest *in)
{
	const struct state_topics *t = in->state ? state_topics(in->state) : NULL;

	for (size_t i = 0; t && i < t->n; i++)
		if (kafka_has_topic(&in->job->kafka, t->item[i].topic))
			kafka_topic_is_known(in->client, t->item[i].npartitions);
}

/*
 * Warn if the job has no group, because only the group's committed offsets reveal a copy of a
 * state.
 */
static void say_no_group(const struct ingest *in)
{
	if (in->state && !in->job->kafka.group && !in->load.common->quiet)
		report_to(&in->listener,
			  "the job names no `group:`, so saltmill cannot notice if a copy of %s, "
			  "or one restored from a backup, loads events twice; add `group: NAME` "
			  "under `kafka:`",
			  in->state_dir);
}

int ingest_open(struct ingest *in, const struct job *job, const struct load_options *load,
		const char *state_dir, const struct listener *listener, struct progress *progress,
		struct error *err)
{
	in->job = job;
	in->load = *load;
	in->listener = *listener;
	in->state_dir = state_dir;
	in->progress = progress;
	int rc = state_dir ? state_open(&in->state, state_dir, true, err) : RC_OK;
	in->borrowed = in->client != NULL;
	if (rc == RC_OK && !in->borrowed)
		rc = kafka_open(&in->client, job, memory_topic_bytes(load->common->memory_bytes),
				listener, err);
	if (rc == RC_OK && in->batch)
		kafka_patience(in->client, BATCH_PATIENCE_S);
	if (rc == RC_OK)
		recall_topics(in);
	if (rc == RC_OK)
		say_no_group(in);
	if (rc == RC_OK && in->state && state_intent(in->state))
		return RC_OK; /* ingest_recover checks the ranges of the intent itself */
	if (rc == RC_OK)
		rc = ingest_look(in, err);
	if (rc == RC_OK)
		rc = ingest_check_group(in, err);
	if (rc == RC_OK)
		rc = keep_start(in, err);
	return ingest_name_state(in, rc, err);
}

int ingest_peek(struct ingest *in, const struct job *job, size_t nfiles, uint64_t memory_bytes,
		const char *state_dir, const struct listener *listener, struct error *err)
{
	if (job->source != SOURCE_KAFKA || nfiles)
		return state_dir ? error_set(err, RC_CONFIG,
					     "--state: found a source of files, expected a "
					     "`kafka:` source")
				 : RC_OK;
	in->job = job;
	in->listener = *listener;
	in->state_dir = state_dir;
	in->looks = true;
	int rc = state_dir ? state_open(&in->state, state_dir, false, err) : RC_OK;
	if (rc == RC_OK)
		rc = kafka_open(&in->client, job, memory_topic_bytes(memory_bytes), listener, err);
	if (rc)
		return rc;
	kafka_patience(in->client, BATCH_PATIENCE_S);
	recall_topics(in);
	return ingest_look(in, err);
}

struct source_topic ingest_view(const struct ingest *in)
{
	return (struct source_topic){in->client, in->ranges, in->nranges};
}

void ingest_close(struct ingest *in)
{
	if (!in->borrowed)
		kafka_close(in->client);
	state_close(in->state);
	mem_free(in->ranges);
	mem_free(in->gone);
	*in = (struct ingest){0};
}

/* --- one load --- */

static int before_publish(void *ctx, const char *rejects, uint64_t n, struct error *err)
{
	struct ingest *in = ctx;
	/* if two instances have the same ranges, the second one fails here */
	int rc = in->borrowed ? RC_OK : ingest_check_group(in, err);

	if (rc == RC_OK)
		rc = topics_same(in, err);
	in->data_fault = rc == RC_OK;
	/* if the process dies later, the repeated load sends these rejects again */
	if (rc == RC_OK && in->job->kafka.dead_letters && n) {
		rc = kafka_send_rejects(in->client, rejects, n, err);
		crash_at("dead-letters");
	}
	return rc == RC_OK && in->state ? state_publishing(in->state, err) : rc;
}

static int unpublished(void *ctx, struct error *err)
{
	struct ingest *in = ctx;

	return in->state ? state_unpublished(in->state, err) : RC_OK;
}

/*
 * Remove the intent of a failed load. If the load's folder was visible, keep the intent. Then
 * ingest_recover finds out whether the load is in place.
 */
static void forget_intent(struct ingest *in, const struct load_result *r)
{
	struct error ignored;

	if (state_intent(in->state) && !r->was_visible)
		state_drop(in->state, &ignored);
}

static void tell_group(struct ingest *in, const struct offset_range *ranges, size_t n)
{
	struct error err;

	if (!in->job->kafka.group)
		return;
	if (in->tell ? in->tell(in->tell_ctx, ranges, n, &err)
		     : kafka_commit(in->client, ranges, n, &err))
		report_to(&in->listener,
			  "%s; the load is complete, and the next load commits "
			  "these offsets again",
			  err.msg);
	else
		crash_at("committed");
}

/* Record the load in `dir`, then commit its offsets. */
int ingest_record(struct ingest *in, const char *dir, const struct manifest *m, struct error *err)
{
	uint8_t digest[16];
	uint64_t size;
	char *path = mem_format("%s/manifest.json", dir);
	bool known = io_digest_file(path, digest, &size, err) == RC_OK;
	/* record the load even if another program has already moved the folder */
	bool there = true;
	struct error why;
	int rc = RC_OK;

	if (!known && (io_exists(path, &there, &why) || there))
		rc = err->code;
	struct state_result result = {.ranges = m->offsets,
				      .read = m->read,
				      .rejected = m->rejected,
				      .manifest = known ? digest : NULL};
	mem_free(path);
	if (rc == RC_OK)
		rc = state_published(in->state, &result, err);
	if (rc == RC_OK)
		tell_group(in, m->offsets, m->noffsets);
	return rc;
}

static struct manifest_link link_to(const struct state_load *l)
{
	struct manifest_link link = {0};

	if (!l || !l->manifest_known)
		return link;
	link.known = true;
	link.load = l->name;
	memcpy(link.digest, l->manifest, sizeof link.digest);
	return link;
}

/*
 * Load the ranges into `dir` and record the load. If there is a state, the caller has already
 * written the intent.
 */
int ingest_run(struct ingest *in, const char *name, const char *dir,
	       const struct offset_range *ranges, size_t n, struct load_result *result,
	       struct error *err)
{
	const struct source_topic topic = {in->client, ranges, n};
	struct input input = *in->load.input;
	struct load_kafka k = {.cluster = in->cluster,
			       .name = name,
			       .before_publish = before_publish,
			       .unpublished = unpublished,
			       .ctx = in};
	struct load_options opt = in->load;

	input.topic = &topic;
	opt.input = &input;
	opt.kafka = &k;
	opt.output_dir = dir;
	if (in->state)
		k.previous = link_to(state_newest(in->state));
	in->data_fault = true;
	int rc = load_run(in->job, &opt, in->progress, result, err);
	/*
	 * Without ids, the topic may be a new one with the same name. In that case the positions
	 * mean nothing.
	 */
	in->data_fault = in->data_fault && parking_is_for(rc) &&
			 (!kafka_other_message(in->client) || topics_have_ids(in));
	if (rc && in->state)
		forget_intent(in, result);
	if (rc || !in->state)
		return rc;
	rc = ingest_record(in, dir, &result->manifest, err);
	if (rc == RC_OK)
		rc = topics_adopt_ids(in, err);
	return rc ? error_prefix(err,
				 "published as %s, but not recorded (the next run records it): ",
				 dir)
		  : RC_OK;
}

/* Make `dir` absolute, because the next run may start in another working directory. */
static int absolute_dir(const char *dir, char **out, struct error *err)
{
	size_t len = strlen(dir);

	while (len > 1 && dir[len - 1] == '/')
		len--;
	char *copy = mem_format("%.*s", (int)len, dir), *slash = strrchr(copy, '/');
	const char *base = slash ? slash + 1 : copy;
	if (slash)
		*slash = 0;
	char *parent = realpath(!slash ? "." : slash == copy ? "/" : copy, NULL);
	int rc = RC_OK;
	if (!parent) {
		rc = error_errno(err, "cannot create %s: its parent folder", dir);
		err->code = rc = RC_CONFIG;
	} else {
		*out = mem_format("%s/%s", strcmp(parent, "/") ? parent : "", base);
	}
	free(parent);
	mem_free(copy);
	return rc;
}

int ingest_load(struct ingest *in, const char *dir, struct load_result *result, struct error *err)
{
	*result = (struct load_result){0};
	if (!in->state)
		return ingest_run(in, NULL, dir, in->ranges, in->nranges, result, err);
	char *full = NULL;
	const char *name = state_next_name(in->state);
	int rc = ingest_check_group(in, err);
	if (rc == RC_OK)
		rc = absolute_dir(dir, &full, err);
	if (rc == RC_OK)
		rc = state_intend(in->state, name, full, in->ranges, in->nranges, err);
	if (rc == RC_OK)
		rc = ingest_run(in, name, full, in->ranges, in->nranges, result, err);
	mem_free(full);
	return ingest_name_state(in, rc, err);
}

/* --- one load without a stream --- */

static bool same_folder(const char *full, const char *dir)
{
	char *other = NULL;
	struct error ignored;
	bool same = absolute_dir(dir, &other, &ignored) == RC_OK && strcmp(full, other) == 0;

	mem_free(other);
	return same;
}

/*
 * Load the ranges. On a full disk, wait and load the same ranges again. If a load is in place
 * without a record, record it instead.
 */
static int load_when_there_is_room(struct ingest *in, const char *output_dir,
				   struct load_result *result, struct error *err)
{
	const char *dir;
	double since = 0;
	int rc = ingest_load(in, output_dir, result, err);

	while (room_is_missing(rc, err)) {
		rc = room_wait(&since, in->job, BATCH_PATIENCE_S, &in->listener, err);
		if (rc)
			return rc;
		load_result_release(result);
		*result = (struct load_result){0};
		if (in->state && state_intent(in->state))
			rc = ingest_recover(in, &dir, result, err);
		else
			rc = ingest_load(in, output_dir, result, err);
	}
	if (rc == RC_OK)
		room_end(&since, &in->listener);
	return rc;
}

int ingest_batch(const struct job *job, const struct load_options *load, const char *state_dir,
		 const struct listener *listener, struct progress *progress,
		 struct load_result *result, struct error *err)
{
	struct ingest in = {.batch = true};
	const char *dir = NULL;
	bool done = false;

	*result = (struct load_result){0};
	if (job->kafka.share)
		return error_set(
			err, RC_CONFIG,
			"%s:%u:%u: kafka: found `share: true`, which only `saltmill stream` "
			"supports; a load reads the whole topic, or the partitions listed in `partitions`",
			job->path, job->kafka.pos.line, job->kafka.pos.column);
	int rc = ingest_open(&in, job, load, state_dir, listener, progress, err);
	if (rc == RC_OK)
		rc = ingest_recover(&in, &dir, result, err);
	if (rc == RC_OK && dir) {
		done = same_folder(dir, load->output_dir);
		if (!done) {
			report_to(&in.listener, "finished %s: %llu events", dir,
				  (unsigned long long)result->manifest.read);
			load_result_release(result);
		}
	}
	if (rc == RC_OK && !done)
		rc = ingest_end_early(&in, load->until, load->nuntil, err);
	if (rc == RC_OK && !done)
		rc = load_when_there_is_room(&in, load->output_dir, result, err);
	ingest_close(&in);
	return rc;
}
