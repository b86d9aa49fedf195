/*
 * loading.h - the steps of a load that its recovery repeats (inside pipeline/stream/loads only)
 */
#ifndef SALTMILL_LOADING_H
#define SALTMILL_LOADING_H

#include "stream.h"

/* Replace DIR in err by the state's folder; returns rc. */
int ingest_name_state(const struct ingest *in, int rc, struct error *err);
/*
 * Query the brokers about the job's topics; the caller releases *t. The topic must be the state's.
 */
int ingest_take_look(struct ingest *in, struct kafka_topic *t, struct error *err);
/* RC_DATA: the consumer group is ahead of ranges, so another copy of the state has loaded them. */
int ingest_check_notes(const struct ingest *in, const struct offset_range *r, size_t n,
		       struct error *err);
int ingest_check_group(struct ingest *in, struct error *err);
/* Record a published load in the state, then commit its offsets to the group. */
int ingest_record(struct ingest *in, const char *dir, const struct manifest *m, struct error *err);
/* Load ranges into dir and record them. The intent must be written, unless there is no state. */
int ingest_run(struct ingest *in, const char *name, const char *dir,
	       const struct offset_range *ranges, size_t n, struct load_result *result,
	       struct error *err);

#endif
