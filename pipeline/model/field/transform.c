/*
 * transform.c - change a text by match, substring, case and map, before the parser of its type
 *
 * saltmill rejects a text that the pattern does not match, or that the map does not list, unless
 * the job has a rule for it.
 */
#include "field.h"

#include <stdio.h>
#include <wctype.h>

#include "event.h"
#include "error.h"
#include "bytes.h"

void transform_scratch_release(struct transform_scratch *s)
{
	buf_release(&s->text);
}

locale_t transform_locale(void)
{
	return newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static int match(const struct field *f, struct bytes *text, struct transform_scratch *s,
		 struct reject *why)
{
	const struct transform *t = f->transform;

	switch (pattern_find_more(t->match, s->match, *text, text)) {
	case PATTERN_FOUND: return RC_OK;
	case PATTERN_NONE: break;
	case PATTERN_COSTLY:
		return reject_value(
			why, "too_costly", f->name, *text,
			"for which `match: %.60s` takes more than 10 million steps, expected a text "
			"that needs fewer",
			t->match_text);
	}
	return reject_value(why, "no_match", f->name, *text, "expected a text that matches `%.60s`",
			    t->match_text);
}

/* Return the length of a character. A byte that is not UTF-8 counts as a character. */
static size_t char_len(const uint8_t *p, const uint8_t *end)
{
	size_t n = utf8_char(p, end);

	return n ? n : 1;
}

static int64_t count_chars(struct bytes text)
{
	const uint8_t *p = text.ptr, *end = p + text.len;
	int64_t n = 0;

	for (; p < end; p += char_len(p, end))
		n++;
	return n;
}

/* Return the offset of character `n`, counted from 0, or the end if the text is shorter. */
static size_t char_at(struct bytes text, int64_t n)
{
	const uint8_t *p = text.ptr, *end = p + text.len;

	for (; n > 0 && p < end; n--)
		p += char_len(p, end);
	return (size_t)(p - text.ptr);
}

/* Return `length` characters from position `from`, or fewer if the text ends before. */
static struct bytes substring(const struct transform *t, struct bytes text)
{
	int64_t from = t->from > 0 ? t->from - 1 : count_chars(text) + t->from;
	int64_t end = t->length == UINT32_MAX ? INT64_MAX : from + t->length;
	size_t first = char_at(text, from);
	size_t last = end == INT64_MAX ? text.len : char_at(text, end);

	return bytes_of(text.ptr + first, last - first);
}

static void put_utf8(struct buf *out, uint32_t c)
{
	if (c < 0x80) {
		buf_put(out, (uint8_t)c);
		return;
	}
	int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	buf_put(out, (uint8_t)((0xff00u >> (more + 1) & 0xff) | c >> 6 * more));
	while (more-- > 0)
		buf_put(out, (uint8_t)(0x80 | (c >> 6 * more & 0x3f)));
}

/*
 * Change letters to lower or upper case. One letter becomes exactly one letter, so the German sharp
 * s does not change.
 */
static void change_letters(const struct transform *t, locale_t letters, struct bytes text,
			   struct buf *out)
{
	const uint8_t *p = text.ptr, *end = p + text.len;

	out->len = 0;
	while (p < end) {
		size_t n = utf8_char(p, end);
		uint32_t c;

		if (!n) {
			buf_put(out, *p++);
			continue;
		}
		utf8_decode(bytes_of(p, n), &c);
		put_utf8(out,
			 (uint32_t)(t->letters == LETTERS_LOWER ? towlower_l((wint_t)c, letters)
								: towupper_l((wint_t)c, letters)));
		p += n;
	}
}

static struct bytes with_room(struct buf *out)
{
	buf_room(out, EVENT_ROOM_BYTES);
	return buf_bytes(out);
}

/* Return the text that replaces `text`, or NULL if the map does not list it. */
static const char *map_find(const struct transform *t, struct bytes text)
{
	size_t low = 0, high = t->nmap;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = bytes_cmp(text, bytes_str(t->by_from[middle]->from));

		if (order == 0)
			return t->by_from[middle]->to;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* Return true if a value of the field can have this text. */
static bool is_result(const struct field *f, struct bytes text)
{
	const struct transform *t = f->transform;

	for (size_t i = 0; i < t->nmap; i++)
		if (bytes_eq(bytes_str(t->map[i].to), text))
			return true;
	return (f->fallback && bytes_eq(bytes_str(f->fallback), text)) ||
	       (t->otherwise == OTHERWISE_TEXT && bytes_eq(bytes_str(t->other), text));
}

struct bytes transform_asked(const struct field *f, struct bytes text)
{
	const struct transform *t = f->transform;
	const char *to = t && t->map && !is_result(f, text) ? map_find(t, text) : NULL;

	return to ? bytes_str(to) : text;
}

static int no_word(const struct field *f, struct bytes text, struct reject *why)
{
	const struct transform *t = f->transform;
	char words[100] = "";
	size_t len = 0;

	for (size_t i = 0; i < t->nmap && len < sizeof words - 24; i++)
		len += (size_t)snprintf(words + len, sizeof words - len, "%s%.16s", i ? ", " : "",
					t->map[i].from);
	return reject_value(why, "not_in_map", f->name, text,
			    "expected one of the names in `map`: %s%s", words,
			    len >= sizeof words - 24 ? ", ..." : "");
}

static int map(const struct field *f, struct bytes *text, struct transform_scratch *s,
	       struct reject *why)
{
	const struct transform *t = f->transform;
	const char *to = map_find(t, *text);

	if (!to && t->otherwise == OTHERWISE_KEEP)
		return RC_OK;
	if (!to && t->otherwise == OTHERWISE_REJECT)
		return no_word(f, *text, why);
	struct bytes word = bytes_str(to ? to : t->other);

	if (bytes_eq(word, *text)) /* still the event's own text, perhaps with quotes */
		return RC_OK;
	s->text.len = 0;
	buf_append(&s->text, word.ptr, word.len);
	*text = with_room(&s->text);
	s->mapped = true;
	return RC_OK;
}

int transform_text(const struct field *f, locale_t letters, struct bytes *text,
		   struct transform_scratch *s, struct reject *why)
{
	const struct transform *t = f->transform;

	s->mapped = false;
	if (t->match && match(f, text, s, why))
		return RC_DATA;
	if (t->from)
		*text = substring(t, *text);
	if (t->letters) {
		change_letters(t, letters, *text, &s->text);
		*text = with_room(&s->text);
	}
	return t->map ? map(f, text, s, why) : RC_OK;
}
