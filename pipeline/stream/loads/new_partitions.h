/* new_partitions.h - create the state of new partitions of a shared topic */
#ifndef SALTMILL_NEW_PARTITIONS_H
#define SALTMILL_NEW_PARTITIONS_H

#include "kafka.h"
#include "state.h"

/*
 * Add new partitions of the topic to the shared state. The caller holds the lock of *shared, so
 * only one instance adds them. In a new folder, all partitions begin at the job's `start`, which
 * the code resolves once. Later partitions begin at offset 0, and the listener gets a message.
 */
int new_partitions(struct shared *shared, struct kafka *client, const struct job *job,
		   const struct listener *listener, struct error *err);

#endif
