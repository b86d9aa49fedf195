/* new_partitions.h - create the state of partitions that were added to a shared topic */
#ifndef SALTMILL_NEW_PARTITIONS_H
#define SALTMILL_NEW_PARTITIONS_H

#include "kafka.h"
#include "state.h"

/*
 * Add new partitions of the topic to the shared state. The first instance that sees them does it;
 * it must hold the lock of *shared. In a new folder all partitions begin where the job says, at one
 * moment. Partitions added later begin at 0, and the listener gets a message.
 */
int new_partitions(struct shared *shared, struct kafka *client, const struct job *job,
		   const struct listener *listener, struct error *err);

#endif
