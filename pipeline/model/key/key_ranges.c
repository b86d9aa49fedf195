/*
 * key_ranges.c - compute the ranges of row keys for a question
 *
 * The question becomes alternatives, each a list of conditions that must all be true. For each
 * alternative, range_walk goes over the key's parts. A single value extends the prefix. An
 * interval, or a part without a condition, ends the walk with a range. If the question gives single
 * values for all fields of a salt or hash, the functions compute the salt or hash. If not, each
 * bucket of a salt gets a range.
 */
#include "key.h"

#include "alternatives.h"
#include "conditions.h"
#include "encoding.h"
#include "derive.h"
#include "key_points.h"
#include "walk.h"

#define CHOICES_MOST 4096   /* combinations of single values of the fields of a salt */
#define HASH_TELLS   8	    /* bytes of a hash that identify its input */
#define RANGES_MOST  400000 /* ranges before the join of adjacent ones */

struct range_walk {
	const struct key_table *k;
	const struct key_schema *s;
	const struct alternative *alt;
	struct arena *a;
	struct laid *part; /* by step */
	bool *asked;	   /* for each step: the part's field has conditions */
	/* by step; the first part of a date has the layout of all parts of the date */
	struct layout *layout;
	size_t *run;	       /* for each step: the number of consecutive steps with that layout */
	struct bytes *chosen;  /* for each step: the current value, with its terminator */
	struct bytes *natural; /* for each field: the tried value, if only salts use the field */
	struct interval *out;
	size_t n;
	bool *computed; /* for each derived part: the question gives all its fields */
	bool exact, whole, full;
	const char *spans; /* as in struct key_ranges */
};

/* --- conditions on a part --- */

/* Join the alternative's conditions on a field. Returns false if there are no such conditions. */
static bool field_laid(const struct range_walk *w, size_t field, const struct layout *l, bool last,
		       struct laid *out)
{
	bool any = false;

	*out = (struct laid){set_all(w->a), true};
	for (size_t i = 0; i < w->alt->n; i++) {
		size_t of;

		if (!asked_of_one_field(w->alt->atom[i], &of) || of != field)
			continue;
		struct laid one = conditions_laid(l, last, w->alt->atom[i], w->a);
		*out = (struct laid){set_and(w->a, out->set, one.set), out->exact && one.exact};
		any = true;
	}
	return any;
}

/* List a set's single values. Returns false if it has intervals too, or too many values. */
static bool points_of(struct range_walk *w, const struct layout *l, struct key_set s,
		      struct bytes **out, size_t *n)
{
	*out = arena_alloc(w->a, (s.n * COUNTED_MOST + 1) * sizeof **out);
	*n = 0;
	if (s.n > CHOICES_MOST)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		struct bytes *few;
		bool one = is_point(w->a, l, s.item[i]);
		size_t count = one ? 0 : list_points(&few, l, s.item[i], COUNTED_MOST, NULL, w->a);

		if (one)
			(*out)[(*n)++] = s.item[i].lo;
		else if (!count)
			return false;
		for (size_t k = 0; k < count; k++)
			(*out)[(*n)++] = few[k];
	}
	return true;
}

/* --- the walk --- */

static void emit(struct range_walk *w, struct bytes lo, struct bytes hi)
{
	w->full = w->full || w->n >= RANGES_MOST;
	if (w->full)
		return;
	w->out = arena_grow(w->a, w->out, w->n, sizeof *w->out);
	w->out[w->n++] = (struct interval){lo, hi};
}

static size_t field_of(const struct range_walk *w, size_t step)
{
	return w->s->parts[step].field;
}

static const struct key_derived *derived_at(const struct range_walk *w, size_t step)
{
	const struct key_derived *d = w->s->derived;

	while (d->at != step)
		d++;
	return d;
}

/*
 * Return true if a computed hash identifies the values of its fields, because it has at least
 * HASH_TELLS bytes.
 */
static bool tells(const struct range_walk *w, const struct key_derived *d)
{
	return w->computed[d - w->s->derived] && d->part->kind == PART_HASH &&
	       d->width >= HASH_TELLS;
}

/* Return true if the key contains a field only in the hash at this step. */
static bool is_needed(const struct range_walk *w, size_t step)
{
	if (w->s->steps[step].kind != PART_HASH)
		return false;
	const struct key_derived *d = derived_at(w, step);
	for (size_t i = 0; i < d->nof; i++)
		if (!d->of[i].in_parts && tells(w, d))
			return true;
	return false;
}

/* Return true if a later step has a condition that the steps so far do not decide. */
static bool later_asked(const struct range_walk *w, size_t step)
{
	for (size_t i = step + 1; i < w->s->nsteps; i++) {
		bool answered = false;

		if (is_needed(w, i))
			return true;
		if (!w->asked[i])
			continue;
		for (size_t k = 0; k <= step; k++)
			answered = answered || (w->asked[k] && w->part[k].exact &&
						field_of(w, k) == field_of(w, i));
		if (!answered)
			return true;
	}
	return false;
}

/* Return true if the question limits a part before this step, or gives all fields of a salt or hash. */
static bool limited_before(const struct range_walk *w, size_t step)
{
	for (size_t i = 0; i < step; i++)
		if (w->asked[i])
			return true;
	for (size_t i = 0; i < w->s->nderived; i++)
		if (w->s->derived[i].at < step && w->computed[i])
			return true;
	return false;
}

/* End the walk with all keys that begin with the prefix. */
static void stop_here(struct range_walk *w, size_t step, struct bytes prefix)
{
	w->exact = w->exact && !later_asked(w, step);
	w->whole = w->whole || !limited_before(w, step);
	emit(w, prefix, bytes_behind(w->a, prefix));
}

static void walk(struct range_walk *w, size_t step, struct bytes prefix);

/* Return true if the question limits the next part, so that each value of a part gets ranges of its own. */
static bool limits_next(const struct range_walk *w, size_t step)
{
	while (step < w->s->nsteps && w->s->steps[step].kind == PART_CONST)
		step++;
	if (step == w->s->nsteps)
		return false;
	if (w->s->steps[step].kind == PART_HASH)
		return w->computed[derived_at(w, step) - w->s->derived];
	return w->asked[step] || w->chosen[step].ptr;
}

/* List the values of an interval that the walk follows one by one. */
static size_t values_to_follow(struct range_walk *w, size_t step, struct interval one,
			       struct bytes **out)
{
	const struct layout *l = &w->layout[step];
	size_t next = step + w->run[step];
	bool date = l->kind == LAY_DATE, too_many = false;

	if (!later_asked(w, step) || (date && !limits_next(w, next)))
		return 0;
	bool of_others = date && next < w->s->nsteps && field_of(w, next) != field_of(w, step);
	size_t n =
		list_points(out, l, one, of_others ? BUCKETS_MOST : COUNTED_MOST, &too_many, w->a);
	if (too_many && of_others)
		w->spans = w->k->job->fields[field_of(w, step)].name;
	return n;
}

static void walk_field(struct range_walk *w, size_t step, struct bytes prefix)
{
	const struct layout *l = &w->layout[step];
	struct key_set s = w->part[step].set;

	if (w->chosen[step].ptr) {
		w->exact = w->exact && w->run[step] == 1;
		walk(w, step + 1, bytes_join(w->a, prefix, w->chosen[step]));
		return;
	}
	if (!w->asked[step]) {
		stop_here(w, step, prefix);
		return;
	}
	for (size_t i = 0; i < s.n && !w->full; i++) {
		struct interval one = s.item[i];
		bool more = later_asked(w, step);
		struct bytes *value;

		if (is_point(w->a, l, one) && !is_open_end(l)) {
			walk(w, step + w->run[step], bytes_join(w->a, prefix, one.lo));
			continue;
		}
		size_t few = values_to_follow(w, step, one, &value);
		for (size_t k = 0; k < few; k++)
			walk(w, step + w->run[step], bytes_join(w->a, prefix, value[k]));
		if (few)
			continue;
		w->exact = w->exact && !more;
		emit(w, bytes_join(w->a, prefix, one.lo),
		     one.hi.ptr ? bytes_join(w->a, prefix, one.hi) : bytes_behind(w->a, prefix));
	}
}

/* Find the input of a salt or hash. Returns false if the question does not give all its fields. */
static bool derived_input(const struct range_walk *w, const struct key_derived *d,
			  struct bytes *out)
{
	struct bytes in = bytes_of("", 0);

	for (size_t i = 0; i < d->nof; i++) {
		const struct hash_input *h = &d->of[i];
		const struct layout *l = &w->s->steps[h->part].layout;
		struct bytes b = h->in_parts ? w->chosen[h->part] : w->natural[d->part->of[i]];

		if (!b.ptr)
			return false;
		b.len -= h->in_parts && l->terminator != NO_TERMINATOR;
		in = bytes_join(w->a, in, b);
	}
	*out = in;
	return d->nof > 0;
}

/*
 * Compute a salt or hash. Returns false if the question does not give all fields of the salt or
 * hash, or if the whole key is the input.
 */
static bool derived_bytes(const struct range_walk *w, const struct key_derived *d,
			  struct bytes *out)
{
	struct bytes in;
	uint8_t *to = arena_alloc(w->a, 16);

	if (d->part->fanout || !derived_input(w, d, &in))
		return false;
	derive(d, in, (struct bytes){0}, to);
	*out = bytes_of(to, d->width);
	return true;
}

static void emit_behind(struct range_walk *w, struct bytes salt, struct interval rest)
{
	emit(w, bytes_join(w->a, salt, rest.lo),
	     rest.hi.ptr ? bytes_join(w->a, salt, rest.hi) : bytes_behind(w->a, salt));
}

static struct bytes salt_bytes(struct arena *a, uint64_t salt, uint32_t width)
{
	uint8_t *p = arena_alloc(a, 8);

	salt_write(salt, width, p);
	return bytes_of(p, width);
}

/*
 * Add a range for each bucket. hbasewd has one more bucket, for INT32_MIN, which has no absolute
 * value.
 */
static void try_buckets(struct range_walk *w, const struct key_derived *d, struct interval rest)
{
	uint32_t n = d->part->buckets;

	for (uint32_t b = 0; b < n && !w->full; b++)
		emit_behind(w, salt_bytes(w->a, b, d->width), rest);
	int64_t odd = INT32_MIN % (int64_t)n;
	if (d->part->hash == HASH_HBASEWD && odd)
		emit_behind(w, salt_bytes(w->a, (uint64_t)odd, d->width), rest);
}

/* Add a range for each bucket of the fan-out. */
static void try_fanout(struct range_walk *w, const struct key_derived *d, struct bytes in,
		       struct interval rest)
{
	uint64_t first = fanout_first(d->part, in);

	for (uint32_t i = 0; i < d->part->fanout; i++)
		emit_behind(w, salt_bytes(w->a, (first + i) % d->part->buckets, d->width), rest);
}

static bool is_one_key(const struct range_walk *w, struct interval i)
{
	return i.hi.ptr && i.hi.len == i.lo.len + 1 &&
	       bytes_eq(bytes_join(w->a, i.lo, bytes_of("", 1)), i.hi);
}

/*
 * Add a range for each salt that the keys can have, with an interval of the bytes after the salt.
 */
static void try_salts(struct range_walk *w, const struct key_derived *d, struct interval rest)
{
	struct bytes in = rest.lo;
	bool known = !d->part->draw && (d->nof == 0 || derived_input(w, d, &in));
	uint8_t salt[8];

	if (known && is_one_key(w, rest)) {
		derive(d, in, rest.lo, salt);
		emit_behind(w, bytes_join(w->a, bytes_of(salt, d->width), bytes_of("", 0)), rest);
	} else if (known && d->part->fanout) {
		try_fanout(w, d, in, rest);
	} else {
		try_buckets(w, d, rest);
	}
}

static void walk_salt(struct range_walk *w, struct bytes prefix)
{
	const struct key_derived *d = derived_at(w, 0);
	struct bytes salt;
	struct interval *before = w->out;
	size_t nbefore = w->n;

	if (derived_bytes(w, d, &salt)) {
		walk(w, 1, salt);
		return;
	}
	w->out = NULL;
	w->n = 0;
	walk(w, 1, prefix);
	struct interval *rest = w->out;
	size_t nrest = w->n;
	w->out = before;
	w->n = nbefore;
	for (size_t i = 0; i < nrest && !w->full; i++)
		try_salts(w, d, rest[i]);
}

static void walk(struct range_walk *w, size_t step, struct bytes prefix)
{
	struct bytes hash;

	if (w->full)
		return;
	if (step == w->s->nsteps) {
		emit(w, prefix, bytes_join(w->a, prefix, bytes_of("", 1)));
		return;
	}
	switch (w->s->steps[step].kind) {
	case PART_CONST:
		walk(w, step + 1, bytes_join(w->a, prefix, w->s->steps[step].constant));
		return;
	case PART_SALT: walk_salt(w, prefix); return;
	case PART_FIELD: walk_field(w, step, prefix); return;
	case PART_KEY: stop_here(w, step, prefix); return; /* of a qualifier */
	case PART_HASH: break;
	}
	if (derived_bytes(w, derived_at(w, step), &hash))
		walk(w, step + 1, bytes_join(w->a, prefix, hash));
	else
		stop_here(w, step, prefix);
}

/* --- single values of the fields of salts and hashes --- */

/* Values to try one after another, and the place from which the walk reads the current value. */
struct tried_values {
	struct bytes *place, *point;
	size_t n;
};

static bool add_choice(struct range_walk *w, const struct key_derived *d, size_t of,
		       struct tried_values *choices, size_t *n)
{
	const struct hash_input *h = &d->of[of];
	size_t field = d->part->of[of];
	struct tried_values c = {.place = h->in_parts ? &w->chosen[h->part] : &w->natural[field]};
	const struct layout *l = h->in_parts ? &w->s->steps[h->part].layout : &h->natural;
	struct laid laid;

	for (size_t i = 0; i < *n; i++)
		if (choices[i].place == c.place)
			return true;
	if (!field_laid(w, field, l, is_open_end(l), &laid) ||
	    !points_of(w, l, laid.set, &c.point, &c.n))
		return false;
	choices[(*n)++] = c;
	return true;
}

static void try_choices(struct range_walk *w, const struct tried_values *choices, size_t n)
{
	if (n == 0) {
		walk(w, 0, bytes_of("", 0));
		return;
	}
	for (size_t i = 0; i < choices->n && !w->full; i++) {
		*choices->place = choices->point[i];
		try_choices(w, choices + 1, n - 1);
	}
	*choices->place = (struct bytes){0};
}

/*
 * Find the salts and hashes that follow from the question. Returns the number of fields with values
 * to try.
 */
static size_t choose(struct range_walk *w, struct tried_values *choices)
{
	size_t n = 0, product = 1;

	for (size_t i = 0; i < w->s->nderived; i++) {
		const struct key_derived *d = &w->s->derived[i];
		size_t before = n;
		bool known = true;

		for (size_t k = 0; known && k < d->nof; k++)
			known = add_choice(w, d, k, choices, &n);
		w->computed[i] = known && d->nof > 0;
		n = known ? n : before;
		for (size_t k = before; k < n && product <= CHOICES_MOST; k++)
			product *= choices[k].n;
	}
	if (product <= CHOICES_MOST)
		return n;
	memset(w->computed, 0, w->s->nderived * sizeof *w->computed);
	return 0;
}

static bool is_all(struct key_set s)
{
	return s.n == 1 && s.item[0].lo.len == 0 && !s.item[0].hi.ptr;
}

static bool is_hashed(const struct range_walk *w, size_t field)
{
	for (size_t i = 0; i < w->s->nderived; i++) {
		const struct key_derived *d = &w->s->derived[i];

		for (size_t k = 0; tells(w, d) && k < d->nof; k++)
			if (d->part->of[k] == field)
				return true;
	}
	return false;
}

/* Find a condition that the key does not decide. Then the ranges also contain other rows. */
static void look_for_lost(struct range_walk *w, const char **lost)
{
	for (size_t i = 0; i < w->alt->n; i++) {
		size_t field;
		bool found = false, inside = false, narrowed = false;
		bool one = asked_of_one_field(w->alt->atom[i], &field);

		for (size_t k = 0; one && k < w->s->nsteps; k++) {
			bool here = w->asked[k] && field_of(w, k) == field;

			inside = inside || here;
			found = found || (here && w->part[k].exact);
			narrowed = narrowed || (here && !is_all(w->part[k].set));
		}
		if (inside && !found && !narrowed)
			*lost = w->k->job->fields[field].name;
		w->exact = w->exact && (found || (one && !inside && is_hashed(w, field)));
	}
}

static bool goes_on(const struct key_schema *s, size_t step, unsigned date)
{
	const struct layout *l = &s->steps[step].layout, *first = &s->steps[step - 1].layout;

	return s->steps[step].kind == PART_FIELD && l->kind == LAY_DATE && l->date == date &&
	       s->parts[step].field == s->parts[step - 1].field && l->zone == first->zone;
}

size_t date_run(const struct key_schema *s, size_t step, struct layout *l)
{
	size_t n = 1;

	*l = s->steps[step].layout;
	if (s->steps[step].kind != PART_FIELD || l->kind != LAY_DATE || l->date != DATE_YEAR)
		return n;
	for (; step + n < s->nsteps && goes_on(s, step + n, DATE_YEAR << n); n++) {
		l->date |= s->steps[step + n].layout.date;
		l->width += s->steps[step + n].layout.width;
	}
	return n;
}

static void take_alternative(struct range_walk *w, const struct alternative *alt, const char **lost)
{
	w->alt = alt;
	size_t most = 0;

	for (size_t i = 0; i < w->s->nderived; i++)
		most += w->s->derived[i].nof;
	size_t inside = 0; /* steps before this one are part of a run */
	for (size_t i = 0; i < w->s->nsteps; i++) {
		const struct layout *l = &w->layout[i];
		bool last = i + 1 == w->s->nsteps && is_open_end(l);

		w->asked[i] = false;
		if (i < inside)
			continue;
		inside = i + w->run[i];
		w->asked[i] = w->s->steps[i].kind == PART_FIELD &&
			      field_laid(w, field_of(w, i), l, last, &w->part[i]);
	}
	struct tried_values *choices = arena_alloc(w->a, (most + 1) * sizeof *choices);
	size_t n = choose(w, choices);

	look_for_lost(w, lost);
	try_choices(w, choices, n);
}

int ranges_of(struct key_ranges *out, const struct key_table *k, const struct asked *q,
	      struct arena *a, struct error *err)
{
	struct alternative everything = {0};
	struct alternatives alts = {&everything, 1};
	size_t steps = k->schema.nsteps + 1;
	struct range_walk w = {.k = k, .s = &k->schema, .a = a, .exact = true};

	*out = (struct key_ranges){0};
	w.part = arena_alloc(a, steps * sizeof *w.part);
	w.asked = arena_alloc(a, steps * sizeof *w.asked);
	w.layout = arena_alloc(a, steps * sizeof *w.layout);
	w.run = arena_alloc(a, steps * sizeof *w.run);
	for (size_t i = 0; i < w.s->nsteps; i++)
		w.run[i] = date_run(w.s, i, &w.layout[i]);
	w.chosen = arena_alloc(a, steps * sizeof *w.chosen);
	w.computed = arena_alloc(a, (w.s->nderived + 1) * sizeof *w.computed);
	w.natural = arena_alloc(a, (k->job->nfields + 1) * sizeof *w.natural);
	if (q && !alternatives_of(q, a, &alts))
		return error_set(err, RC_LIMIT,
				 "the question has more than %d alternatives, expected fewer",
				 ALTERNATIVES);
	for (size_t i = 0; i < alts.n && !w.full; i++)
		take_alternative(&w, &alts.item[i], &out->lost);
	if (w.full)
		return error_set(err, RC_LIMIT,
				 "the question has more than %d ranges, expected fewer",
				 RANGES_MOST);
	struct key_set s = set_tidy(w.out, w.n);
	out->range = arena_alloc(a, (s.n + 1) * sizeof *out->range);
	for (size_t i = 0; i < s.n; i++)
		out->range[i] = (struct key_range){s.item[i].lo, s.item[i].hi};
	out->n = s.n;
	out->exact = w.exact;
	out->whole = w.whole;
	out->spans = w.spans;
	return RC_OK;
}
