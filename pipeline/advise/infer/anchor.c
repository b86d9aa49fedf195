/* anchor.c - what the bytes of many keys have in common, by column */
#include <ctype.h>
#include <math.h>

#include "infer.h"

static void add_column(const struct key_anchor *a, size_t at, struct key_column *c)
{
	uint32_t count[256] = {0};

	*c = (struct key_column){
		.low = 0xff, .print = true, .digit = true, .alpha = true, .hex = true};
	for (size_t k = 0; k < a->n; k++) {
		uint8_t b = *anchor_ptr(a, k, at);

		count[b]++;
		c->low = b < c->low ? b : c->low;
		c->high = b > c->high ? b : c->high;
		c->print &= b >= 0x20 && b < 0x7f;
		c->digit &= isdigit(b) != 0;
		c->alpha &= isalpha(b) != 0;
		c->hex &= isdigit(b) || (b >= 'a' && b <= 'f') || (b >= 'A' && b <= 'F');
	}
	for (size_t i = 0; i < 256; i++) {
		double share = (double)count[i] / (double)a->n;

		c->different = (uint16_t)(c->different + (count[i] > 0));
		c->entropy -= count[i] ? share * log2(share) : 0;
	}
	c->same = c->different == 1;
}

void anchor_make(struct key_anchor *a, struct arena *arena, const struct bytes *keys, size_t n,
		 const uint32_t *at)
{
	*a = (struct key_anchor){.keys = keys, .n = n, .least = SIZE_MAX};
	a->at = arena_dup(arena, at, n * sizeof *at);
	for (size_t k = 0; k < n; k++) {
		size_t left = keys[k].len - at[k];

		a->least = left < a->least ? left : a->least;
		a->most = left > a->most ? left : a->most;
	}
	a->columns = a->least < GUESS_BYTES ? a->least : GUESS_BYTES;
	a->column = arena_alloc(arena, (a->columns + 1) * sizeof *a->column);
	a->best = arena_alloc(arena, (a->columns + 1) * sizeof *a->best);
	for (size_t i = 0; i < a->columns; i++)
		add_column(a, i, &a->column[i]);
}

size_t anchor_same(const struct key_anchor *a, size_t from)
{
	size_t n = 0;

	while (from + n < a->columns && a->column[from + n].same)
		n++;
	return n;
}

uint64_t guess_number(const uint8_t *p, size_t width)
{
	uint64_t u = 0;

	for (size_t i = 0; i < width; i++)
		u = u << 8 | p[i];
	return u;
}
