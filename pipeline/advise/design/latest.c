/*
 * latest.c - find the newest matching rows of a range
 *
 * A key that begins with the time answers `user = ? latest 20` by reading rows of all users. Only the
 * rows of the group of a draw can match.
 */
#include "cost.h"

/* Sort the places of the order by group. */
static void places_make(struct group_places *p, const struct draws *d, const struct keyed *k)
{
	uint32_t next[ASK_DRAWS + 2];

	for (size_t i = 0; i < k->e->n; i++)
		p->start[d->group[i] + 1]++;
	for (size_t g = 0; g <= ASK_DRAWS + 1; g++) {
		next[g] = p->start[g];
		p->start[g + 1] += p->start[g];
	}
	p->place = mem_alloc((k->e->n + 1) * sizeof *p->place);
	for (size_t i = 0; i < k->e->n; i++)
		p->place[next[d->group[k->order[i]]]++] = (uint32_t)i;
}

/* Return the index of the first of the group's places that is not before `place`. */
static size_t first_from(const struct group_places *p, uint8_t group, size_t place)
{
	size_t lo = p->start[group], hi = p->start[group + 1];

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (p->place[mid] < place)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Return true if place `i` of the order is the row of its key, and the row matches. */
static bool is_answer(const struct draws *d, size_t draw, const struct keyed *k, size_t i)
{
	return k->rows_below[i + 1] > k->rows_below[i] && draw_matches(d, draw, k->e, k->order[i]);
}

/* Read one place after the other. */
static size_t read_all(const struct draws *d, size_t draw, const struct keyed *k, uint64_t latest,
		       bool falling, size_t lo, size_t hi)
{
	uint64_t found = 0;
	size_t read = 0;

	while (read < hi - lo && found < latest) {
		found += is_answer(d, draw, k, falling ? lo + read : hi - 1 - read);
		read++;
	}
	return read;
}

size_t latest_read(const struct draws *d, size_t draw, const struct keyed *k,
		   struct group_places *p, uint64_t latest, bool falling, size_t lo, size_t hi)
{
	uint64_t found = 0;

	if (!d->group)
		return read_all(d, draw, k, latest, falling, lo, hi);
	if (!p->place)
		places_make(p, d, k);
	size_t from = first_from(p, d->group_of[draw], lo),
	       to = first_from(p, d->group_of[draw], hi);
	for (size_t i = 0; i < to - from; i++) {
		size_t place = p->place[falling ? from + i : to - 1 - i];

		found += is_answer(d, draw, k, place);
		if (found == latest)
			return falling ? place + 1 - lo : hi - place;
	}
	return hi - lo;
}
