/*
 * key.c - choose the columns of a row key, which are the row's owner, its time and a unique value
 */
#include <strings.h>

#include "sniff_parts.h"
#include "hash.h"

#define ORDER_LEAST 100 /* values that show whether they come in order */

bool column_in_order(const struct sniffed *s)
{
	uint64_t more = s->rising > s->falling ? s->rising : s->falling;

	return s->ranked < ORDER_LEAST || s->ranked < s->values ||
	       4 * more >= s->ranked; /* lint uses the same share */
}

static bool may_be_key(const struct columns *c, const struct sniffed *s)
{
	return !s->list && !s->has_nulls && s->values == c->rows && c->rows > 0 &&
	       s->type != FIELD_F64 && s->type != FIELD_DECIMAL && s->type != FIELD_BOOL &&
	       s->type != FIELD_BYTES;
}

bool name_is_id(const char *name)
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
		if (found == SIZE_MAX ||
		    (name_is_id(s->name) && !name_is_id(c->column[found].name)))
			found = i;
	}
	return found;
}

/* Return true for the kind of a change in events of Debezium, which owns no row. */
static bool is_change_kind(const struct columns *c, const struct sniffed *s)
{
	return c->preset && strcmp(c->preset, "debezium") == 0 && strcmp(s->name, "op") == 0;
}

/* Return a column with several distinct values, and with several rows for each value. */
static size_t choose_entity(const struct columns *c)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < c->n; i++) {
		const struct sniffed *s = &c->column[i];

		if (!may_be_key(c, s) || s->type == FIELD_TIME || s->distinct.many ||
		    s->distinct.n < 2 || is_change_kind(c, s) || 2 * s->distinct.n > c->rows)
			continue;
		const struct sniffed *best = found == SIZE_MAX ? NULL : &c->column[found];
		if (!best || name_is_id(s->name) > name_is_id(best->name) ||
		    (name_is_id(s->name) == name_is_id(best->name) &&
		     s->distinct.n > best->distinct.n))
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

/* Return true for whole numbers that count within a group, such as the lines of an order. */
static bool is_counter(const struct sniffed *s)
{
	static const char *const names[] = {"line", "pos",   "position", "seq", "sequence",
					    "item", "index", "num",	 "row", "step"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (name_ends_in(s->name, names[i]))
			return true;
	return name_is_id(s->name);
}

/*
 * Return a column that separates rows which the given columns leave equal. Return SIZE_MAX if there
 * is none. Only the whole file proves it, and only a name of an id makes it likely for later files.
 */
static size_t choose_rest(const struct columns *c, const struct sniffed_shape *s,
			  const struct lines *l, size_t *columns, size_t n)
{
	if (c->json || s->special || s->by_name || !l->whole || n == 0)
		return SIZE_MAX;
	for (size_t i = 0; i < c->n; i++) {
		if (!may_be_key(c, &c->column[i]) || !is_counter(&c->column[i]) ||
		    i == columns[0] || i == columns[n - 1])
			continue;
		columns[n] = i;
		if (tell_apart(s, l, columns, n + 1))
			return i;
	}
	return SIZE_MAX;
}

/* Choose the columns of the salt. */
static void choose_salt(struct sniffed_key *k, const struct columns *c)
{
	const size_t none = SIZE_MAX;
	size_t head = k->entity != none ? k->entity : k->time != none ? k->time : k->unique;
	size_t rest = k->unique != none ? k->unique : k->time;
	bool few = head != none && !c->column[head].distinct.many &&
		   c->column[head].distinct.n < (size_t)4 * SALTS;

	if (head == none || (!few && !column_in_order(&c->column[head])))
		return;
	k->salt[k->nsalt++] = head;
	if (few && rest != none && rest != head)
		k->salt[k->nsalt++] = rest;
}

/* Find the columns that the user gives. */
static int take_given(struct sniffed_key *k, struct columns *c, const char *names,
		      struct error *err)
{
	k->given = arena_alloc(&c->arena, (strlen(names) + 1) * sizeof *k->given);
	for (const char *p = names; *p; p += *p == ',') {
		struct bytes name = bytes_of(p, strcspn(p, ","));
		size_t i = 0;

		while (i < c->n && !bytes_eq(bytes_str(c->column[i].name), name))
			i++;
		if (i == c->n || c->column[i].list)
			break;
		k->given[k->ngiven++] = i;
		p += name.len;
		if (!*p)
			return RC_OK;
	}
	struct buf list = {0};
	for (size_t i = 0; i < c->n && list.len < 300; i++)
		buf_printf(&list, "%s%.60s", i ? ", " : "", c->column[i].name);
	error_set(err, RC_CONFIG, "--key: found `%.200s`, expected columns of the file: %.*s",
		  names, (int)list.len, (const char *)list.ptr);
	buf_release(&list);
	return RC_CONFIG;
}

int key_choose(struct sniffed_key *k, struct columns *c, const struct sniffed_shape *s,
	       const struct lines *l, const char *names, struct error *err)
{
	size_t columns[3], n = 0;

	*k = (struct sniffed_key){.entity = choose_entity(c),
				  .time = choose_time(c),
				  .unique = choose_unique(c)};
	if (names)
		return take_given(k, c, names, err);
	if (k->time == SIZE_MAX && k->unique != SIZE_MAX)
		k->entity = SIZE_MAX; /* a unique column is a sufficient key */
	if (k->entity != SIZE_MAX)
		columns[n++] = k->entity;
	if (k->time != SIZE_MAX)
		columns[n++] = k->time;
	if (k->unique == SIZE_MAX)
		k->hash = n == 0 || c->json || s->special || s->by_name ||
			  !tell_apart(s, l, columns, n);
	if (k->hash) {
		k->unique = choose_rest(c, s, l, columns, n);
		k->hash = k->unique == SIZE_MAX;
		k->rest = !k->hash;
	}
	choose_salt(k, c);
	return RC_OK;
}
