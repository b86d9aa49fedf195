/* distinct.c - a set of hashes with open addressing */
#include "hash.h"

#include "mem.h"

static void grow(struct distinct *d)
{
	struct distinct to = {.room = d->room ? 2 * d->room : 1024};

	to.hash = mem_calloc(to.room, sizeof *to.hash);
	for (size_t i = 0; i < d->room; i++)
		if (d->hash[i])
			distinct_add(&to, d->hash[i]);
	mem_free(d->hash);
	to.later = d->later;
	*d = to;
}

bool distinct_add(struct distinct *d, uint64_t hash)
{
	hash += hash == 0; /* 0 marks a free place */
	if (d->n >= DISTINCT_MOST) {
		d->many = true;
		return true;
	}
	if (2 * d->n >= d->room)
		grow(d);
	size_t i = hash & (d->room - 1);
	while (d->hash[i] && d->hash[i] != hash)
		i = (i + 1) & (d->room - 1);
	bool is_new = !d->hash[i];
	d->hash[i] = hash;
	d->n += is_new;
	return is_new;
}

void distinct_settle(struct distinct *d)
{
	if (d->later)
		distinct_add(d, d->later);
	d->later = 0;
}

void distinct_add_later(struct distinct *d, uint64_t hash)
{
	hash += hash == 0;
	distinct_settle(d);
	if (d->room)
		__builtin_prefetch(&d->hash[hash & (d->room - 1)], 1);
	d->later = hash;
}

void distinct_release(struct distinct *d)
{
	mem_free(d->hash);
	*d = (struct distinct){0};
}
