/* draws.c - draw the values of a question, and count the rows that each draw returns */
#include "cost.h"

#define TESTS_MOST 20000000 /* events to test, for all draws together */
#define SLOTS	   512	    /* of a hash table for the values of all draws */

/* --- the events as values of a predicate --- */

struct tested_event {
	const struct events *e;
	size_t event;
	struct value value;
};

static const struct value *value_of(void *ctx, size_t field)
{
	struct tested_event *t = ctx;

	event_value(&t->e->column[field], t->event, &t->value);
	return &t->value;
}

bool draw_matches(const struct draws *d, size_t draw, const struct events *e, size_t event)
{
	struct tested_event t = {.e = e, .event = event};

	return !d->predicate[draw] || predicate_ask(d->predicate[draw], value_of, &t) == ANSWER_YES;
}

static int compile(struct draws *d, size_t i, const struct events *e, struct error *err)
{
	const struct question *q = &d->drawn[i].q;
	struct job_condition *c = arena_alloc(&d->arena, sizeof *c);
	size_t *fields = arena_alloc(&d->arena, (q->nconditions + 1) * sizeof *fields);
	int rc = RC_OK;

	if (!q->root)
		return RC_OK;
	for (size_t f = 0; rc == RC_OK && f < q->nconditions; f++)
		rc = field_find(e->job, bytes_str(q->conditions[f].name), &fields[f], err);
	*c = (struct job_condition){q, fields};
	return rc ? rc : predicate_new(&d->predicate[i], c, d->forms, &d->arena, err);
}

static size_t count_below(const uint64_t *sorted, size_t n, uint64_t value)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (sorted[mid] < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Return the mean rows of the drawn intervals, divided by those of even events; at least 1. */
static double burst_of(const struct draws *d, const struct event_column *c, const struct events *e)
{
	double rows = 0, even = 0, span = (double)(c->most - c->least) + 1;

	if (!c->number || c->nulls || c->most <= c->least)
		return 1;
	uint64_t *sorted = mem_alloc((e->n + 1) * sizeof *sorted);
	memcpy(sorted, c->number, e->n * sizeof *sorted);
	words_sort(sorted, e->n);
	for (size_t i = 0; i < d->n; i++) {
		const struct drawn *one = &d->drawn[i];

		if (!one->interval)
			continue;
		rows += (double)(count_below(sorted, e->n, one->to + 1) -
				 count_below(sorted, e->n, one->from));
		even += (double)e->n * ((double)(one->to - one->from) + 1) / span;
	}
	mem_free(sorted);
	return even > 0 && rows > even ? rows / even : 1;
}

/* --- groups --- */

/* Return true if equal values of the field have equal words. */
static bool has_words(const struct field *f)
{
	enum field_type t = f->type;

	return !f->transform &&
	       (t == FIELD_TEXT || t == FIELD_U32 || t == FIELD_U64 || t == FIELD_I64);
}

/* Return true if an event can match the question only if this condition is true. */
static bool is_required(const struct question *q, size_t condition)
{
	const struct question_node *n = q->root;

	if (n->kind == QUESTION_CONDITION)
		return n->condition == condition;
	for (size_t i = 0; n->kind == QUESTION_AND && i < n->nof; i++)
		if (n->of[i]->kind == QUESTION_CONDITION && n->of[i]->condition == condition)
			return true;
	return false;
}

/* Return the column of a required condition `FIELD = ?`, or NULL. */
static const struct event_column *grouping(const struct ask *k, const struct events *e)
{
	for (size_t i = 0; i < k->nholes; i++) {
		size_t condition = k->hole[i].condition, field;
		const struct condition *c = &k->q.conditions[condition];
		struct error ignored;

		if (c->op == QUESTION_EQ && is_required(&k->q, condition) &&
		    field_find(e->job, bytes_str(c->name), &field, &ignored) == RC_OK &&
		    has_words(e->column[field].field))
			return &e->column[field];
	}
	return NULL;
}

struct group_slot {
	uint64_t word;
	uint8_t group; /* 0 means empty */
};

/* Return the slot of the word, or the empty slot for it. */
static struct group_slot *slot_of(struct group_slot *slots, uint64_t word)
{
	size_t at = (word * UINT64_C(0x9E3779B97F4A7C15) >> 32) % SLOTS;

	while (slots[at].group && slots[at].word != word)
		at = (at + 1) % SLOTS;
	return &slots[at];
}

/*
 * Group the events for `latest`. A rare value makes a scan in the order of time long, and testing all its rows
 * for each draw would take longer than all other work.
 */
static void groups_make(struct draws *d, const struct ask *k, const struct events *e)
{
	const struct event_column *c = grouping(k, e);
	struct group_slot slots[SLOTS] = {{0}};
	uint8_t groups = 0;

	if (!c)
		return;
	_Static_assert(ASK_DRAWS + 1 <= UINT8_MAX && ASK_DRAWS + 1 <= SLOTS / 2, "groups");
	for (size_t i = 0; i < d->n; i++) {
		size_t event = d->drawn[i].event;
		uint64_t word = event_word(c, event);
		struct group_slot *s = slot_of(slots, word);

		if (c->null && c->null[event])
			return;
		if (!s->group)
			*s = (struct group_slot){word, ++groups};
		d->group_of[i] = s->group;
	}
	d->group = mem_alloc(e->n + 1);
	for (size_t i = 0; i < e->n; i++)
		d->group[i] = slot_of(slots, event_word(c, i))->group;
}

int draws_make(struct draws *d, const struct ask *k, const struct events *e,
	       const struct field_forms *forms, struct error *err)
{
	int rc = RC_OK;

	*d = (struct draws){.forms = forms, .burst = 1};
	size_t n = k->nholes ? ASK_DRAWS + 1 : 1;
	for (; rc == RC_OK && d->n < n; d->n++) {
		rc = ask_draw(&d->drawn[d->n], k, e, d->n, &d->arena, err);
		if (rc == RC_OK)
			rc = compile(d, d->n, e, err);
	}
	if (rc == RC_OK && k->range != SIZE_MAX)
		d->burst = burst_of(d, &e->column[k->range], e);
	if (rc == RC_OK && k->latest)
		groups_make(d, k, e);
	return rc;
}

void draws_count(struct draws *d, const struct ask *k, const struct events *e)
{
	size_t most = TESTS_MOST / (e->n + 1) + 1, step = d->n > most ? d->n / most : 1, n = 0;
	double counts[ASK_DRAWS + 1];

	for (size_t i = 0; i < d->n; i += step) {
		uint64_t found = 0;

		for (size_t at = 0; at < e->n && !(k->latest && found == k->latest); at++)
			found += draw_matches(d, i, e, at);
		counts[n++] = (double)found;
	}
	d->returned = figure_of(counts, n);
	d->counted = true;
}

void draws_release(struct draws *d)
{
	mem_free(d->group);
	arena_release(&d->arena);
}
