#include "silence.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "bytes.h"

#define SAY_AGAIN_S   30
#define DOUBT_S	      6	 /* seconds, because a refusal may only be a broken connection */
#define AFTER_ANSWERS 60 /* seconds */

static bool is_refused(const struct silence *s)
{
	double patience = s->answered ? AFTER_ANSWERS : s->certain ? 0 : DOUBT_S;

	return s->refused_since != 0 && clock_seconds() - s->refused_since >= patience;
}

void silence_begin(struct silence *s, uint64_t patience_s)
{
	char limit[60] = "without a limit";
	double now = clock_seconds();

	if (s->since == 0) {
		s->since = now;
		s->said_at = 0;
	}
	if (is_refused(s)) /* silence_check reports the refusal */
		return;
	if (s->said_at != 0 && now - s->said_at < SAY_AGAIN_S)
		return;
	s->said_at = now;
	if (patience_s != DURATION_FOREVER)
		snprintf(limit, sizeof limit, "at most %llu s", (unsigned long long)patience_s);
	report_to(&s->listener,
		  "no broker answers at %.80s%s%s%s; waited %.0f s so far, %s (the job's "
		  "`patience`)",
		  s->brokers, *s->reason ? " (" : "", s->reason, *s->reason ? ")" : "",
		  now - s->since, limit);
}

void silence_heard(struct silence *s)
{
	s->answered = true;
	if (s->since == 0)
		return;
	s->since = 0;
	report_to(&s->listener, "the brokers answer again");
}

void silence_end(struct silence *s)
{
	s->refused_since = 0;
	silence_heard(s);
}

static bool says(const char *reason, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(reason, words[i]))
			return true;
	return false;
}

/*
 * Judge a complaint by librdkafka's text, because a broker that requires TLS, a login or a
 * certificate only closes the connection. A broker that never answers and always closes the
 * connection counts as refusing.
 */
void silence_complaint(struct silence *s, const char *reason, bool login)
{
	static const char *const sure[] = {"verify failed",	"alert bad certificate",
					   "alert certificate", "certificate required",
					   "alert unknown ca",	"alert handshake"};
	static const char *const likely[] = {"security.protocol", "state SSL_HANDSHAKE",
					     "Disconnected", "state APIVERSION_QUERY"};
	static const char *const away[] = {"Connect to", "resolve"};
	bool certain = login || says(reason, sure, sizeof sure / sizeof *sure);

	snprintf(s->reason, sizeof s->reason, "%s", reason);
	if (!certain && !says(reason, likely, sizeof likely / sizeof *likely)) {
		if (says(reason, away, sizeof away / sizeof *away))
			s->refused_since = 0;
		return;
	}
	if (s->refused_since == 0)
		s->refused_since = clock_seconds();
	s->certain = certain;
	snprintf(s->refusal, sizeof s->refusal, "%s", reason);
}

int silence_check(const struct silence *s, uint64_t patience_s, struct error *err)
{
	if (is_refused(s))
		return error_set(err, RC_IO, "the brokers at %.80s refuse the connection%s: %s",
				 s->brokers,
				 s->certain ? "" : " (do they want another `security.protocol`?)",
				 s->refusal);
	if (patience_s == DURATION_FOREVER || s->since == 0 ||
	    clock_seconds() - s->since <= (double)patience_s)
		return RC_OK;
	return error_set(err, RC_IO, "no broker answered at %.80s for %llu s (%s)", s->brokers,
			 (unsigned long long)patience_s, s->reason);
}
