/*
 * new_partitions.h - partitions of a shared topic that have no state yet get one
 */
#ifndef SALTMILL_NEW_PARTITIONS_H
#define SALTMILL_NEW_PARTITIONS_H

#include "kafka.h"
#include "state.h"

/*
 * The first instance that sees them does it, with the lock of *shared.  In a new folder all begin
 * where the job says, at one moment; those that are added to the topic later begin at 0, which the
 * log tells.
 */
int new_partitions(struct shared *shared, struct kafka *client, const struct job *job,
		   const struct kafka_log *log, struct error *err);

#endif
