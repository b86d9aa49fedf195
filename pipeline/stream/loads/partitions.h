/* partitions.h - `saltmill stream` of a job with `share: true`: several instances share a topic */
#ifndef SALTMILL_PARTITIONS_H
#define SALTMILL_PARTITIONS_H

#include "stream.h"

/*
 * Like stream_run, for the partitions that the group assigns to this instance. Each is a stream
 * with its own state below opt->state_dir (shared_state.h), which all instances can access.
 */
int share_run(const struct job *job, const struct stream_options *opt, struct progress *progress,
	      struct error *err);

#endif
