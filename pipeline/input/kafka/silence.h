/* silence.h - track and report how long brokers have not answered or have refused the connection */
#ifndef SALTMILL_SOURCE_SILENCE_H
#define SALTMILL_SOURCE_SILENCE_H

#include "kafka.h"

struct silence {
	struct listener listener;
	const char *brokers;
	char reason[200]; /* the last complaint */
	double since;	  /* clock_seconds; 0: brokers answer */
	double said_at;
	/* brokers that refuse the connection */
	double refused_since; /* 0: none */
	bool certain;	      /* no broken connection has this error */
	bool answered;	      /* a broker has answered at least once */
	char refusal[560];
};

/* Record that no broker answers. Reports it at once and then every 30 s, with the time limit. */
void silence_begin(struct silence *s, uint64_t patience_s);
/* Record that the awaited answer has come. */
void silence_end(struct silence *s);
/* Record that some broker answers; another one may still refuse the connection. */
void silence_heard(struct silence *s);
/* Record a complaint of librdkafka; login: a login failed. */
void silence_complaint(struct silence *s, const char *reason, bool login);
/*
 * RC_IO after patience_s (DURATION_FOREVER: never) without an answer. RC_IO also if the brokers
 * refuse the connection: at once if they never answered and the refusal is certain; after 6 s if
 * the broker may be stopping; after 60 s if they have answered before, because a starting broker
 * may refuse for a while.
 */
int silence_check(const struct silence *s, uint64_t patience_s, struct error *err);

#endif
