/* tail.c - make a row key different in each event */
#include "keys.h"

#define ID_BYTES_MOST 40 /* a longer text is no id */

bool body_has(const struct body *b, size_t field)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->part[i].kind == PART_FIELD && b->part[i].field == field &&
		    encodings[b->part[i].as].kind != LAY_DATE)
			return true;
	return false;
}

static bool is_text_type(enum field_type t)
{
	return t == FIELD_TEXT || t == FIELD_BYTES || t == FIELD_HEX;
}

bool field_may_be_part(const struct events *e, size_t field)
{
	const struct event_column *c = &e->column[field];
	enum field_type t = c->field->type;

	if (c->nulls || (t == FIELD_TIME && (int64_t)c->most < 0))
		return false;
	return !is_text_type(t) || (c->longest > 0 && c->shortest > 0 && c->longest <= 1024);
}

size_t find_id(const struct events *e)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < e->job->nfields; i++) {
		const struct event_column *c = &e->column[i];
		enum field_type t = c->field->type;
		bool fits = t == FIELD_U32 || t == FIELD_U64 || t == FIELD_I64 || t == FIELD_UUID ||
			    (t == FIELD_TEXT && c->longest <= ID_BYTES_MOST);

		if (!fits || c->distinct != e->n || !field_may_be_part(e, i) || e->n < 2)
			continue;
		/* a text is an id only if no number is */
		if (found == SIZE_MAX || (e->column[found].text && !c->text))
			found = i;
	}
	return found;
}

/* Return the narrowest encoding that holds 16 times the largest value. */
static enum encode_as narrowest(uint64_t most)
{
	if (most <= UINT8_MAX / 16)
		return AS_U8;
	if (most <= UINT16_MAX / 16)
		return AS_U16;
	return most <= UINT32_MAX / 16 ? AS_U32 : AS_U64;
}

struct key_part part_of_field(const struct events *e, size_t field, bool newest, bool last)
{
	const struct event_column *c = &e->column[field];
	enum field_type t = c->field->type;
	struct key_part p = {.kind = PART_FIELD,
			     .field = field,
			     .as = encoding_natural(t),
			     .zone = c->field->zone,
			     .terminator = NO_TERMINATOR};

	if (t == FIELD_TIME)
		p.as = newest ? AS_REVERSED_MILLIS : AS_MILLIS;
	else if (t == FIELD_U32 || t == FIELD_U64)
		p.as = narrowest(c->most);
	if (encodings[p.as].width)
		return p;
	if (t == FIELD_TEXT && c->longest == c->shortest) {
		p.width = c->longest;
		p.pad = ' ';
	} else if (!last) {
		p.terminator = 0;
	}
	return p;
}

void body_add(struct body *b, const struct events *e, size_t field, bool newest)
{
	if (b->n < BODY_PARTS_MOST && !body_has(b, field))
		b->part[b->n++] = part_of_field(e, field, newest, false);
}

/* --- events that share a key --- */

/* Count the different values of the fields together, by 64-bit hashes. */
static size_t count_distinct(const struct events *e, const bool *in)
{
	size_t room = 64, distinct = 0;

	while (room < 2 * e->n)
		room *= 2;
	uint64_t *seen = mem_calloc(room, sizeof *seen);
	for (size_t i = 0; i < e->n; i++) {
		uint64_t h = 1;

		for (size_t f = 0; f < e->job->nfields; f++)
			if (in[f])
				h = event_hash(h,
					       event_word(&e->column[f], i) +
						       (e->column[f].null && e->column[f].null[i]));
		h += !h;
		size_t at = h >> 7 & (room - 1);
		while (seen[at] && seen[at] != h)
			at = (at + 1) & (room - 1);
		distinct += !seen[at];
		seen[at] = h;
	}
	mem_free(seen);
	return distinct;
}

uint64_t events_repeated(const struct events *e)
{
	bool *in = mem_alloc(e->job->nfields + 1);

	memset(in, 1, e->job->nfields);
	uint64_t n = e->n - count_distinct(e, in);
	mem_free(in);
	return n;
}

/* Count as count_distinct does, each set of fields once. */
static size_t distinct_of(struct key_tail *t, const bool *in)
{
	size_t n = t->e->job->nfields;

	for (size_t i = 0; i < t->ncounts; i++)
		if (memcmp(t->counts[i].fields, in, n * sizeof *in) == 0)
			return t->counts[i].distinct;
	t->counts = arena_grow(t->a, t->counts, t->ncounts, sizeof *t->counts);
	struct distinct_count *c = &t->counts[t->ncounts++];
	*c = (struct distinct_count){arena_dup(t->a, in, n * sizeof *in), count_distinct(t->e, in)};
	return c->distinct;
}

static void fields_of(const struct body *b, bool *in)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->part[i].kind == PART_FIELD && encodings[b->part[i].as].kind != LAY_DATE)
			in[b->part[i].field] = true;
}

/* Find the field that leaves the fewest events with equal keys. */
static size_t best_field(struct key_tail *t, bool *in, size_t *distinct)
{
	const struct events *e = t->e;
	size_t best = SIZE_MAX, most = *distinct;

	for (unsigned round = 0; best == SIZE_MAX && round < 2; round++)
		for (size_t f = 0; f < e->job->nfields; f++) {
			bool wide = is_text_type(e->job->fields[f].type) &&
				    e->column[f].longest > ID_BYTES_MOST;

			if (in[f] || wide || !field_may_be_part(e, f) || t->preferred[f] != !round)
				continue;
			in[f] = true;
			size_t n = distinct_of(t, in);
			in[f] = false;
			if (n > most) {
				most = n;
				best = f;
			}
		}
	*distinct = most;
	return best;
}

/* Add an md5 of all fields that have no nulls. */
static void add_md5(struct body *b, const struct events *e, struct arena *a)
{
	struct key_part p = {.kind = PART_HASH,
			     .hash = HASH_MD5,
			     .width = 8,
			     .terminator = NO_TERMINATOR};

	p.of = arena_alloc(a, (e->job->nfields + 1) * sizeof *p.of);
	for (size_t f = 0; f < e->job->nfields; f++)
		if (!e->column[f].nulls)
			p.of[p.nof++] = f;
	if (p.nof)
		b->part[b->n++] = p;
}

bool body_finish(struct key_tail *t, struct body *b)
{
	const struct events *e = t->e;

	if (t->id != SIZE_MAX) {
		body_add(b, e, t->id, t->newest);
		return true;
	}
	bool *in = mem_calloc(e->job->nfields + 1, sizeof *in);
	memset(in, 1, e->job->nfields);
	size_t all = distinct_of(t, in);
	memset(in, 0, e->job->nfields);
	fields_of(b, in);
	size_t distinct = distinct_of(t, in), last = SIZE_MAX;
	while (distinct < all && b->n < BODY_PARTS_MOST - 1) {
		last = best_field(t, in, &distinct);
		if (last == SIZE_MAX)
			break;
		in[last] = true;
		body_add(b, e, last, t->newest);
	}
	if (distinct < all)
		add_md5(b, e, t->a);
	mem_free(in);
	return all == e->n;
}
