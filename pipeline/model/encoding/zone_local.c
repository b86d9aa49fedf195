/* zone_local.c - the local time of a zone at an instant */
#include "encoding.h"

#define YEAR_S	   (INT64_C(365) * 86400)
#define FURTHEST_S (2 * 86400) /* the most seconds by which a clock goes back */

/*
 * Return the seconds of the whole cycles after the last span. The time minus this result is within
 * the spans.
 */
static int64_t rounds_s(int64_t utc_s)
{
	int64_t ahead = utc_s - (ZONE_LAST_S - YEAR_S);

	return ahead < 0 ? 0 : (ahead / ZONE_CYCLE_S + 1) * ZONE_CYCLE_S;
}

/* Return the index of the span that contains the time. */
static size_t span_at(const struct zone *z, int64_t utc_s)
{
	size_t lo = 0, hi = z->nspans;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (z->spans[mid].from_s <= utc_s)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

int64_t zone_local(const struct zone *z, int64_t utc_s)
{
	if (!z || !z->nspans)
		return utc_s;
	return utc_s + z->spans[span_at(z, utc_s - rounds_s(utc_s))].offset_s;
}

int64_t zone_local_least(const struct zone *z, int64_t utc_s)
{
	int64_t least = zone_local(z, utc_s);

	if (!z || !z->nspans)
		return least;
	int64_t rounds = rounds_s(utc_s), at = utc_s - rounds;
	for (size_t i = span_at(z, at) + 1; i < z->nspans && z->spans[i].from_s <= at + FURTHEST_S;
	     i++) {
		int64_t local = z->spans[i].from_s + z->spans[i].offset_s + rounds;
		least = local < least ? local : least;
	}
	return least;
}

int64_t zone_local_most(const struct zone *z, int64_t utc_s)
{
	int64_t most = zone_local(z, utc_s);

	if (!z || !z->nspans)
		return most;
	int64_t rounds = rounds_s(utc_s), at = utc_s - rounds;
	for (size_t i = span_at(z, at); i > 0 && z->spans[i].from_s > at - FURTHEST_S; i--) {
		int64_t local = z->spans[i].from_s - 1 + z->spans[i - 1].offset_s + rounds;

		most = local > most ? local : most;
	}
	return most;
}
