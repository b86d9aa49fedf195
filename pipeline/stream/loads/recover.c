/*
 * recover.c - finish the load that a crash interrupted
 */
#include "loading.h"

#include <string.h>

#include "io.h"
#include "topics.h"

/* Return true if two ranges are equal. In either range, the topic may be NULL. */
static bool same_range(const struct state_topics *of, const struct offset_range *a,
		       const struct manifest *m, const struct offset_range *b)
{
	const char *intent = a->topic ? a->topic : of->unnamed ? of->item->topic : m->topic;
	const char *load = b->topic ? b->topic : m->topic;

	return place_order(intent, a->partition, load, b->partition) == 0 && a->start == b->start &&
	       a->end == b->end;
}

static bool same_ranges(const struct state_topics *of, const struct state_load *l,
			const struct manifest *m)
{
	if (!m->load || strcmp(m->load, l->name) != 0 || m->noffsets != l->nranges)
		return false;
	for (size_t i = 0; i < l->nranges; i++)
		if (!same_range(of, &l->ranges[i], m, &m->offsets[i]))
			return false;
	return true;
}

/* Record a load, if a crash came just after the rename of its folder. */
static int record_published(struct ingest *in, const char *manifest, struct load_result *result,
			    struct error *err)
{
	struct manifest *m = &result->manifest;
	const struct state_load *intent = state_intent(in->state);
	int rc = manifest_read(m, manifest, &result->arena, err);

	if (rc)
		return rc;
	if (!same_ranges(state_topics(in->state), intent, m))
		return error_set(
			err, RC_DATA,
			"%s is not the load %s of %s that the interrupted run was about to "
			"publish there; move the folder away",
			intent->dir, intent->name, kafka_name(&in->job->kafka));
	/* the job of this load named only one topic */
	for (size_t i = 0; i < m->noffsets && !in->job->kafka.topic; i++)
		if (!m->offsets[i].topic)
			m->offsets[i].topic = m->topic;
	/*
	 * the crash may have come before the rename was on disk, and a record without a folder
	 * would be wrong
	 */
	rc = io_sync_parent(intent->dir, err);
	if (rc)
		return rc;
	report_to(&in->listener,
		  "saltmill had published load %s as %s before the crash, and records it now",
		  intent->name, intent->dir);
	return ingest_record(in, intent->dir, m, err);
}

/*
 * Load the ranges of the intent again. If the interrupted run renamed its folder and back, a power
 * loss must not bring the folder back after a change of the intent. So sync the parent first.
 */
static int load_again(struct ingest *in, struct load_result *result, struct error *err)
{
	const struct state_load l = *state_intent(in->state);

	report_to(
		&in->listener,
		"an earlier run left load %s unfinished; saltmill loads its offsets again, into %s",
		l.name, l.dir);
	/* This query only checks that the topic is the same. A later query gets the offsets. */
	struct kafka_topic t;
	int rc = ingest_take_look(in, &t, err);
	if (rc)
		return rc;
	struct offset_range *ranges = NULL;
	rc = topics_bind(in, &t, err);
	if (rc == RC_OK)
		rc = topics_of_intent(in, &t, &l, &ranges, err);
	kafka_topic_release(&t);
	/*
	 * If this is a copy of the state, stop here. before_publish has no ranges yet and cannot
	 * check this.
	 */
	if (rc == RC_OK)
		rc = ingest_check_notes(in, ranges, l.nranges, err);
	if (rc == RC_OK && l.phase != STATE_READING)
		rc = io_sync_parent(l.dir, err);
	/* from now on, a cleanup may remove the working folder */
	if (rc == RC_OK)
		rc = state_unpublished(in->state, err);
	if (rc == RC_OK)
		rc = ingest_run(in, l.name, l.dir, ranges, l.nranges, result, err);
	mem_free(ranges);
	return rc;
}

static int finish_intent(struct ingest *in, struct load_result *result, struct error *err)
{
	const struct state_load *intent = state_intent(in->state);
	char *manifest = mem_format("%s/manifest.json", intent->dir);
	char *partial = mem_format("%s" STAGING_SUFFIX, intent->dir);
	bool published = false, working = false;
	int rc = io_exists(manifest, &published, err);

	if (rc == RC_OK && !published)
		rc = io_exists(partial, &working, err);
	if (rc == RC_OK && intent->phase != STATE_READING && published)
		rc = record_published(in, manifest, result, err);
	else if (rc == RC_OK && (intent->phase == STATE_READING || working))
		rc = load_again(in, result, err);
	else if (rc == RC_OK)
		rc = error_set(
			err, RC_DATA,
			"the run died at the publication of load %s as %s: found neither that "
			"folder nor its partial folder, expected one of them; if somebody moved "
			"the load away, run `saltmill loads --state DIR --published %s`; "
			"otherwise run `saltmill loads --state DIR --discard %s` to load its "
			"offsets again",
			intent->name, intent->dir, intent->name, intent->name);
	mem_free(manifest);
	mem_free(partial);
	return rc;
}

int ingest_recover(struct ingest *in, const char **dir, struct load_result *result,
		   struct error *err)
{
	*result = (struct load_result){0};
	*dir = NULL;
	if (!in->state || !state_intent(in->state))
		return RC_OK;
	*dir = state_intent(in->state)->dir;
	int rc = finish_intent(in, result, err);
	if (rc == RC_OK)
		rc = ingest_look(in, err);
	if (rc == RC_OK)
		rc = ingest_check_group(in, err);
	return ingest_name_state(in, rc, err);
}
