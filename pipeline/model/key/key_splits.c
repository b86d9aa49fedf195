/* key_splits.c - compute split points from the parts of a row key, without events */
#include "key_spread.h"

#include <string.h>

/* A place within a range of keys, as a share of the keys below it. */
struct split_place {
	uint64_t part, of; /* part / of, at least 0 and below 1 */
};

/* The position of a place, after rounding to a border that the known parts allow. */
enum key_border { BORDER_START, BORDER_INSIDE, BORDER_END };

__extension__ typedef unsigned __int128 wide;

#define FINE (UINT64_C(1) << 40)

/* Divide x * y by z. Sets *rest to the remainder. */
static uint64_t times_over(uint64_t x, uint64_t y, uint64_t z, uint64_t *rest)
{
	wide product = (wide)x * y;

	*rest = (uint64_t)(product % z);
	return (uint64_t)(product / z);
}

/* Append the digits of a number without the zeros at its end, because a shorter key sorts alike. */
static void put_digits(const struct part_spread *p, uint64_t n, bool whole, struct buf *out)
{
	uint8_t text[64];
	size_t len = p->digits;

	for (size_t i = len; i-- > 0; n /= p->radix) {
		uint8_t digit = (uint8_t)(n % p->radix);

		text[i] = p->radix == 256 ? digit : (uint8_t) "0123456789abcdef"[digit];
	}
	while (!whole && len && text[len - 1] == (p->radix == 256 ? 0 : '0'))
		len--;
	buf_append(out, p->head.ptr, p->head.len);
	buf_append(out, text, len);
}

static enum key_border find_border(const struct key_spread *s, size_t at, struct split_place in,
				   struct buf *out);

/*
 * Append the border at value number `v` of part `at`, or at the place `in` between the keys of this
 * value.
 */
static enum key_border inside_value(const struct key_spread *s, size_t at, uint64_t v,
				    struct split_place in, struct buf *out)
{
	const struct part_spread *p = &s->part[at];
	struct buf rest = {0};
	enum key_border b = find_border(s, at + 1, in, &rest);
	uint64_t values = p->nitems ? p->nitems : p->many;

	v += b == BORDER_END;
	if (v == values) {
		b = BORDER_END;
	} else if (v == 0 && b != BORDER_INSIDE) {
		b = BORDER_START;
	} else {
		if (p->nitems)
			buf_append(out, p->items[v].bytes.ptr, p->items[v].bytes.len);
		else
			put_digits(p, p->least + v, b == BORDER_INSIDE, out);
		buf_append(out, rest.ptr, rest.len);
		b = BORDER_INSIDE;
	}
	buf_release(&rest);
	return b;
}

/* Append the border that is nearest to a place among the keys of the parts from `at` on. */
static enum key_border find_border(const struct key_spread *s, size_t at, struct split_place in,
				   struct buf *out)
{
	const struct part_spread *p = &s->part[at];
	uint64_t v = 0, rest;

	if (at == s->n || in.part == 0)
		return in.part >= in.of - in.part ? BORDER_END : BORDER_START;
	if (!p->nitems) {
		v = times_over(in.part, p->many, in.of, &rest);
		return inside_value(s, at, v, (struct split_place){rest, in.of}, out);
	}
	uint64_t below = times_over(in.part, p->weight, in.of, &rest);
	while (v + 1 < p->nitems && below >= p->items[v].weight)
		below -= p->items[v++].weight;
	uint64_t fine = p->items[v].weight ? times_over(below, FINE, p->items[v].weight, &rest) : 0;
	return inside_value(s, at, v, (struct split_place){fine, FINE}, out);
}

static int too_many(const struct key_table *k, const struct key_spread *s, uint32_t count,
		    size_t found, struct error *err)
{
	const struct job_table *t = k->table;
	struct buf fix = {0};

	if (s->unknown)
		buf_printf(&fix,
			   "; if you know the values of `%s`, add `spread: {%s: {from: A, to: B}}` "
			   "to `regions:`, or a histogram",
			   s->unknown, s->unknown);
	buf_put(&fix, 0);
	int rc = error_set(err, RC_CONFIG,
			   "%s:%u:%u: table %s: found `split: key` with %u regions, expected at "
			   "most %zu, because the known parts of the row key give no more split "
			   "points%s",
			   k->job->path, t->regions.pos.line, t->regions.pos.column, t->schema.name,
			   count, found + 1, (const char *)fix.ptr);
	buf_release(&fix);
	return rc;
}

static int borders_add(const struct key_spread *s, uint32_t count, struct splits *out,
		       struct error *err)
{
	struct buf key = {0};
	int rc = RC_OK;

	for (uint32_t i = 1; i < count && rc == RC_OK; i++) {
		key.len = 0;
		enum key_border b = find_border(s, 0, (struct split_place){i, count}, &key);
		struct bytes last = out->count ? out->keys[out->count - 1] : bytes_str("");

		if (b == BORDER_INSIDE && bytes_cmp(buf_bytes(&key), last) > 0)
			rc = splits_add(out, buf_bytes(&key), err);
	}
	buf_release(&key);
	return rc;
}

int key_splits(const struct job *job, const struct job_table *t, uint32_t count, struct splits *out,
	       struct buf *assumed, struct error *err)
{
	struct key_table keys;
	struct field_forms forms;
	struct arena a = {0};
	struct key_spread s;
	size_t before = out->count;
	int rc = field_forms_open(&forms, job, err);

	key_table_open(&keys, job, t);
	if (rc == RC_OK)
		rc = key_spread(&s, &keys, &forms, &a, assumed, err);
	if (rc == RC_OK)
		rc = borders_add(&s, count, out, err);
	if (rc == RC_OK && out->count - before + 1 < count)
		rc = too_many(&keys, &s, count, out->count - before, err);
	key_table_close(&keys);
	field_forms_close(&forms);
	arena_release(&a);
	return rc;
}
