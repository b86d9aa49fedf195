/*
 * new_partitions.h - partitions of a shared topic that have no state yet get one
 */
#ifndef SALTMILL_NEW_PARTITIONS_H
#define SALTMILL_NEW_PARTITIONS_H

#include "kafka.h"
#include "state.h"

/*
 * Add new partitions of the topic to the shared state.  The first instance that sees them does it,
 * and holds the lock of *shared.  In a new folder all partitions begin where the job says, at one
 * moment.  Those added later begin at 0, and the listener hears of it.
 */
int new_partitions(struct shared *shared, struct kafka *client, const struct job *job,
		   const struct listener *listener, struct error *err);

#endif
