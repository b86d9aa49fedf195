/* topics.h - compare the topics of an ingest with those of its state: new ones, and deleted ones */
#ifndef SALTMILL_TOPIC_TOPICS_H
#define SALTMILL_TOPIC_TOPICS_H

#include "stream.h"

/* Store the cluster, bind the state to the brokers' topics, and report topics that are gone. */
int topics_bind(struct ingest *in, const struct kafka_topic *t, struct error *err);
/*
 * Give new topics a position for each partition: its beginning. It is recorded, so that the next
 * run starts at the same place. The state must not be new.
 */
int topics_take_in(struct ingest *in, const struct kafka_topic *t, struct error *err);
/*
 * Get the ranges of an intent, with topics named as in the job; the caller owns *out. RC_DATA: one
 * of its topics no longer exists.
 */
int topics_of_intent(struct ingest *in, const struct kafka_topic *t, const struct state_load *l,
		     struct offset_range **out, struct error *err);

#endif
