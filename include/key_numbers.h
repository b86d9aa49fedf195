/*
 * key_numbers.h - keys of numbers alone and the usual salt over one of them, laid down in a few
 * stores
 *
 * For schemas that are `simple`, and of those for the ones with `one_salt`: key_build goes this
 * way, and so does who lays down many keys at once (pipeline/row/quick.c).
 */
#ifndef SALTMILL_KEY_NUMBERS_H
#define SALTMILL_KEY_NUMBERS_H

#include "hash.h"
#include "key.h"

/* false: a value is out of its range.  Writes up to 8 bytes behind the key. */
static inline bool numbers_put(const struct value *values, const struct key_schema *s, uint8_t *to)
{
	bool bad = false;
	for (const struct number *n = s->numbers, *end = n + s->nnumbers; n < end; n++) {
		uint64_t u = values[n->slot].u;
		bad |= u - n->bias > n->span;
		put_be64(to + n->at, (u ^ n->flip) << n->shift);
	}
	return !bad;
}

/* Of a salt that is drawn, by the event's own bytes or its place. */
uint64_t salt_drawn(const struct key_part *part, struct bytes event, uint64_t place);

static inline uint8_t salt_of(const struct key_derived *d, struct bytes in)
{
	return (uint8_t)(murmur3_32(in, 0) % d->part->buckets);
}

/* Of schemas with one_salt; behind the key 8 bytes may be read. */
static inline void salt_put(struct key_scratch *k, const struct key_schema *s, uint8_t *to)
{
	const struct key_derived *d = s->derived;
	struct salted *last = &k->salted[d->number];
	uint64_t word;
	memcpy(&word, to + d->of_at, 8);
	word &= d->keep;
	if (__builtin_expect(word != last->input || !last->known, 0))
		*last = (struct salted){word, salt_of(d, bytes_of(to + d->of_at, d->of_bytes)),
					true};
	to[d->to] = last->salt;
}

#endif
