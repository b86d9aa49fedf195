/*
 * simple.h - keys of numbers alone and the usual salt over one of them (inside pipeline/row only)
 */
#ifndef SALTMILL_ROW_SIMPLE_H
#define SALTMILL_ROW_SIMPLE_H

#include "hash.h"
#include "compiled.h"

/* false: a value is out of its range.  Writes up to 8 bytes behind the key. */
static inline bool numbers_put(const struct value *values, const struct parts *parts, uint8_t *to)
{
	bool bad = false;
	for (const struct number *n = parts->numbers, *end = n + parts->nnumbers; n < end; n++) {
		uint64_t u = values[n->slot].u;
		bad |= u - n->bias > n->span;
		put_be64(to + n->at, (u ^ n->flip) << n->shift);
	}
	return !bad;
}

static inline uint8_t salt_of(const struct derived *d, struct bytes in)
{
	return (uint8_t)(murmur3_32(in, 0) % d->part->buckets);
}

/* Of parts with one_salt; behind the key 8 bytes may be read. */
static inline void salt_put(struct row_encoder *e, const struct parts *parts, uint8_t *to)
{
	const struct derived *d = parts->derived;
	struct salted *last = &e->salted[d->number];
	uint64_t word;
	memcpy(&word, to + d->of_at, 8);
	word &= d->keep;
	if (__builtin_expect(word != last->input || !last->known, 0))
		*last = (struct salted){word, salt_of(d, bytes_of(to + d->of_at, d->of_bytes)),
					true};
	to[d->to] = last->salt;
}

#endif
