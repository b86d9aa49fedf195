/*
 * silence.h - how long no broker has answered, and saying so
 */
#ifndef SALTMILL_SOURCE_SILENCE_H
#define SALTMILL_SOURCE_SILENCE_H

#include "kafka.h"

struct silence {
	struct kafka_log log;
	const char *brokers;
	char reason[200]; /* the last complaint */
	double since;     /* silence_clock; 0: they answer */
	double said_at;
};

double silence_clock(void); /* seconds, monotonic */
/* No answer: says it at once and then every 30 s. */
void silence_begin(struct silence *s);
/* An answer. */
void silence_end(struct silence *s);
/* RC_IO after patience_s (DURATION_FOREVER: never). */
int silence_check(const struct silence *s, uint64_t patience_s, struct error *err);

#endif
