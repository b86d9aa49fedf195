/*
 * topics.h - the topics of an ingest against those of its state: new ones come in, some are gone
 */
#ifndef SALTMILL_TOPIC_TOPICS_H
#define SALTMILL_TOPIC_TOPICS_H

#include "stream.h"

/* Remember the cluster, bind the state to what the brokers have, and say what is gone since. */
int topics_bind(struct ingest *in, const struct kafka_topic *t, struct error *err);
/*
 * Give a position to each partition of a topic that the state has none of: its beginning, written
 * down, so that it is the same in the next run.  Of a state that is not new.
 */
int topics_take_in(struct ingest *in, const struct kafka_topic *t, struct error *err);
/*
 * The ranges of an intent, named as the job's are; *out is the caller's.  RC_DATA: a topic of it is
 * not there any more.
 */
int topics_of_intent(struct ingest *in, const struct kafka_topic *t, const struct state_load *l,
		     struct offset_range **out, struct error *err);

#endif
