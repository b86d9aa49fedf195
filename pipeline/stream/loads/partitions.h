/*
 * partitions.h - `saltmill stream` of a job with `share: true`: a topic that several instances
 * share
 */
#ifndef SALTMILL_PARTITIONS_H
#define SALTMILL_PARTITIONS_H

#include "stream.h"

/*
 * stream_run for the partitions that the group gives this instance, each a stream of its own with
 * its own state below opt->state_dir (shared_state.h), which all instances see.
 */
int share_run(const struct job *job, const struct stream_options *opt, struct progress *progress,
	      struct error *err);

#endif
