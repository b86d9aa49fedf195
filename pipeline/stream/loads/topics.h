/*
 * topics.h - find new and deleted topics by comparing the topics of an ingest with those of its
 * state
 */
#ifndef SALTMILL_TOPIC_TOPICS_H
#define SALTMILL_TOPIC_TOPICS_H

#include "stream.h"

/*
 * Store the cluster, bind the state to the brokers' topics, and report topics that no longer exist.
 */
int topics_bind(struct ingest *in, const struct kafka_topic *t, struct error *err);
/*
 * Query the topics' ids again before the publication of a load. Return RC_DATA if somebody
 * recreated a topic after the start of the state, because the messages may belong to another topic.
 */
int topics_same(struct ingest *in, struct error *err);
/*
 * Record the ids of topics for which the state has none. Call this function after a load of these
 * topics, which has shown that they are the state's topics.
 */
int topics_adopt_ids(struct ingest *in, struct error *err);
/* Return true if the ids prove that the topics are those of the state. */
bool topics_have_ids(const struct ingest *in);
/*
 * Set the position of each new partition to its beginning, for new topics and for known topics.
 * Report and record the positions, so that the next run starts at the same offsets. The state must
 * already have a topic.
 */
int topics_take_in(struct ingest *in, const struct kafka_topic *t, struct error *err);
/*
 * Return the ranges of an intent in *out, with topics named as in the job. The caller owns *out.
 * Return RC_DATA if one of the topics no longer exists.
 */
int topics_of_intent(struct ingest *in, const struct kafka_topic *t, const struct state_load *l,
		     struct offset_range **out, struct error *err);

#endif
