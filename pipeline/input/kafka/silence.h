/* silence.h - track and report how long brokers do not answer or refuse the connection */
#ifndef SALTMILL_SOURCE_SILENCE_H
#define SALTMILL_SOURCE_SILENCE_H

#include "kafka.h"

struct silence {
	struct listener listener;
	const char *brokers;
	char reason[200]; /* the last complaint */
	double since;	  /* time by clock_seconds, 0 while brokers answer */
	double said_at;
	/* brokers that refuse the connection */
	double refused_since; /* 0 if none refuses */
	bool certain;	      /* true if a broken connection cannot cause this error */
	bool answered;	      /* a broker has answered at least once */
	char refusal[560];
};

/*
 * Record that no broker answers. Report the silence at once and then every 30 s, with the time
 * limit.
 */
void silence_begin(struct silence *s, uint64_t patience_s);
/* Record that the awaited answer has come. */
void silence_end(struct silence *s);
/* Record that some broker answers. Another broker may still refuse the connection. */
void silence_heard(struct silence *s);
/* Record a complaint of librdkafka. `login` is true if a login failed. */
void silence_complaint(struct silence *s, const char *reason, bool login);
/*
 * Return RC_IO after patience_s seconds without an answer, unless patience_s is DURATION_FOREVER.
 * Return RC_IO earlier if the brokers refuse the connection. The time is 0 s if they never answered
 * and the refusal is certain. It is 6 s if the broker may be stopping, and 60 s after earlier
 * answers. A starting broker may refuse for a while.
 */
int silence_check(const struct silence *s, uint64_t patience_s, struct error *err);

#endif
