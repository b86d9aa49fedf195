#include "silence.h"

#include <stdio.h>
#include <time.h>

#include "units.h"

#define SAY_AGAIN_S 30

double silence_clock(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void say(const struct silence *s, const char *sentence)
{
	if (s->log.line)
		s->log.line(s->log.ctx, sentence);
}

void silence_begin(struct silence *s)
{
	char text[400];
	double now = silence_clock();
	if (s->since == 0) {
		s->since = now;
		s->said_at = 0;
	}
	if (s->said_at != 0 && now - s->said_at < SAY_AGAIN_S)
		return;
	s->said_at = now;
	snprintf(text, sizeof(text), "no broker answers at %.80s%s%s%s; waiting, for %.0f s so far",
		 s->brokers, *s->reason ? " (" : "", s->reason, *s->reason ? ")" : "", now - s->since);
	say(s, text);
}

void silence_end(struct silence *s)
{
	if (s->since == 0)
		return;
	s->since = 0;
	say(s, "the brokers answer again");
}

int silence_check(const struct silence *s, uint64_t patience_s, struct error *err)
{
	if (patience_s == DURATION_FOREVER || s->since == 0 ||
	    silence_clock() - s->since <= (double)patience_s)
		return RC_OK;
	return error_set(err, RC_IO, "no broker answered at %.80s for %llu s (%s)", s->brokers,
			 (unsigned long long)patience_s, s->reason);
}
