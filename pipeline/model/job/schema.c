#include "schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "bytes.h"

#define MAX_NAMES 64 /* keys of a schema, names of a choice */

int fault(struct reader *r, struct pos at, const char *fmt, ...)
{
	char text[640];

	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return error_set(r->err, RC_CONFIG, "%s:%u:%u: %s", r->job->path, at.line, at.column, text);
}

int expected(struct reader *r, const struct node *n, const char *key, const char *what)
{
	if (n->kind == NODE_SEQUENCE)
		return fault(r, n->pos, "%s: found %s list, expected %s", key,
			     n->count ? "a" : "an empty", what);
	if (n->kind == NODE_MAPPING)
		return fault(r, n->pos, "%s: found %s mapping, expected %s", key,
			     n->count ? "a" : "an empty", what);
	if (node_is_nothing(n))
		return fault(r, n->pos, "%s: found nothing, expected %s", key, what);
	const char *fix = value_fix(key, n->text);
	return fault(r, n->pos, "%s: found `%.60s`, expected %s%s%s%s", key, n->text, what,
		     fix ? "; write `" : "", fix ? fix : "", fix ? "`" : "");
}

static void list_names(char *out, size_t size, const char *const *known, size_t nknown)
{
	size_t len = 0;

	out[0] = 0;
	for (size_t i = 0; i < nknown && len + 40 < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%.36s", i ? ", " : "", known[i]);
}

int unknown_name(struct reader *r, struct pos at, const char *what, const char *name,
		 const char *const *known, size_t nknown)
{
	char list[560];
	const char *near = other_name(name, known, nknown);

	if (near)
		return fault(r, at, "unknown %s `%.60s`; did you mean `%s`?", what, name, near);
	list_names(list, sizeof list, known, nknown);
	return fault(r, at, "unknown %s `%.60s`; known: %s", what, name, list);
}

static int check_keys(struct reader *r, const struct node *n, const struct schema *s)
{
	const char *known[MAX_NAMES];
	size_t nknown = s->nkeys < MAX_NAMES ? s->nkeys : MAX_NAMES;

	for (size_t k = 0; k < nknown; k++)
		known[k] = s->keys[k].name;
	for (size_t i = 0; i < n->count; i++) {
		size_t k = 0;

		while (k < nknown && strcmp(known[k], n->keys[i]->text) != 0)
			k++;
		if (k == nknown)
			return unknown_name(r, n->keys[i]->pos, "key", n->keys[i]->text, known,
					    nknown);
	}
	return RC_OK;
}

int read_mapping(struct reader *r, const struct node *n, const struct schema *s, void *target)
{
	if (n->kind != NODE_MAPPING)
		return expected(r, n, s->what, "a mapping");
	int rc = check_keys(r, n, s);
	for (size_t k = 0; rc == RC_OK && k < s->nkeys; k++) {
		const struct key *key = &s->keys[k];
		const struct node *item = node_get(n, key->name);

		if (item)
			rc = key->read(r, item, key, (char *)target + key->offset);
		else if (key->required)
			rc = fault(r, n->pos, "%s lacks the key `%s`", s->what, key->name);
	}
	return rc;
}

static bool is_text(const struct node *n)
{
	return n->kind == NODE_SCALAR && !node_is_nothing(n);
}

int read_any_text(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	if (!is_text(n))
		return expected(r, n, key->name, "a text");
	if (strlen(n->text) != n->len)
		return fault(r, n->pos, "%s: found a NUL byte in the text, expected none",
			     key->name);
	memcpy(slot, &n->text, sizeof n->text);
	return RC_OK;
}

int read_text(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	if (is_text(n) && n->len == 0)
		return fault(r, n->pos, "%s: found an empty text, expected a name", key->name);
	return read_any_text(r, n, key, slot);
}

int read_bool(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	bool v = n->kind == NODE_SCALAR && strcmp(n->text, "true") == 0;

	if (!v && (n->kind != NODE_SCALAR || strcmp(n->text, "false") != 0))
		return expected(r, n, key->name, "true or false");
	memcpy(slot, &v, sizeof v);
	return RC_OK;
}

static bool plain_number(const struct node *n)
{
	return n->kind == NODE_SCALAR && n->len && strspn(n->text, "0123456789") == n->len;
}

int read_number(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	char what[80];
	uint64_t v, max = key->max ? key->max : UINT32_MAX;

	if (!plain_number(n) || !parse_size(n->text, &v) || v < key->min || v > max) {
		snprintf(what, sizeof what, "a whole number from %llu to %llu",
			 (unsigned long long)key->min, (unsigned long long)max);
		return expected(r, n, key->name, what);
	}
	uint32_t narrow = (uint32_t)v;
	memcpy(slot, &narrow, sizeof narrow);
	return RC_OK;
}

int read_size(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	char what[120];
	uint64_t v;

	if (n->kind != NODE_SCALAR || !parse_size(n->text, &v))
		return expected(r, n, key->name, "a size like 64K, 256M, 10G or a number of bytes");
	if (v < key->min || (key->max && v > key->max)) {
		snprintf(what, sizeof what, "%llu to %llu bytes", (unsigned long long)key->min,
			 (unsigned long long)(key->max ? key->max : UINT64_MAX));
		return expected(r, n, key->name, what);
	}
	memcpy(slot, &v, sizeof v);
	return RC_OK;
}

int read_choice(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const char *known[MAX_NAMES];
	char what[480] = "one of ";

	for (size_t i = 0; i < key->nchoices && i < MAX_NAMES; i++) {
		known[i] = key->choices[i].name;
		if (n->kind == NODE_SCALAR && strcmp(n->text, known[i]) == 0) {
			memcpy(slot, &key->choices[i].value, sizeof(unsigned));
			return RC_OK;
		}
	}
	const char *near = is_text(n) ? other_name(n->text, known, key->nchoices) : NULL;
	if (near)
		return fault(r, n->pos, "%s: found `%.60s`; did you mean `%s`?", key->name, n->text,
			     near);
	list_names(what + strlen(what), sizeof what - strlen(what), known, key->nchoices);
	return expected(r, n, key->name, what);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int hex_pair(const char *p)
{
	int high = hex_digit(p[0]);
	int low = high < 0 ? -1 : hex_digit(p[1]);

	return low < 0 ? -1 : high * 16 + low;
}

/*
 * Return true if double quotes changed a byte. In double quotes, YAML turns \xE9 into the character
 * U+00E9, which has two bytes in UTF-8. The caller rejects such a text, because the author means
 * one byte.
 */
static bool yaml_made_two_bytes(const struct node *n)
{
	for (size_t i = 0; n->double_quoted && i < n->len; i++)
		if ((uint8_t)n->text[i] == 0xc2 || (uint8_t)n->text[i] == 0xc3)
			return true;
	return false;
}

int read_escaped(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	if (!is_text(n))
		return expected(r, n, key->name, "a text");
	if (yaml_made_two_bytes(n))
		return fault(
			r, n->pos,
			"%s: found a character of U+0080 to U+00FF in double quotes, where YAML "
			"makes \\xHH two bytes; expected single quotes: '\\xHH' is one byte there",
			key->name);
	uint8_t *out = arena_alloc(&r->job->arena, n->len + 1);
	struct bytes v = {out, 0};
	for (size_t i = 0; i < n->len; i++) {
		int byte = (uint8_t)n->text[i];

		if (byte == '\\') {
			byte = n->text[i + 1] == 'x' ? hex_pair(n->text + i + 2) : -1;
			if (byte < 0)
				return expected(
					r, n, key->name,
					"\\xHH with two hex digits after each backslash (\\x5C is a backslash)");
			i += 3;
		}
		out[v.len++] = (uint8_t)byte;
	}
	memcpy(slot, &v, sizeof v);
	return RC_OK;
}

/* Return the character with this name, as YAML has it in double quotes. */
static const char *byte_of_name(const char *name)
{
	static const char *const names[][2] = {{"tab", "\\t"},	   {"comma", ","},
					       {"semicolon", ";"}, {"colon", ":"},
					       {"pipe", "|"},	   {"space", " "},
					       {"ctrl-a", "\\x01"}};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcasecmp(name, names[i][0]) == 0)
			return names[i][1];
	return NULL;
}

int read_byte(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct bytes v;

	if (is_text(n) && strcmp(n->text, "\\t") == 0) {
		memcpy(slot, "\t", 1);
		return RC_OK;
	}
	int rc = read_escaped(r, n, key, &v);
	const char *name = rc == RC_OK && v.len != 1 ? byte_of_name(n->text) : NULL;
	if (name)
		rc = fault(r, n->pos, "%s: found `%.60s`, expected one byte; write `%s: \"%s\"`",
			   key->name, n->text, key->name, name);
	else if (rc == RC_OK && v.len != 1)
		rc = expected(r, n, key->name, "one byte: a character or '\\xHH'");
	if (rc == RC_OK)
		memcpy(slot, v.ptr, 1);
	return rc;
}

int read_hex(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct bytes v;
	bool good = is_text(n) && n->len % 2 == 0;
	uint8_t *out = arena_alloc(&r->job->arena, n->len / 2 + 1);

	for (size_t i = 0; good && i < n->len; i += 2) {
		int byte = hex_pair(n->text + i);

		good = byte >= 0;
		out[i / 2] = (uint8_t)byte;
	}
	if (!good)
		return expected(r, n, key->name, "pairs of hex digits");
	v = bytes_of(out, n->len / 2);
	memcpy(slot, &v, sizeof v);
	return RC_OK;
}

int read_texts(struct reader *r, const struct node *n, const char *key, bool empty,
	       const char ***items, size_t *count)
{
	struct node *const one = NULL;

	struct node *const *from = n->kind == NODE_SEQUENCE ? n->items : &one;
	size_t many = n->kind == NODE_SEQUENCE ? n->count : 1;
	const struct key each = {.name = key};
	if (n->kind == NODE_MAPPING || node_is_nothing(n))
		return expected(r, n, key, "a list of texts");
	const char **list = arena_alloc(&r->job->arena, (many + 1) * sizeof *list);
	for (size_t i = 0; i < many; i++) {
		const struct node *item = from[i] ? from[i] : n;
		int rc = empty ? read_any_text(r, item, &each, &list[i])
			       : read_text(r, item, &each, &list[i]);

		if (rc)
			return rc;
	}
	*items = list;
	*count = many;
	return RC_OK;
}
