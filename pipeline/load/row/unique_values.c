/*
 * unique_values.c - `unique` of fields: reject a value that an earlier event has
 *
 * A set has XXH3-128 of each value, so the set takes two different values as equal once in 2^128 /
 * n^2 loads of n events. The encoder that has the sets must get the events in input order.
 */
#include "compiled.h"
#include "error.h"
#include "hash.h"

#define FIRST_ROOM 1024

struct unique_set {
	XXH128_hash_t *item; /* 0, 0 means empty */
	size_t n, room;	     /* room is a power of two */
};

static bool is_empty(const XXH128_hash_t *h)
{
	return h->low64 == 0 && h->high64 == 0;
}

/* Find the hash, or the empty place for it. */
static XXH128_hash_t *find(const struct unique_set *s, XXH128_hash_t h)
{
	size_t i = h.low64 & (s->room - 1);

	while (!is_empty(&s->item[i]) && !XXH128_isEqual(s->item[i], h))
		i = (i + 1) & (s->room - 1);
	return &s->item[i];
}

/* Double the room if the set is three quarters full. Return false if the budget has no memory. */
static bool grow(struct unique_set *s, struct budget *budget)
{
	if (s->room && s->n < s->room / 4 * 3)
		return true;
	struct unique_set more = {.n = s->n, .room = s->room ? 2 * s->room : FIRST_ROOM};
	if (budget && !budget_take(budget, more.room * sizeof *more.item))
		return false;
	more.item = mem_calloc(more.room, sizeof *more.item);
	for (size_t i = 0; i < s->room; i++)
		if (!is_empty(&s->item[i]))
			*find(&more, s->item[i]) = s->item[i];
	if (budget)
		budget_give(budget, s->room * sizeof *s->item);
	mem_free(s->item);
	*s = more;
	return true;
}

int note_unique(struct row_encoder *e, size_t expectation, const struct value *v,
		struct reject *why)
{
	const struct field *f = &e->plan->job->fields[e->plan->job->expects[expectation].field];
	struct buf *text = &e->qualifier;

	if (!v->text.ptr)
		return RC_OK;
	if (!e->unique)
		e->unique = mem_calloc(e->plan->job->nexpects, sizeof *e->unique);
	struct unique_set *s = &e->unique[expectation];
	if (!grow(s, e->budget)) {
		reject_set(why, "expect_unique", f->name,
			   "`unique` of field `%.60s` needs memory for more than %zu values; raise "
			   "--memory",
			   f->name, s->n);
		return RC_LIMIT;
	}
	text->len = 0;
	field_text(f, v, text); /* 007 and 7 are one number */
	XXH128_hash_t h = XXH3_128bits(text->ptr, text->len);
	h.high64 += is_empty(&h);
	XXH128_hash_t *place = find(s, h);
	if (!is_empty(place))
		return reject_value(why, "expect_unique", f->name, v->text,
				    "expected a value that no earlier row has");
	*place = h;
	s->n++;
	return RC_OK;
}

void unique_release(struct row_encoder *e)
{
	for (size_t i = 0; e->unique && i < e->plan->job->nexpects; i++) {
		if (e->budget)
			budget_give(e->budget, e->unique[i].room * sizeof *e->unique[i].item);
		mem_free(e->unique[i].item);
	}
	mem_free(e->unique);
}

void row_encoder_account(struct row_encoder *e, struct budget *budget)
{
	e->budget = budget;
}
