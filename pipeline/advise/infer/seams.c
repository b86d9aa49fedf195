/*
 * seams.c - find texts of a key that are two fields without a byte between them
 *
 * The digits of one number vary more and more from the first digit to the last one, or less and
 * less if they are reversed. A fall and a new rise show that a second number begins. Letters
 * without digits after a mix of both show it too.
 */
#include <ctype.h>

#include "infer.h"

#define FALL_BITS 1.0 /* least fall and rise of the entropy at a seam */

static bool is_mixed(const struct key_column *c)
{
	return c->print && !c->digit && !c->alpha && isalnum(c->low) && isalnum(c->high);
}

static bool is_upper(const struct key_column *c)
{
	return c->alpha && isupper(c->low) && isupper(c->high);
}

static bool is_lower(const struct key_column *c)
{
	return c->alpha && islower(c->low) && islower(c->high);
}

bool seam_at(const struct key_anchor *a, size_t from, size_t column)
{
	const struct key_column *c = &a->column[column];

	if (column >= a->columns || column <= from || a->n < DRAWN_LEAST)
		return false;
	if (is_mixed(c - 1))
		return c->digit || c->alpha;
	return column > from + 1 && is_upper(c - 2) && is_upper(c - 1) && is_lower(c);
}

size_t seams_in(const struct key_anchor *a, size_t from, size_t width)
{
	size_t n = 0;

	for (size_t i = 1; i < width; i++)
		n += seam_at(a, from, from + i);
	return n;
}

/* Return the first column where the entropy falls before it rises again, or 0. */
static size_t fall_of(const struct key_anchor *a)
{
	for (size_t i = 1; i + 1 < a->columns; i++) {
		double most = 0;

		if (a->column[i - 1].entropy - a->column[i].entropy < FALL_BITS)
			continue;
		for (size_t k = i + 1; k < a->columns; k++)
			most = a->column[k].entropy > most ? a->column[k].entropy : most;
		if (most - a->column[i].entropy >= FALL_BITS)
			return i;
	}
	return 0;
}

static void doubt_digits(struct guess *p, const struct bytes *texts, size_t n, struct arena *arena)
{
	uint32_t *at = arena_alloc(arena, (n + 1) * sizeof *at);
	struct key_anchor a;

	anchor_make(&a, arena, texts, n, at);
	size_t fall = a.least == a.most ? fall_of(&a) : 0;
	if (fall)
		p->doubt = arena_format(arena,
					"may be two parts without a byte between them: %zu digits "
					"and %zu digits",
					fall, a.most - fall);
}

/* Return true if the part is digits of one width without a known meaning. */
static bool is_plain_digits(const struct guess *p)
{
	return p->kind == GUESS_FIELD && p->text && p->width && !p->derived && p->type == FIELD_U64;
}

void guess_unite_unknown(struct guesses *g)
{
	for (size_t i = 0; i + 1 < g->n; i++) {
		struct guess *p = &g->part[i], *next = p + 1;
		bool weak = p->backwards && p->width == 4;

		if (!weak || !next->opaque || !next->width)
			continue;
		next->width += p->width;
		g->n--;
		memmove(p, next, (g->n - i) * sizeof *p);
	}
}

void guess_seams(struct guesses *g, const struct bytes *keys, size_t n, struct arena *arena)
{
	struct bytes *parts, *texts;

	if (n < DRAWN_LEAST)
		return;
	parts = arena_alloc(arena, (g->n + 1) * sizeof *parts);
	texts = arena_alloc(arena, (n + 1) * sizeof *texts);
	for (size_t i = 0; i < g->n; i++) {
		bool split = is_plain_digits(&g->part[i]);

		for (size_t k = 0; split && k < n; k++) {
			split = guess_split(g, keys[k], parts);
			texts[k] = parts[i];
		}
		if (split)
			doubt_digits(&g->part[i], texts, n, arena);
	}
}
