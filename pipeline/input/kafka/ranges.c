#include "ranges.h"

/* allows XXH3_state_t on the stack, without an allocation that can fail */
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <stdlib.h>

#include "bytes.h"
#include "mem.h"

/* Length limit of a list of partitions in a message. */
#define LIST_BYTES 150

static int by_place(const void *a, const void *b)
{
	const struct offset_range *x = &(*(struct reading_range *const *)a)->range;
	const struct offset_range *y = &(*(struct reading_range *const *)b)->range;

	return place_order(x->topic, x->partition, y->topic, y->partition);
}

void ranges_begin(struct ranges *s, const struct offset_range *ranges, size_t n)
{
	ranges_release(s);
	s->item = mem_calloc(n + 1, sizeof *s->item);
	s->by_place = mem_calloc(n + 1, sizeof(struct reading_range *));
	s->count = n;
	for (size_t i = 0; i < n; i++) {
		struct reading_range *r = &s->item[i];

		*r = (struct reading_range){.range = ranges[i], .before = ranges[i].last};
		r->unchecked = r->before.known && r->before.offset < r->range.start;
		if (!r->unchecked) /* a range whose read starts again */
			r->range.last = (struct anchor){0};
		r->range.events = 0;
		r->next = r->unchecked ? r->before.offset : r->range.start;
		r->done = !r->unchecked && r->range.start >= r->range.end;
		s->left += !r->done;
		s->unchecked += r->unchecked;
		s->by_place[i] = r;
	}
	qsort(s->by_place, n, sizeof(struct reading_range *), by_place);
}

void ranges_release(struct ranges *s)
{
	mem_free(s->item);
	mem_free(s->by_place);
	*s = (struct ranges){0};
}

struct reading_range *ranges_find(struct ranges *s, const char *topic, int32_t partition)
{
	size_t lo = 0, hi = s->count;
	/* messages of a partition usually come together */
	const struct offset_range *last = s->found ? &s->found->range : NULL;

	if (last && place_order(last->topic, last->partition, topic, partition) == 0)
		return s->found;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct offset_range *r = &s->by_place[mid]->range;
		int order = place_order(r->topic, r->partition, topic, partition);

		if (order == 0)
			return s->found = s->by_place[mid];
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

bool ranges_end(struct ranges *s, struct reading_range *r)
{
	if (r->done)
		return false;
	ranges_miss(s, r);
	r->done = true;
	s->left--;
	return true;
}

/*
 * The next load checks the last message of this range, if the range has a message. So the code
 * reports each fault only once.
 */
void ranges_miss(struct ranges *s, struct reading_range *r)
{
	if (!r->unchecked)
		return;
	r->unchecked = false;
	s->unchecked--;
	r->gone = true;
	s->gone++;
	r->range.last = (struct anchor){0};
	if (r->next < r->range.start)
		r->next = r->range.start;
}

static struct anchor anchor_of(const struct message *m)
{
	const uint8_t there = (uint8_t)((m->key.ptr != NULL) | (m->value.ptr != NULL) << 1);
	const uint64_t key_len = m->key.len;
	struct anchor a = {.known = true, .offset = m->offset, .timestamp_ms = m->timestamp_ms};
	uint8_t head[9] = {there};
	XXH128_canonical_t digest;
	XXH3_state_t x;

	put_be64(head + 1, key_len);
	XXH3_128bits_reset(&x);
	XXH3_128bits_update(&x, head, sizeof head);
	XXH3_128bits_update(&x, m->key.ptr, m->key.len);
	XXH3_128bits_update(&x, m->value.ptr, m->value.len);
	XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(&x));
	memcpy(a.digest, digest.digest, sizeof a.digest);
	return a;
}

void ranges_check(struct ranges *s, struct reading_range *r, const struct message *m)
{
	if (m->offset != r->before.offset) {
		ranges_miss(s, r);
		return;
	}
	struct anchor found = anchor_of(m);
	r->unchecked = false;
	s->unchecked--;
	r->wrong = found.timestamp_ms != r->before.timestamp_ms ||
		   memcmp(found.digest, r->before.digest, sizeof found.digest) != 0;
	s->wrong += r->wrong;
}

bool ranges_see(struct ranges *s, struct reading_range *r, int64_t offset)
{
	r->next = offset + 1;
	bool keep = offset >= r->range.start && offset < r->range.end && !s->wrong;
	r->range.events += keep;
	return keep;
}

void ranges_last(struct reading_range *r, const struct message *m)
{
	if (!r->range.last.known || m->offset > r->range.last.offset)
		r->range.last = anchor_of(m);
}

enum range_shown { PARTITIONS, POSITIONS, LOWS };

/*
 * List the partitions whose check found another message (`wrong`) or no message, as " 0 1 7" or
 * with offsets as " 0=5 1=9".
 */
static void list(const struct ranges *s, bool wrong, enum range_shown what,
		 const struct offset_range *lows, struct buf *out)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct reading_range *r = &s->item[i];

		if (wrong ? !r->wrong : !r->gone)
			continue;
		if (out->len > LIST_BYTES) {
			buf_append_str(out, " ...");
			break;
		}
		buf_printf(out, " %s", place_text(r->range.topic, r->range.partition).text);
		if (what != PARTITIONS)
			buf_printf(out, "=%lld",
				   (long long)(what == LOWS ? lows[i].start : r->range.start));
	}
	buf_put(out, 0);
}

int ranges_settle(struct ranges *s, const char *topic, char **note)
{
	struct buf b = {0};

	*note = NULL;
	if (s->unchecked || s->told)
		return RC_OK;
	if (s->wrong)
		return RC_DATA;
	s->told = true;
	if (s->gone == 0)
		return RC_OK;
	list(s, false, PARTITIONS, NULL, &b);
	*note = mem_format(
		"topic %s, partition%s%s: the brokers deleted the last loaded message, so "
		"saltmill cannot check whether this is a new topic; the load continues",
		topic, s->gone == 1 ? "" : "s", (const char *)b.ptr);
	buf_release(&b);
	return RC_OK;
}

int ranges_refuse(const struct ranges *s, const char *topic, const struct offset_range *lows,
		  struct error *err)
{
	struct buf which = {0}, anew = {0}, on = {0};
	const struct reading_range *first = s->item;

	while (!first->wrong)
		first++;
	list(s, true, PARTITIONS, NULL, &which);
	list(s, true, LOWS, lows, &anew);
	list(s, true, POSITIONS, NULL, &on);
	error_set(err, RC_DATA,
		  "topic %s, partition%s%s: found another message in place of the one loaded last "
		  "(%s: offset %lld); somebody deleted and recreated the topic, or the brokers "
		  "lost data; published loads are safe, but messages in no load are lost; to load "
		  "all existing messages, run `saltmill seek --state DIR%s`; to load only messages "
		  "after the positions, run `saltmill seek --state DIR%s`",
		  topic, s->wrong == 1 ? "" : "s", (const char *)which.ptr,
		  place_text(first->range.topic, first->range.partition).text,
		  (long long)first->before.offset, (const char *)anew.ptr, (const char *)on.ptr);
	buf_release(&which);
	buf_release(&anew);
	buf_release(&on);
	return RC_DATA;
}
