/*
 * seams.c - find texts of a key that are two fields without a byte between them
 *
 * The digits of one number vary more and more from the first digit to the last one, or less and
 * less if they are reversed. A fall and a new rise show that a second number begins. Letters
 * without digits after a mix of both show it too. Two codes occur in all pairs.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "infer.h"

#define TEXT_MOST  24  /* longest text that the search divides */
#define MOST_PAIRS 0.8 /* share of the pairs that chance gives */
#define FALL_BITS  1.0 /* least fall and rise of the entropy at a seam */

static int by_bytes(const void *a, const void *b)
{
	return bytes_cmp(*(const struct bytes *)a, *(const struct bytes *)b);
}

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

/* Sort the texts between two columns. */
static struct bytes *sorted_texts(const struct key_anchor *a, size_t from, size_t to,
				  struct arena *arena)
{
	struct bytes *list = arena_alloc(arena, (a->n + 1) * sizeof *list);

	for (size_t k = 0; k < a->n; k++)
		list[k] = bytes_of(anchor_ptr(a, k, from), to - from);
	qsort(list, a->n, sizeof *list, by_bytes);
	return list;
}

/* Drop equal texts of a sorted list. Returns the number of the others. */
static size_t drop_equal(struct bytes *list, size_t count)
{
	size_t n = 0;

	for (size_t k = 0; k < count; k++)
		if (k == 0 || !bytes_eq(list[n - 1], list[k]))
			list[n++] = list[k];
	return n;
}

/* Count the different texts between two columns. */
static size_t different(const struct key_anchor *a, size_t from, size_t to, struct arena *arena)
{
	return drop_equal(sorted_texts(a, from, to, arena), a->n);
}

/*
 * Return how many pairs of codes chance gives, if the second code begins at a column. A sample has runs
 * of adjacent rows, so it has a first code with the second codes of a range only.
 */
static double chance_pairs(const struct key_anchor *a, size_t column, struct arena *arena)
{
	const struct bytes *whole = sorted_texts(a, 0, a->columns, arena);
	struct bytes *second = sorted_texts(a, column, a->columns, arena);
	size_t n = drop_equal(second, a->n);
	double pairs = 0;

	for (size_t k = 0, end; k < a->n; k = end) {
		size_t first = 0, last = 0;

		for (end = k + 1; end < a->n && !memcmp(whole[k].ptr, whole[end].ptr, column);)
			end++;
		while (first < n && memcmp(whole[k].ptr + column, second[first].ptr, second->len))
			first++;
		for (last = first; last + 1 < n && memcmp(whole[end - 1].ptr + column,
							  second[last].ptr, second->len);)
			last++;
		double range = (double)(last - first + 1);
		pairs += range * -expm1(-(double)(end - k) / range);
	}
	return pairs;
}

/* Return true if the columns have a few of the texts that they could have, such as codes. */
static bool has_codes(const struct key_anchor *a, size_t from, size_t to, size_t texts)
{
	double possible = 1;

	for (size_t i = from; i < to; i++)
		possible *= a->column[i].different;
	return texts > 1 && texts <= a->n / 4 && 2 * (double)texts < possible;
}

/* Return the first column of a second code, if codes occur in most pairs that chance gives, or 0. */
static size_t second_code(const struct key_anchor *a, struct arena *arena)
{
	size_t all = different(a, 0, a->columns, arena);

	for (size_t i = 2; i + 2 <= a->columns; i++) {
		size_t left = different(a, 0, i, arena);
		size_t right = different(a, i, a->columns, arena);
		double pairs = (double)left * (double)right;

		if (!has_codes(a, 0, i, left) || !has_codes(a, i, a->columns, right))
			continue;
		if ((double)all > MOST_PAIRS * pairs * -expm1(-(double)a->n / pairs))
			return i;
		/* a code of one field occurs with few others */
		if (all >= 2 * left && all >= 2 * right &&
		    (double)all > MOST_PAIRS * chance_pairs(a, i, arena))
			return i;
	}
	return 0;
}

static void doubt_text(struct guess *p, const struct bytes *texts, size_t n, struct arena *arena)
{
	uint32_t *at = arena_alloc(arena, (n + 1) * sizeof *at);
	struct key_anchor a;
	size_t seam = 0;

	anchor_make(&a, arena, texts, n, at);
	if (a.least == a.most && a.most <= TEXT_MOST)
		seam = p->type == FIELD_U64 ? fall_of(&a) : 0;
	if (!seam && a.least == a.most && a.most <= TEXT_MOST)
		seam = second_code(&a, arena);
	if (seam)
		p->doubt = arena_format(arena,
					"may be two parts without a byte between them: %zu and %zu "
					"characters",
					seam, a.most - seam);
}

/* Return true if the part is a text of one width without a known meaning. */
static bool is_plain_text(const struct guess *p)
{
	return p->kind == GUESS_FIELD && p->text && !p->derived && !p->format && !p->unit &&
	       (p->type == FIELD_U64 || p->type == FIELD_TEXT);
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
		bool split = is_plain_text(&g->part[i]);

		for (size_t k = 0; split && k < n; k++) {
			split = guess_split(g, keys[k], parts);
			texts[k] = parts[i];
		}
		if (split)
			doubt_text(&g->part[i], texts, n, arena);
	}
}
