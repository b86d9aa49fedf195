/*
 * position.c - what a position below or above a partition's offsets means, in words
 */
#include "kafka.h"

int kafka_check_range(const char *topic, const struct offset_range *r, int64_t low, int64_t high,
		      struct error *err)
{
	long long start = r->start, end = r->end, first = low, last = high;
	const struct place_text to = place_text(r->topic, r->partition);
	const struct place_text p = place_text(r->topic ? r->topic : topic, r->partition);

	if (start < first)
		return error_set(
			err, RC_DATA,
			"%s: the next offset to load is %lld, but the brokers keep only what "
			"begins at %lld: %lld offsets are lost, deleted by retention or by hand "
			"before they were loaded; to go on without them: `saltmill seek --state "
			"DIR %s=%lld`",
			p.text, start, first, first - start, to.text, first);
	if (end > last)
		return error_set(
			err, RC_DATA,
			"%s: there were offsets up to %lld, now the partition ends at %lld: the "
			"topic was deleted and made anew, or the brokers lost data; what was "
			"loaded is safe, what was not is lost; to load what is there now: "
			"`saltmill seek --state DIR %s=%lld`",
			p.text, end, last, to.text, first);
	return RC_OK;
}
