/* position.c - explain a position outside a partition's offsets */
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
			"%s: the next offset to load is %lld, but the brokers keep offsets only from "
			"%lld on: %lld offsets are lost, because retention or an administrator "
			"deleted them before they were loaded; to continue without them: `saltmill "
			"seek --state DIR %s=%lld`",
			p.text, start, first, first - start, to.text, first);
	if (end > last)
		return error_set(
			err, RC_DATA,
			"%s: there were offsets up to %lld, but now the partition ends at %lld: the "
			"topic was deleted and recreated, or the brokers lost data; published loads "
			"are safe, messages not loaded are lost; to load what is there now: "
			"`saltmill seek --state DIR %s=%lld`",
			p.text, end, last, to.text, first);
	return RC_OK;
}
