/*
 * silence.h - how long no broker has answered, or none would have us, and saying so
 */
#ifndef SALTMILL_SOURCE_SILENCE_H
#define SALTMILL_SOURCE_SILENCE_H

#include "kafka.h"

struct silence {
	struct listener listener;
	const char *brokers;
	char reason[200]; /* the last complaint */
	double since;	  /* clock_seconds; 0: they answer */
	double said_at;
	/* brokers that will not have us */
	double refused_since; /* 0: none */
	bool certain;	      /* no broken connection looks like it */
	bool answered;	      /* some broker, ever */
	char refusal[560];
};

/* No answer: says it at once and then every 30 s, and until when that goes on. */
void silence_begin(struct silence *s, uint64_t patience_s);
/* What was waited for has come. */
void silence_end(struct silence *s);
/* Some broker answers, which tells nothing of another one that refuses us. */
void silence_heard(struct silence *s);
/* A complaint of librdkafka's; login: that one failed. */
void silence_complaint(struct silence *s, const char *reason, bool login);
/*
 * RC_IO after patience_s (DURATION_FOREVER: never) without an answer.  RC_IO, too, when the brokers
 * refuse us: at once when they never answered and it is certain; soon when it may be a broker that
 * is being stopped; later when they have answered before, for one that starts may refuse for a
 * while.
 */
int silence_check(const struct silence *s, uint64_t patience_s, struct error *err);

#endif
