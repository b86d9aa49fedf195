/* keys.c - list the row keys that may answer the questions */
#include "keys.h"

#include <ctype.h>
#include <stdio.h>

#define LONG_ORDERS	3 /* with more equal fields, try only two orders */
#define REVERSED_FACTOR 8
#define HOURS_SPAN_MS	(6 * UINT64_C(3600000)) /* hours are parts only for spans up to this one */

struct lister {
	struct candidates *c;
	struct asks *asks;
	const struct events *e;
	struct arena *a;
	unsigned servers;
	double grow; /* times that the events of an entity grow */
	bool wide;   /* the question's equal fields are few enough for a wide row */
	struct key_tail
		tail; /* prefers fields of questions; times fall if a question has `latest` */
};

/* --- candidates --- */

/* Return the bytes of the key, or 0 if they vary. */
static uint32_t parts_width(const struct key_part *parts, size_t n)
{
	uint32_t all = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t width = key_part_bytes(&parts[i]);

		if (!width)
			return 0;
		all += width + (parts[i].terminator != NO_TERMINATOR);
	}
	return all;
}

/* Keep a key of the first parts of the body, whose other parts are qualifiers. */
static void keep_parts(struct lister *l, const struct body *whole, size_t nkey, bool unique,
		       const char *obvious)
{
	struct candidate k = {.table = l->e->job->tables[0], .obvious = obvious, .unique = unique};
	struct body part = *whole, *b = &part;

	k.nqualifier = b->n - nkey;
	k.qualifier = arena_dup(l->a, b->part + nkey, (k.nqualifier + 1) * sizeof *k.qualifier);
	k.joined = k.nqualifier || l->e->computed;
	b->n = nkey;
	k.table.nrowkey = b->n;
	k.table.rowkey = arena_alloc(l->a, (b->n + 1) * sizeof *k.table.rowkey);
	memcpy(k.table.rowkey, b->part, b->n * sizeof *b->part);
	struct key_part *last = &k.table.rowkey[b->n - 1];
	if (last->terminator == 0)
		last->terminator = NO_TERMINATOR;
	k.width = parts_width(k.table.rowkey, b->n);
	k.name = parts_name(l->e->job, k.table.rowkey, b->n, l->a);
	if (k.nqualifier)
		k.name = arena_format(l->a, "%s (wide: %s)", k.name,
				      parts_name(l->e->job, k.qualifier, k.nqualifier, l->a));
	for (size_t i = 0; i < l->c->n; i++)
		if (strcmp(l->c->key[i].name, k.name) == 0) {
			if (obvious && !l->c->key[i].obvious)
				l->c->key[i].obvious = obvious;
			return;
		}
	l->c->key = arena_grow(l->a, l->c->key, l->c->n, sizeof k);
	l->c->key[l->c->n++] = k;
}

/* Keep a key, unless an equal key is in the list. */
static void keep(struct lister *l, const struct body *b, bool unique, const char *obvious)
{
	keep_parts(l, b, b->n, unique, obvious);
}

static struct key_part salt_of_fields(struct lister *l, const size_t *of, size_t n,
				      uint32_t buckets, uint32_t fanout)
{
	struct key_part p = {.kind = PART_SALT,
			     .nof = n,
			     .buckets = buckets,
			     .fanout = fanout,
			     .width = 1,
			     .terminator = NO_TERMINATOR};

	p.of = arena_alloc(l->a, n * sizeof *p.of);
	memcpy(p.of, of, n * sizeof *of);
	return p;
}

/* Keep the key with a part before it. */
static void keep_with(struct lister *l, const struct key_part *head, const struct body *b,
		      bool unique, const char *obvious)
{
	struct body whole = {.n = 1};

	if (b->n == BODY_PARTS_MOST)
		return;
	whole.part[0] = *head;
	memcpy(whole.part + 1, b->part, b->n * sizeof *b->part);
	whole.n += b->n;
	keep(l, &whole, unique, obvious);
}

/* Return true if reversing the text spreads its values: one width, and digits at the end. */
static bool reversible(const struct event_column *c, uint32_t buckets)
{
	if (c->field->type != FIELD_TEXT || c->longest != c->shortest || c->longest < 2 ||
	    c->distinct <= REVERSED_FACTOR * buckets)
		return false;
	for (size_t i = 0; i < c->ntexts; i++) {
		struct bytes t = c->texts[i].text;

		if (!isdigit(t.ptr[t.len - 1]) || !isdigit(t.ptr[t.len - 2]))
			return false;
		for (size_t k = 0; k < t.len; k++)
			if (t.ptr[k] >= 0x80)
				return false;
	}
	return true;
}

static void keep_reversed(struct lister *l, const struct body *b, bool unique)
{
	struct body r = *b;
	const struct event_column *c = &l->e->column[r.part[0].field];

	if (!reversible(c, l->c->salt))
		return;
	r.part[0].as = AS_REVERSED;
	r.part[0].width = c->longest;
	r.part[0].pad = ' ';
	keep(l, &r, unique, NULL);
}

static void keep_fanouts(struct lister *l, const struct body *b, bool unique)
{
	size_t field = b->part[0].field;
	uint32_t n = l->c->salt, most[] = {4, n / 2};
	double share = (double)l->e->column[field].heaviest / (double)l->e->n;

	if (share <= 0.5 / l->servers)
		return;
	for (size_t i = 0; i < 2; i++) {
		struct key_part head = salt_of_fields(l, &field, 1, n, most[i]);

		keep_with(l, &head, b, unique, NULL);
	}
}

/* Keep a body that begins with an entity, with all heads. `of` are the equal fields of a question. */
static void keep_entity(struct lister *l, const struct body *b, bool unique, const size_t *of,
			size_t nof)
{
	size_t first = b->part[0].field;
	struct key_part head = salt_of_fields(l, &first, 1, l->c->salt, 0);

	keep(l, b, unique, NULL);
	keep_with(l, &head, b, unique, NULL);
	if (nof > 1) {
		head = salt_of_fields(l, of, nof, l->c->salt, 0);
		keep_with(l, &head, b, unique, NULL);
	}
	head = salt_of_fields(l, &first, 1, l->c->salt, 0);
	head.kind = PART_HASH;
	head.hash = HASH_MD5;
	head.width = 4;
	head.buckets = 0;
	keep_with(l, &head, b, unique, NULL);
	keep_reversed(l, b, unique);
	keep_fanouts(l, b, unique);
}

/* Keep a body that begins with a time or another range, with all heads. */
static void keep_ordered(struct lister *l, const struct body *b, bool unique)
{
	struct key_part head;

	keep(l, b, unique, NULL);
	if (l->c->id != SIZE_MAX && body_has(b, l->c->id)) {
		head = salt_of_fields(l, &l->c->id, 1, 8, 0);
		keep_with(l, &head, b, unique, NULL);
		head.buckets = l->c->salt;
		keep_with(l, &head, b, unique, NULL);
	}
	for (size_t i = 0; i < l->asks->n; i++) {
		const struct ask *k = &l->asks->ask[i];

		if (!k->nequals || !field_may_be_part(l->e, k->equal[0]) ||
		    !body_has(b, k->equal[0]))
			continue;
		head = salt_of_fields(l, k->equal, 1, l->c->salt, 0);
		keep_with(l, &head, b, unique, NULL);
	}
}

/* --- bodies --- */

static bool finish(struct lister *l, struct body *b)
{
	return body_finish(&l->tail, b);
}

static void add_if(struct lister *l, struct body *b, size_t field)
{
	if (field != SIZE_MAX && field_may_be_part(l->e, field))
		body_add(b, l->e, field, l->tail.newest);
}

/* Return true if a query of the row can select the events of each question by the qualifiers. */
static bool selects_events(const struct lister *l, const struct body *b, size_t nkey)
{
	struct body entity = *b;

	entity.n = nkey;
	for (size_t i = 0; i < l->asks->n; i++) {
		const struct ask *k = &l->asks->ask[i];
		bool row = true;

		for (size_t f = 0; f < k->nequals; f++)
			row = row && body_has(&entity, k->equal[f]);
		if (row && ((k->range != SIZE_MAX && !body_has(b, k->range)) ||
			    (k->latest && !body_has(b, k->time))))
			return false;
	}
	return true;
}

/* Keep wide tables with a row for each value of the first parts, and with a salt before it. */
static void keep_wide(struct lister *l, const struct body *b, size_t nkey, bool unique)
{
	struct body salted = {.n = b->n + 1};

	if (b->n == nkey || b->n >= BODY_PARTS_MOST - 1 || !selects_events(l, b, nkey))
		return;
	keep_parts(l, b, nkey, unique, NULL);
	salted.part[0] = salt_of_fields(l, &b->part[0].field, 1, l->c->salt, 0);
	memcpy(salted.part + 1, b->part, b->n * sizeof *b->part);
	keep_parts(l, &salted, nkey + 1, unique, NULL);
}

/* Keep the keys for one order of the question's equal fields. */
static void keep_order(struct lister *l, const struct ask *k, const size_t *order, size_t n)
{
	struct body b = {0};

	for (size_t i = 0; i < n; i++)
		add_if(l, &b, order[i]);
	add_if(l, &b, k->starts);
	add_if(l, &b, k->range);
	if (k->latest)
		add_if(l, &b, k->time);
	if (!b.n)
		return;
	bool unique = finish(l, &b);
	if (n && b.part[0].field == order[0])
		keep_entity(l, &b, unique, order, n);
	else
		keep_ordered(l, &b, unique);
	if (l->wide && k->starts == SIZE_MAX)
		keep_wide(l, &b, n, unique);
}

static void permute(struct lister *l, const struct ask *k, size_t *order, size_t at, size_t n)
{
	if (at == n) {
		keep_order(l, k, order, n);
		return;
	}
	for (size_t i = at; i < n; i++) {
		size_t swap = order[at];

		order[at] = order[i];
		order[i] = swap;
		permute(l, k, order, at + 1, n);
		order[i] = order[at];
		order[at] = swap;
	}
}

static void by_distinct(const struct events *e, size_t *order, size_t n, bool rising)
{
	for (size_t i = 1; i < n; i++)
		for (size_t j = i; j > 0; j--) {
			uint64_t a = e->column[order[j - 1]].distinct,
				 b = e->column[order[j]].distinct;
			size_t swap = order[j];

			if (rising ? a <= b : a >= b)
				break;
			order[j] = order[j - 1];
			order[j - 1] = swap;
		}
}

/* Return the shortest span in ms that a question wants of the time, or UINT64_MAX. */
static uint64_t shortest_span(const struct lister *l, size_t time)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < l->asks->n; i++) {
		const struct ask *k = &l->asks->ask[i];

		for (size_t h = 0; k->range == time && h < k->nholes; h++)
			if (k->hole[h].span && k->hole[h].span < least)
				least = k->hole[h].span;
	}
	return least;
}

/*
 * Keep keys whose days or hours are a part: the rows of a day or hour, and in it those of an entity.
 */
static void keep_buckets(struct lister *l, const struct ask *k, size_t parts)
{
	static const enum encode_as buckets[] = {AS_YEAR, AS_MONTH, AS_DAY, AS_HOUR};
	struct body b = {0};

	for (size_t i = 0; i < parts; i++) {
		b.part[b.n] = part_of_field(l->e, k->range, false, false);
		b.part[b.n++].as = buckets[i];
	}
	for (size_t i = 0; i < k->nequals; i++)
		add_if(l, &b, k->equal[i]);
	body_add(&b, l->e, k->range, l->tail.newest);
	bool unique = finish(l, &b);
	struct key_part head = salt_of_fields(l, k->equal, 1, l->c->salt, 0);
	keep(l, &b, unique, NULL);
	keep_with(l, &head, &b, unique, NULL);
}

static void keep_days_and_hours(struct lister *l, const struct ask *k)
{
	const struct field *time = k->range != SIZE_MAX ? &l->e->job->fields[k->range] : NULL;

	if (!time || time->type != FIELD_TIME || !k->nequals ||
	    !field_may_be_part(l->e, k->range) || !field_may_be_part(l->e, k->equal[0]))
		return;
	keep_buckets(l, k, 3);
	if (shortest_span(l, k->range) <= HOURS_SPAN_MS)
		keep_buckets(l, k, 4);
}

static void keep_question(struct lister *l, const struct ask *k)
{
	size_t order[ASK_EQUALS_MOST], n = 0;

	for (size_t i = 0; i < k->nequals; i++)
		if (field_may_be_part(l->e, k->equal[i]))
			order[n++] = k->equal[i];
	l->wide = n == k->nequals && wide_fits(l->e, order, n, l->grow);
	if (n <= LONG_ORDERS) {
		permute(l, k, order, 0, n);
	} else {
		by_distinct(l->e, order, n, true);
		keep_order(l, k, order, n);
		by_distinct(l->e, order, n, false);
		keep_order(l, k, order, n);
	}
	keep_days_and_hours(l, k);
}

/* --- obvious keys --- */

static void keep_id(struct lister *l)
{
	struct body b = {0};

	if (l->c->id == SIZE_MAX)
		return;
	body_add(&b, l->e, l->c->id, false);
	keep(l, &b, true, "plain id");
	struct key_part head = salt_of_fields(l, &l->c->id, 1, l->c->salt, 0);
	keep_with(l, &head, &b, true, NULL);
	struct key_part hash = head;
	hash.kind = PART_HASH;
	hash.hash = HASH_MD5;
	hash.buckets = 0;
	hash.width = 4;
	keep_with(l, &hash, &b, true, "md5 of id");
}

/* Keep the key that begins with the time, with rising times as users write it first. */
static void keep_time_first(struct lister *l, size_t time)
{
	struct body b = {0};

	body_add(&b, l->e, time, false);
	bool unique = finish(l, &b);
	keep(l, &b, unique, "time first");
}

static void keep_entity_rising(struct lister *l, size_t entity, size_t time)
{
	struct body b = {0};

	if (!l->tail.newest)
		return;
	body_add(&b, l->e, entity, false);
	body_add(&b, l->e, time, false);
	bool unique = finish(l, &b);
	keep(l, &b, unique, "time rising");
}

static void keep_job_keys(struct lister *l)
{
	const struct job *job = l->e->job;

	for (size_t t = 0; t < job->ntables; t++) {
		struct body b = {.n = job->tables[t].nrowkey};

		if (job->tables[t].is_index || b.n > BODY_PARTS_MOST)
			continue;
		memcpy(b.part, job->tables[t].rowkey, b.n * sizeof *b.part);
		keep(l, &b, true, t ? job->tables[t].schema.name : "yours");
	}
}

static void keep_obvious(struct lister *l)
{
	size_t time = SIZE_MAX;

	for (size_t i = 0; time == SIZE_MAX && i < l->e->job->nfields; i++)
		if (l->e->job->fields[i].type == FIELD_TIME && field_may_be_part(l->e, i))
			time = i;
	keep_id(l);
	if (time != SIZE_MAX)
		keep_time_first(l, time);
	for (size_t i = 0; time != SIZE_MAX && i < l->asks->n; i++)
		if (l->asks->ask[i].nequals && field_may_be_part(l->e, l->asks->ask[i].equal[0])) {
			keep_entity_rising(l, l->asks->ask[i].equal[0], time);
			break;
		}
	keep_job_keys(l);
}

static void note_nulls(struct lister *l)
{
	const struct events *e = l->e;

	for (size_t f = 0; f < e->job->nfields; f++)
		if (l->tail.preferred[f] && e->column[f].nulls)
			buf_printf(
				&l->asks->notes,
				"`%s` is null in %llu of %zu events, so no key contains it: give it "
				"`default:`, or load these events to a table with `when: %s is not "
				"null`\n",
				e->job->fields[f].name, (unsigned long long)e->column[f].nulls,
				e->n, e->job->fields[f].name);
}

void keys_of_job(struct candidates *c, const struct events *e, struct arena *a)
{
	const struct job *job = e->job;

	*c = (struct candidates){.id = find_id(e), .n = job->ntables};
	c->key = arena_alloc(a, (job->ntables + 1) * sizeof *c->key);
	for (size_t t = 0; t < job->ntables; t++) {
		const struct job_table *table = &job->tables[t];

		c->key[t] = (struct candidate){.table = *table, .unique = true};
		for (size_t i = 0; i < table->ncells; i++)
			c->key[t].joined = c->key[t].joined || !table->cells[i].qualifier_constant;
		c->key[t].mean = t && !table->is_index ? &e->table_mean[t] : NULL;
		c->key[t].width = parts_width(table->rowkey, table->nrowkey);
		c->key[t].name = parts_name(job, table->rowkey, table->nrowkey, a);
	}
}

static uint32_t salts_for(unsigned servers)
{
	uint32_t n = 8;

	while (n < 2 * servers && n < 256)
		n *= 2;
	return n;
}

void keys_list(struct candidates *c, struct asks *s, const struct events *e, unsigned servers,
	       double grow, struct arena *a)
{
	struct lister l = {.c = c, .asks = s, .e = e, .a = a, .servers = servers, .grow = grow};
	bool *preferred = arena_alloc(a, e->job->nfields + 1);

	*c = (struct candidates){.id = find_id(e), .salt = salts_for(servers)};
	l.tail = (struct key_tail){.e = e, .id = c->id, .preferred = preferred, .a = a};
	for (size_t i = 0; i < s->n; i++) {
		const struct ask *k = &s->ask[i];
		const size_t of[] = {k->starts, k->range, k->time};

		l.tail.newest = l.tail.newest || k->latest;
		for (size_t f = 0; f < k->nequals; f++)
			preferred[k->equal[f]] = true;
		for (size_t f = 0; f < 3; f++)
			if (of[f] != SIZE_MAX)
				preferred[of[f]] = true;
	}
	for (size_t i = 0; i < s->n; i++)
		keep_question(&l, &s->ask[i]);
	keep_obvious(&l);
	note_nulls(&l);
}
