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
			"%s: found %lld as the first offset on the brokers, expected at most "
			"%lld, the next offset to load. Retention or an administrator deleted "
			"%lld offsets before their load. To continue without these offsets, run "
			"`saltmill seek --state DIR %s=%lld`",
			p.text, first, start, first - start, to.text, first);
	if (end > last)
		return error_set(
			err, RC_DATA,
			"%s: found the partition's end at offset %lld, expected at least %lld. "
			"Somebody deleted and recreated the topic, or the brokers lost data. "
			"Published loads are safe, but messages in no load are lost. To load the "
			"existing messages, run `saltmill seek --state DIR %s=%lld`",
			p.text, last, end, to.text, first);
	return RC_OK;
}
