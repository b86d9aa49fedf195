/*
 * opentsdb.c - the row keys of OpenTSDB: [salt] metric, hour, and pairs of a tag's key and value
 *
 * A UID has 3 bytes, and the time is 4 bytes of seconds in whole hours (OpenTSDB, "HBase Schema").
 */
#include "infer.h"

#define UID 3

static bool has_form(const struct bytes *keys, size_t n, size_t salt)
{
	const size_t hour = salt + UID, tags = hour + 4;

	for (size_t k = 0; k < n; k++) {
		uint64_t s = keys[k].len > tags ? guess_number(keys[k].ptr + hour, 4) : 1;

		if (s % 3600 || (int64_t)s < TIME_FIRST / 1000 || (int64_t)s > TIME_LAST / 1000 ||
		    (keys[k].len - tags) % (2 * UID))
			return false;
	}
	return n >= 4;
}

static struct guess uid_of(const char *what, const char *stem)
{
	return (struct guess){.type = FIELD_HEX,
			      .as = AS_BYTES,
			      .width = UID,
			      .padded = true,
			      .terminator = NO_TERMINATOR,
			      .what = what,
			      .stem = stem,
			      .confidence = 95};
}

static bool have_one_length(const struct bytes *keys, size_t n)
{
	for (size_t k = 1; k < n; k++)
		if (keys[k].len != keys[0].len)
			return false;
	return true;
}

static void add_tags(struct guesses *g, const struct bytes *keys, size_t n, size_t at)
{
	size_t pairs = (keys[0].len - at) / (2 * UID);

	if (!have_one_length(keys, n) || g->n + 2 * pairs > GUESS_PARTS) {
		struct guess *tags = &g->part[g->n++];

		*tags = uid_of("UIDs of tag keys and values, in pairs", "tags");
		tags->width = 0;
		tags->padded = false;
		return;
	}
	for (size_t i = 0; i < pairs; i++) {
		g->part[g->n++] = uid_of("UID of a tag's key", "tagk");
		g->part[g->n++] = uid_of("UID of a tag's value", "tagv");
	}
}

bool guess_opentsdb(struct guesses *g, const struct bytes *keys, size_t n)
{
	size_t salt = 0;

	while (salt < 2 && !has_form(keys, n, salt))
		salt++;
	if (salt == 2)
		return false;
	*g = (struct guesses){.note = "the row keys have OpenTSDB's form"};
	if (salt)
		g->part[g->n++] = (struct guess){.kind = GUESS_SALT,
						 .width = 1,
						 .terminator = NO_TERMINATOR,
						 .stem = "salt",
						 .drawn = true,
						 .buckets = 256,
						 .what = "a salt of unknown function",
						 .confidence = 60};
	g->part[g->n++] = uid_of("UID of the metric", "metric");
	g->part[g->n++] = (struct guess){.type = FIELD_U32,
					 .as = AS_U32,
					 .width = 4,
					 .terminator = NO_TERMINATOR,
					 .stem = "time",
					 .what = "seconds since 1970, in whole hours",
					 .confidence = 98};
	add_tags(g, keys, n, salt + UID + 4);
	return true;
}
