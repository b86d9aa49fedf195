/*
 * recover.c - finish the load that a crash interrupted
 */
#include "loading.h"

#include <string.h>

#include "io.h"
#include "topics.h"

/* Compare two ranges. Either of them may leave out its topic. */
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

/* Record a load whose folder was renamed just before the crash. */
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
			"%s is not load %s of %s, which was to be published there; move it away",
			intent->dir, intent->name, kafka_name(&in->job->kafka));
	/* made when the job named only one topic */
	for (size_t i = 0; i < m->noffsets && !in->job->kafka.topic; i++)
		if (!m->offsets[i].topic)
			m->offsets[i].topic = m->topic;
	report_to(&in->listener, "load %s was published as %s before the crash; recorded",
		  intent->name, intent->dir);
	return ingest_record(in, intent->dir, m, err);
}

static int load_again(struct ingest *in, struct load_result *result, struct error *err)
{
	const struct state_load l = *state_intent(in->state);

	report_to(&in->listener, "load %s was interrupted; its offsets are loaded again, into %s",
		  l.name, l.dir);
	/* only check that the topic is the same; new offsets come later */
	struct kafka_topic t;
	int rc = ingest_take_look(in, &t, err);
	if (rc)
		return rc;
	struct offset_range *ranges = NULL;
	rc = topics_bind(in, &t, err);
	if (rc == RC_OK)
		rc = topics_of_intent(in, &t, &l, &ranges, err);
	kafka_topic_release(&t);
	/* before_publish has no ranges yet, so stop a copy of the state here */
	if (rc == RC_OK)
		rc = ingest_check_notes(in, ranges, l.nranges, err);
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

	if (!rc && !published)
		rc = io_exists(partial, &working, err);
	if (!rc && intent->phase != STATE_READING && published)
		rc = record_published(in, manifest, result, err);
	else if (!rc && (intent->phase == STATE_READING || working))
		rc = load_again(in, result, err);
	else if (!rc)
		rc = error_set(
			err, RC_DATA,
			"load %s was about to be published as %s when the run died; found neither it "
			"nor its working folder; if it was published and moved away: `saltmill loads "
			"--state DIR --published %s`, otherwise `saltmill loads --state DIR "
			"--discard %s`, and its offsets are loaded again",
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
