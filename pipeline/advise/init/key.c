/*
 * key.c - choose the columns of a row key, which are the row's owner, its time and a unique value
 */
#include <strings.h>

#include "sniff_parts.h"
#include "hash.h"

static bool may_be_key(const struct columns *c, const struct sniffed *s)
{
	return !s->list && !s->has_nulls && s->values == c->rows && c->rows > 0 &&
	       s->type != FIELD_F64 && s->type != FIELD_DECIMAL && s->type != FIELD_BOOL &&
	       s->type != FIELD_BYTES;
}

static bool is_id(const char *name)
{
	static const char *const ends[] = {"id", "_no", "nr", "key", "code", "uuid", "number", "#"};
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t n = strlen(ends[i]);

		if (len >= n && strcasecmp(name + len - n, ends[i]) == 0)
			return true;
	}
	return false;
}

/* Return the first time column that has a value in all rows and no time before 1970. */
static size_t choose_time(const struct columns *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->column[i].type == FIELD_TIME && may_be_key(c, &c->column[i]) &&
		    c->column[i].oldest_ms >= 0)
			return i;
	return SIZE_MAX;
}

/* Return the first column of the best kind that has a different value in each row. */
static size_t choose_unique(const struct columns *c)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < c->n; i++) {
		const struct sniffed *s = &c->column[i];

		if (!may_be_key(c, s) || s->type == FIELD_TIME || s->distinct.many ||
		    s->distinct.n != c->rows)
			continue;
		if (found == SIZE_MAX || (is_id(s->name) && !is_id(c->column[found].name)))
			found = i;
	}
	return found;
}

/* Return a column with several distinct values, and with several rows for each value. */
static size_t choose_entity(const struct columns *c)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < c->n; i++) {
		const struct sniffed *s = &c->column[i];

		if (!may_be_key(c, s) || s->type == FIELD_TIME || s->distinct.many ||
		    s->distinct.n < 2 || 2 * s->distinct.n > c->rows)
			continue;
		const struct sniffed *best = found == SIZE_MAX ? NULL : &c->column[found];
		if (!best || is_id(s->name) > is_id(best->name) ||
		    (is_id(s->name) == is_id(best->name) && s->distinct.n > best->distinct.n))
			found = i;
	}
	return found;
}

/* Return true if no two rows have the same values in these columns. */
static bool tell_apart(const struct sniffed_shape *s, const struct lines *l, const size_t *columns,
		       size_t n)
{
	struct sniffed_row r = {0};
	struct distinct d = {0};
	bool apart = true;
	size_t i = next_row(s, l, s->first);

	if (s->header)
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
	while (i < s->end && apart) {
		uint64_t hash = 0;

		i = next_row(s, l, row_split(s, l, i, s->end, &r));
		for (size_t k = 0; k < n; k++)
			if (columns[k] < r.n)
				hash = XXH3_64bits_withSeed(r.value[columns[k]].ptr,
							    r.value[columns[k]].len, hash + 1);
		apart = distinct_add(&d, hash) && !d.many;
	}
	distinct_release(&d);
	row_release(&r);
	return apart;
}

void key_choose(struct sniffed_key *k, const struct columns *c, const struct sniffed_shape *s,
		const struct lines *l)
{
	*k = (struct sniffed_key){choose_entity(c), choose_time(c), choose_unique(c), false, false};
	if (k->time == SIZE_MAX && k->unique != SIZE_MAX)
		k->entity = SIZE_MAX; /* a unique column is a sufficient key */
	if (k->unique != SIZE_MAX)
		return;
	size_t columns[2], n = 0;
	if (k->entity != SIZE_MAX)
		columns[n++] = k->entity;
	if (k->time != SIZE_MAX)
		columns[n++] = k->time;
	k->hash = n == 0 || c->json || s->special || !tell_apart(s, l, columns, n);
}
