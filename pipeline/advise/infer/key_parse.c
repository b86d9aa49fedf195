/*
 * key_parse.c - divide keys into the parts that explain them best
 *
 * Each part has points (infer.h). The function finds the parts with the most points, by dynamic
 * programming over the columns. After a part of variable length, the columns begin anew: each key
 * has its own offset (struct key_anchor).
 */
#include <ctype.h>
#include <float.h>
#include <math.h>

#include "infer.h"

#define ANCHORS_MOST 200

struct key_parser {
	const struct bytes *keys;
	size_t n;
	struct key_anchor *anchors[ANCHORS_MOST];
	size_t nanchors;
	bool salted;
	struct arena *arena;
};
/* The place of the parts to judge. */
struct parse_place {
	struct key_parser *p;
	size_t anchor, column;
};

static double solve(struct key_parser *p, size_t anchor, size_t column);

static void take(const struct parse_place *at, const struct guess *g, size_t anchor, size_t column)
{
	struct key_best *best = &at->p->anchors[at->anchor]->best[at->column];
	double rest = anchor == SIZE_MAX ? 0 : solve(at->p, anchor, column);

	if (rest + g->points > best->points) {
		best->points = rest + g->points;
		best->part = *g;
		best->next = anchor;
		best->at = column;
	}
}

static void take_fixed(void *ctx, const struct guess *g)
{
	const struct parse_place *at = ctx;
	const struct key_anchor *a = at->p->anchors[at->anchor];
	struct guess salt = *g;

	/* a few digits before a text are rather a salt than a part of the text */
	if (at->p->salted && !at->anchor && !at->column && g->text && g->type == FIELD_U64 &&
	    g->width <= 3 && g->width < a->columns && !a->column[g->width].digit)
		salt.points += 2;
	take(at, &salt, at->anchor, at->column + g->width);
}

/* --- constants and salts --- */

static double const_points(const struct key_anchor *a, size_t column, size_t len)
{
	const struct key_column *c = &a->column[column];
	double points = -2;

	if (len == 1 && c->print && !isalnum(c->low))
		return 7.6;
	for (size_t i = 0; i < len; i++)
		if (c[i].print)
			points += 4.2;
		else
			points += c[i].low == 0 || c[i].low == 0x80 || c[i].low >= 0x7f ? 1 : 2;
	return points;
}

/* Return true if all keys have the byte 00 after the column, and text before it. */
static bool ends_with_zero(const struct key_anchor *a, size_t column)
{
	for (size_t k = 0; k < a->n; k++) {
		const uint8_t *p = anchor_ptr(a, k, column);

		if (*p < 0x20 || !memchr(p, 0, a->keys[k].len - a->at[k] - column))
			return false;
	}
	return true;
}

/* OrderedBytes writes a byte for the type before each value (HBase, OrderedBytes.java). */
static double tag_points(const struct key_anchor *a, size_t column)
{
	enum { INT32 = 0x2b, INT64 = 0x2c, FLOAT64 = 0x31, TEXT = 0x34 };
	const struct key_column *c = &a->column[column];

	if (column + 1 >= a->columns)
		return 0;
	if (c->low == TEXT)
		return ends_with_zero(a, column + 1) ? 8 : 0;
	bool sign = c[1].low >= 0x7f && c[1].high <= 0x80;
	return (c->low == INT32 || c->low == INT64) && sign		    ? 12
	       : c->low == FLOAT64 && c[1].low >= 0x3f && c[1].high <= 0xc1 ? 8
									    : 0;
}

static void find_constants(struct parse_place *at)
{
	const struct key_anchor *a = at->p->anchors[at->anchor];
	size_t most = a->n > 1 ? anchor_same(a, at->column) : 0; /* one key shows no constants */

	for (size_t len = 1; len <= most; len++)
		take_fixed(at, &(struct guess){.kind = GUESS_CONST,
					       .width = (uint32_t)len,
					       .terminator = NO_TERMINATOR,
					       .what = "the same in all sampled rows",
					       .points = const_points(a, at->column, len) +
							 (len == 1 ? tag_points(a, at->column) : 0),
					       .confidence = a->n < DRAWN_LEAST ? 60 : 95});
}

/* The first byte may be a salt if its values are few, from 0 on, and equally frequent. */
static void find_salt(struct parse_place *at)
{
	const struct key_anchor *a = at->p->anchors[at->anchor];
	const struct key_column *c = &a->column[0];
	struct guess g = {.kind = GUESS_SALT,
			  .width = 1,
			  .terminator = NO_TERMINATOR,
			  .stem = "salt",
			  .points = 30,
			  .confidence = 99};

	if (at->anchor || at->column || !at->p->salted)
		return;
	if (guess_whole_salt(a->keys, a->n, &g)) {
		take_fixed(at, &g);
		return;
	}
	size_t buckets = (size_t)c->high + 1;
	if (c->different < 2 || buckets > 64 || 4 * (size_t)c->different < 3 * buckets ||
	    a->n < DRAWN_LEAST || c->entropy < 0.75 * log2((double)buckets))
		return;
	g.drawn = true;
	g.buckets = (uint32_t)buckets;
	g.points = 6;
	g.confidence = 60;
	g.what = "a salt by its distribution; no known function of the key gives it";
	take_fixed(at, &g);
}

/* --- parts of variable length --- */

/* Return the index of the anchor at these offsets. Makes it if it is new. */
static size_t anchor_of(struct key_parser *p, const uint32_t *at)
{
	for (size_t i = 0; i < p->nanchors; i++)
		if (memcmp(p->anchors[i]->at, at, p->n * sizeof *at) == 0)
			return i;
	if (p->nanchors == ANCHORS_MOST)
		return SIZE_MAX;
	struct key_anchor *a = arena_alloc(p->arena, sizeof *a);
	anchor_make(a, p->arena, p->keys, p->n, at);
	p->anchors[p->nanchors] = a;
	return p->nanchors++;
}

/* Find the texts up to the byte. Returns false if a key lacks it, or has it at once. */
static bool cut_texts(const struct parse_place *at, uint8_t end, struct bytes *texts,
		      uint32_t *after)
{
	const struct key_anchor *a = at->p->anchors[at->anchor];

	for (size_t k = 0; k < a->n; k++) {
		const uint8_t *p = anchor_ptr(a, k, at->column);
		size_t left = a->keys[k].len - a->at[k] - at->column;
		const uint8_t *found = left ? memchr(p, end, left) : NULL;

		if (!found || found == p)
			return false;
		texts[k] = bytes_of(p, (size_t)(found - p));
		after[k] = (uint32_t)(found + 1 - a->keys[k].ptr);
	}
	return true;
}

static double mean_length(const struct bytes *texts, size_t n)
{
	size_t bytes = 0;

	for (size_t k = 0; k < n; k++)
		bytes += texts[k].len;
	return (double)bytes / (double)n;
}

static void invert(const struct bytes *texts, struct bytes *out, size_t n, struct arena *arena)
{
	for (size_t k = 0; k < n; k++) {
		uint8_t *to = arena_alloc(arena, texts[k].len + 1);

		for (size_t i = 0; i < texts[k].len; i++)
			to[i] = texts[k].ptr[i] ^ 0xff;
		out[k] = bytes_of(to, texts[k].len);
	}
}

/* A text of variable length cannot have padding. */
static void unpad(struct guess *g, const struct bytes *texts, size_t n)
{
	bool shortest = g->as != AS_REVERSED;

	if (!g->padded)
		return;
	for (size_t k = 0; k < n; k++)
		shortest &= texts[k].ptr[0] != '0';
	g->padded = false;
	g->as = AS_TEXT;
	if (!shortest) {
		g->type = FIELD_TEXT;
		g->points -= 0.5;
	}
}

/* Return the seams of texts that begin at the place. */
static size_t seams_of_texts(const struct parse_place *at, const struct bytes *texts)
{
	const struct key_anchor *a = at->p->anchors[at->anchor];
	size_t least = SIZE_MAX;

	for (size_t k = 0; k < a->n; k++)
		least = texts[k].len < least ? texts[k].len : least;
	return seams_in(a, at->column, least);
}

static void find_terminated(struct parse_place *at, uint8_t end, struct bytes *texts,
			    uint32_t *after)
{
	struct guess g;
	const size_t n = at->p->n;

	if (!cut_texts(at, end, texts, after))
		return;
	if (end == 0xff)
		invert(texts, texts, n, at->p->arena);
	if (!guess_texts(texts, n, &g))
		return;
	size_t next = anchor_of(at->p, after);
	if (next == SIZE_MAX)
		return;
	unpad(&g, texts, n);
	g.points = g.points * mean_length(texts, n) - 3 + 8;
	g.terminator = end;
	if (g.type == FIELD_TEXT)
		g.points -= SEAM_POINTS * (double)seams_of_texts(at, texts);
	if (end == 0xff) {
		g.type = FIELD_TEXT;
		g.format = g.unit = NULL;
		g.as = AS_DESCENDING_TEXT;
		g.what = "text with inverted bytes, as in Phoenix's DESC";
	}
	take(at, &g, next, 0);
}

static void find_variable(struct parse_place *at)
{
	static const uint8_t ends[] = {0,   1,	 2,   0x1d, 0x1e, 0x1f, '\t', 0xff, '_', '-', '|',
				       ':', '#', '/', ',',  ';',  '~',	'$',  '!',  '^', '*', '&'};
	struct key_parser *p = at->p;
	struct bytes *texts = mem_calloc(p->n, sizeof *texts);
	uint32_t *after = mem_calloc(p->n, sizeof *after);

	for (size_t i = 0; i < sizeof ends; i++)
		find_terminated(at, ends[i], texts, after);
	mem_free(texts);
	mem_free(after);
}

/* The last part takes all bytes that are left. */
static void find_rest(struct parse_place *at)
{
	const struct key_anchor *a = at->p->anchors[at->anchor];
	struct bytes *texts = mem_calloc(a->n, sizeof *texts);
	struct guess g;
	bool empty = a->least == at->column;

	for (size_t k = 0; k < a->n; k++)
		texts[k] = bytes_of(anchor_ptr(a, k, at->column),
				    a->keys[k].len - a->at[k] - at->column);
	if (!empty && a->least != a->most && guess_texts(texts, a->n, &g)) {
		unpad(&g, texts, a->n);
		g.points = g.points * mean_length(texts, a->n) - 3;
		if (g.type == FIELD_TEXT)
			g.points -= SEAM_POINTS * (double)seams_of_texts(at, texts);
	} else {
		g = (struct guess){.type = FIELD_BYTES,
				   .as = AS_BYTES,
				   .terminator = NO_TERMINATOR,
				   .what = "bytes of unknown form and of different lengths",
				   .stem = "bytes",
				   .points = 0.1 * mean_length(texts, a->n) - 8,
				   .opaque = true};
	}
	take(at, &g, SIZE_MAX, 0);
	mem_free(texts);
}

static void find_opaque(struct parse_place *at)
{
	const struct key_anchor *a = at->p->anchors[at->anchor];

	for (size_t width = 1; width <= 64 && at->column + width <= a->columns; width++)
		take_fixed(at, &(struct guess){.type = FIELD_BYTES,
					       .as = AS_BYTES,
					       .width = (uint32_t)width,
					       .padded = true,
					       .terminator = NO_TERMINATOR,
					       .what = "bytes of unknown form",
					       .stem = "bytes",
					       .points = 0.3 * (double)width - 5,
					       .opaque = true});
}

/* --- the best parts --- */

static double solve(struct key_parser *p, size_t anchor, size_t column)
{
	const struct key_anchor *a = p->anchors[anchor];
	struct key_best *best = &a->best[column];
	struct parse_place at = {p, anchor, column};

	if (best->known)
		return best->points;
	*best = (struct key_best){.known = true, .next = SIZE_MAX, .points = -DBL_MAX / 2};
	if (a->least == a->most && column == a->least) {
		best->points = 0;
		return 0;
	}
	if (column < a->columns) {
		find_salt(&at);
		find_constants(&at);
		forms_times(a, column, take_fixed, &at);
		forms_texts(a, column, take_fixed, &at);
		forms_zero_padded(a, column, take_fixed, &at);
		forms_numbers(a, column, take_fixed, &at);
		find_opaque(&at);
		find_variable(&at);
	}
	if (a->least != a->most || a->least > a->columns)
		find_rest(&at);
	return best->points;
}

/* Append the best parts from a column on. If there are too many, the last one takes the rest. */
static void copy_parts(struct guesses *out, const struct key_parser *p, size_t column)
{
	for (size_t anchor = 0; anchor != SIZE_MAX;) {
		const struct key_anchor *a = p->anchors[anchor];
		const struct key_best *best = &a->best[column];

		if (a->least == a->most && column == a->least)
			break;
		struct guess *g = &out->part[out->n++];
		*g = best->part;
		if (out->n == GUESS_PARTS && best->next != SIZE_MAX) {
			*g = (struct guess){.type = FIELD_BYTES,
					    .as = AS_BYTES,
					    .terminator = NO_TERMINATOR,
					    .what = "too many parts",
					    .stem = "bytes",
					    .opaque = true};
			break;
		}
		anchor = best->next;
		column = best->at;
	}
	guess_unite_constants(out, p->keys[0], p->salted);
	guess_unite_unknown(out);
}

static bool is_understood(const struct guesses *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->part[i].opaque)
			return false;
	return true;
}

/* Return true if keys begin with `width` digits or hex digits, and are longer. */
static bool may_be_prefix(const struct key_anchor *a, size_t width)
{
	for (size_t i = 0; i < width; i++)
		if (i >= a->columns || !a->column[i].hex)
			return false;
	return a->least > width;
}

/*
 * Find a salt or a hash as text that has no byte between it and the next part. A parse without
 * this knowledge takes both for one part. The function of the salt is the proof. The first digits
 * of a digest are digits of it too, so the longest prefix is tried first.
 */
static void find_glued(struct guesses *out, struct key_parser *p)
{
	static const size_t widths[] = {32, 16, 12, 10, 8, 6, 5, 4, 3, 2, 1};

	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		struct guesses cut = {.n = 1};

		if (!may_be_prefix(p->anchors[0], widths[i]))
			continue;
		cut.part[0] = (struct guess){.type = FIELD_TEXT,
					     .as = AS_TEXT,
					     .width = (uint32_t)widths[i],
					     .padded = true,
					     .text = true,
					     .terminator = NO_TERMINATOR};
		solve(p, 0, widths[i]);
		copy_parts(&cut, p, widths[i]);
		guess_derived(&cut, p->keys, p->n, p->arena);
		if (cut.part[0].derived) {
			*out = cut;
			return;
		}
	}
}

void guess_keys(struct guesses *out, const struct bytes *keys, size_t n, bool salted,
		struct arena *arena)
{
	struct key_parser p = {.keys = keys, .n = n, .salted = salted, .arena = arena};
	uint32_t *at = arena_alloc(arena, (n + 1) * sizeof *at);

	*out = (struct guesses){.n = 0};
	if (!salted || !guess_opentsdb(out, keys, n)) {
		anchor_of(&p, at);
		solve(&p, 0, 0);
		copy_parts(out, &p, 0);
	}
	if (salted)
		guess_derived(out, keys, n, arena);
	if (salted && p.nanchors && out->part[0].text && !out->part[0].derived)
		find_glued(out, &p);
	guess_seams(out, keys, n, arena);
	out->understood = is_understood(out);
}
