/*
 * describe.c - read the output of `describe 'table'`
 *
 *   Table t is ENABLED
 *   t, {TABLE_ATTRIBUTES => {MAX_FILESIZE => '10737418240 B (10GB)', METADATA => {'k' => 'v'}}}
 *   COLUMN FAMILIES DESCRIPTION
 *   {NAME => 'f', VERSIONS => '1', TTL => '86400 SECONDS (1 DAY)', CONFIGURATION => {'a' => 'b'}}
 *
 * On a terminal, the shell breaks long lines anywhere, so the parser ignores line breaks inside a
 * Hash. HBase does not escape quotes in values. So a value ends at a quote before a comma or a
 * brace.
 */
#include "ddl.h"

struct scanner {
	struct buf text; /* the text without line breaks; a NUL follows */
	const char *p;
	struct arena *arena;
};

static void skip_blanks(struct scanner *s)
{
	s->p += strspn(s->p, " \t,");
}

/* Find the end of a quoted text. `p` is after the opening quote. */
static const char *closing_quote(const char *p)
{
	for (; *p; p++) {
		if (*p != '\'')
			continue;
		const char *next = p + 1 + strspn(p + 1, " ");
		if (*next == ',' || *next == '}' || *next == '\0' || strncmp(next, "=>", 2) == 0)
			return p;
	}
	return NULL;
}

/* Take 'text' or a bare word. Returns NULL if the scanner has no such word. */
static const char *take_word(struct scanner *s)
{
	const char *start = s->p, *end;

	skip_blanks(s);
	if (*s->p == '\'') {
		start = s->p + 1;
		end = closing_quote(start);
		if (!end)
			return NULL;
		s->p = end + 1;
	} else {
		start = s->p;
		end = start + strcspn(start, " ,{}=");
		s->p = end;
		if (end == start)
			return NULL;
	}
	return arena_strndup(s->arena, start, (size_t)(end - start));
}

static bool take_arrow(struct scanner *s)
{
	skip_blanks(s);
	if (strncmp(s->p, "=>", 2) != 0)
		return false;
	s->p += 2;
	skip_blanks(s);
	return true;
}

/* Take {key => value, ...} with plain values only. The scanner is after the opening brace. */
static bool take_flat(struct scanner *s, struct attributes *list)
{
	for (skip_blanks(s); *s->p != '}'; skip_blanks(s)) {
		const char *key = take_word(s);
		const char *value = key && take_arrow(s) ? take_word(s) : NULL;

		if (!value)
			return false;
		attributes_add(s->arena, list, key, value);
	}
	s->p++;
	return true;
}

/*
 * Take the Hash of a family, or of TABLE_ATTRIBUTES if `inner` is true. The scanner is after the
 * opening brace.
 */
static bool take_described(struct scanner *s, struct described *d, bool inner)
{
	for (skip_blanks(s); *s->p != '}'; skip_blanks(s)) {
		const char *key = take_word(s);

		if (!key || !take_arrow(s))
			return false;
		if (*s->p == '{') {
			s->p++;
			bool attributes = !inner && strcmp(key, "TABLE_ATTRIBUTES") == 0;
			struct attributes *list = strcmp(key, "CONFIGURATION") == 0
							  ? &d->configuration
							  : &d->metadata;
			if (!(attributes ? take_described(s, d, true) : take_flat(s, list)))
				return false;
			continue;
		}
		const char *value = take_word(s);
		if (!value)
			return false;
		if (strcmp(key, "NAME") == 0)
			d->name = value;
		else
			attributes_add(s->arena, &d->items, key, value);
	}
	s->p++;
	return true;
}

static int take_all(struct scanner *s, struct description *d, const char *name, struct error *err)
{
	while ((s->p = strchr(s->p, '{')) != NULL) {
		struct described found = {0};
		size_t at = (size_t)(s->p - (const char *)s->text.ptr);

		s->p++;
		if (!take_described(s, &found, false))
			return error_set(
				err, RC_DATA,
				"%s: found \"%.60s\", expected the output of `describe` with {KEY "
				"=> 'value', ...}",
				name, (const char *)s->text.ptr + at);
		if (found.name)
			description_add_family(d, s->arena, &found);
		else
			d->table = found;
	}
	if (d->nfamilies == 0)
		return error_set(
			err, RC_DATA,
			"'family', ...} found, expected the output of `describe` => %s: found no "
			"{NAME => 'family', ...}, expected the output of `describe` => 'family', "
			"...} found, expected the output of `describe`",
			name);
	return RC_OK;
}

int description_parse(struct description *d, struct arena *a, const char *name, struct bytes text,
		      struct error *err)
{
	struct scanner s = {.arena = a};
	const uint8_t *nul = text.len ? memchr(text.ptr, 0, text.len) : NULL;
	unsigned depth = 0;

	*d = (struct description){0};
	if (nul)
		return error_set(err, RC_DATA, "%s: found NUL at byte %zu, expected text", name,
				 (size_t)(nul - text.ptr));
	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.ptr[i];

		depth += c == '{';
		depth -= c == '}' && depth;
		if (c != '\r' && (c != '\n' || !depth))
			buf_put(&s.text, c);
	}
	buf_put(&s.text, 0);
	s.p = (const char *)s.text.ptr;
	int rc = take_all(&s, d, name, err);
	buf_release(&s.text);
	return rc;
}
