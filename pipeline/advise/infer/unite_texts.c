/* unite_texts.c - make one field of the parts of a text: a path, or a constant and the text after it */
#include <ctype.h>

#include "infer.h"

static bool is_ascii(struct bytes b)
{
	for (size_t i = 0; i < b.len; i++)
		if (b.ptr[i] < 0x20 || b.ptr[i] > 0x7e)
			return false;
	return true;
}

/* Return true if all keys have a slash, and a part is a constant word, as in URLs and paths. */
static bool are_paths(const struct guesses *g, const struct bytes *keys, size_t n,
		      const struct bytes *parts)
{
	bool word = false;

	for (size_t k = 0; k < n; k++)
		if (!keys[k].len || !memchr(keys[k].ptr, '/', keys[k].len))
			return false;
	for (size_t i = 0; i < g->n; i++)
		word = word || ((g->part[i].kind == GUESS_CONST || g->part[i].alike) &&
				parts[i].len > 1 && guess_has_class(parts[i], isalpha));
	return word;
}

/* Return true if the part is a text whose characters have no meaning, or digits. */
static bool is_open_text(const struct guess *p)
{
	return p->kind == GUESS_FIELD && p->text && !p->format && !p->unit && !p->derived &&
	       p->as == AS_TEXT && (p->type == FIELD_TEXT || p->type == FIELD_U64);
}

/* Make the part begin with the constant before it. */
static void begin_earlier(struct guess *p, struct bytes constant)
{
	bool digits = p->type == FIELD_U64 && p->padded && guess_has_class(constant, isdigit) &&
		      p->width + constant.len < 20;

	p->width += p->width ? (uint32_t)constant.len : 0;
	if (digits)
		return;
	p->type = FIELD_TEXT;
	p->alike = true;
	p->stem = "text";
	p->what = "text; all sampled ones begin alike";
}

/* Return true if the part is a constant word, and the next part a constant punctuation mark. */
static bool is_ended_word(const struct guess *p, const struct bytes *parts)
{
	return p->kind == GUESS_CONST && p[1].kind == GUESS_CONST && p[1].width == 1 &&
	       p->width > 1 && guess_has_class(parts[0], isalnum) && ispunct(*parts[1].ptr);
}

static struct guess field_of_word(uint8_t end)
{
	return (struct guess){.type = FIELD_TEXT,
			      .as = AS_TEXT,
			      .terminator = end,
			      .text = true,
			      .alike = true,
			      .stem = "text",
			      .what = "a word that is the same in all sampled rows",
			      .confidence = 85};
}

/* Return true if the text after a constant may begin with it. */
static bool begins_text(const struct guess *p, struct bytes constant)
{
	/* OrderedBytes writes 34 (4) before a text, and 00 after it */
	bool tag = p->width == 1 && *constant.ptr == '4' && p[1].terminator == 0;

	return p->kind == GUESS_CONST && guess_has_class(constant, isalnum) && !tag &&
	       is_open_text(&p[1]);
}

void guess_unite_constants(struct guesses *g, struct bytes key, bool row_key)
{
	struct bytes parts[GUESS_PARTS];

	if (!guess_split(g, key, parts))
		return;
	for (size_t i = 0; i + 1 < g->n; i++) {
		struct guess *p = &g->part[i];

		if (row_key && is_ended_word(p, parts + i))
			p[1] = field_of_word(*parts[i + 1].ptr);
		else if (begins_text(p, parts[i]))
			begin_earlier(&p[1], parts[i]);
		else
			continue;
		g->n--;
		memmove(p, p + 1, (g->n - i) * sizeof *p);
		memmove(parts + i, parts + i + 1, (g->n - i) * sizeof *parts);
	}
}

void guess_unite_texts(struct guesses *g, const struct bytes *keys, size_t n, bool only_paths)
{
	struct bytes parts[GUESS_PARTS];
	struct guess whole;

	if (!n || !guess_split(g, keys[0], parts) || !guess_texts(keys, n, &whole))
		return;
	bool paths = are_paths(g, keys, n, parts);
	for (size_t i = 0; i < g->n; i++) {
		const struct guess *p = &g->part[i];
		bool text = p->kind == GUESS_FIELD && p->text && (paths || p->type == FIELD_TEXT);

		if (!text && !(p->kind == GUESS_CONST && is_ascii(parts[i])))
			return;
	}
	if (only_paths && !paths)
		return;
	whole.padded = false;
	*g = (struct guesses){.part = {whole}, .n = 1, .understood = true};
}
