/* loading.h - the steps of a load that recovery repeats after a crash (private to this folder) */
#ifndef SALTMILL_LOADING_H
#define SALTMILL_LOADING_H

#include "stream.h"

/* Replace DIR in *err by the state's folder. Return `rc`. */
int ingest_name_state(const struct ingest *in, int rc, struct error *err);
/*
 * Query the brokers about the job's topics, and check that the state has the same topics. The
 * caller releases *t.
 */
int ingest_take_look(struct ingest *in, struct kafka_topic *t, struct error *err);
/*
 * Compare the group's offsets with the ranges. Return RC_DATA if the group is ahead. In that case
 * another copy of the state has loaded the ranges.
 */
int ingest_check_notes(const struct ingest *in, const struct offset_range *r, size_t n,
		       struct error *err);
int ingest_check_group(struct ingest *in, struct error *err);
/* Record a published load in the state, then commit its offsets to the group. */
int ingest_record(struct ingest *in, const char *dir, const struct manifest *m, struct error *err);
/*
 * Load the ranges into `dir` and record the load. If there is a state, the caller has already
 * written the intent.
 */
int ingest_run(struct ingest *in, const char *name, const char *dir,
	       const struct offset_range *ranges, size_t n, struct load_result *result,
	       struct error *err);

/* Set in->ranges, which go from the positions to the ends, and in->available. */
int ingest_set_ranges(struct ingest *in, const struct kafka_topic *t, struct error *err);
/*
 * End in->ranges at the ends of the `n` given ranges. Return RC_CONFIG if one of these ends is not
 * within in->ranges.
 */
int ingest_end_early(struct ingest *in, const struct offset_range *until, size_t n,
		     struct error *err);

#endif
