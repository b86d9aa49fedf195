/* draft.c - find items in the text of the job, and change them */
#include <string.h>

#include "fix.h"

struct draft draft_of(struct lint *l, const struct written *w)
{
	struct draft d = {.of = w, .n = w->n};

	d.text = arena_alloc(&l->arena, (w->n + 1) * sizeof *d.text);
	for (size_t i = 0; i < w->n; i++)
		d.text[i] = w->item[i].text;
	return d;
}

size_t draft_find(const struct draft *d, struct pos at)
{
	size_t i = 0;

	while (i < d->n &&
	       (d->of->item[i].pos.line != at.line || d->of->item[i].pos.column != at.column))
		i++;
	return i;
}

static void put_item(struct buf *out, const char *name, const char *text)
{
	if (!text)
		return;
	if (out->ptr[out->len - 1] != '[' && out->ptr[out->len - 1] != '{')
		buf_append_str(out, ", ");
	if (name)
		buf_printf(out, "%s: ", name);
	buf_append_str(out, text[0] ? text : "{}");
}

static const char *kept(struct lint *l, struct buf *b)
{
	const char *text = arena_strndup(&l->arena, b->ptr, b->len);

	buf_release(b);
	return text;
}

const char *draft_text(struct lint *l, const struct draft *d, const char *key)
{
	struct buf out = {0};
	bool list = d->n == 0 || !d->of->item[0].name;

	buf_printf(&out, "%s: %c", key, list ? '[' : '{');
	put_item(&out, NULL, d->front);
	for (size_t i = 0; i < d->n; i++)
		put_item(&out, list ? NULL : fix_name(l, d->of->item[i].name), d->text[i]);
	put_item(&out, NULL, d->back);
	buf_put(&out, list ? ']' : '}');
	return kept(l, &out);
}

/* Returns the end of a value, which is a comma or bracket outside the value. */
static const char *value_end(const char *p)
{
	char quote = 0;

	for (int depth = 0; *p; p++) {
		if (quote) {
			if (*p == '\\' && quote == '"' && p[1])
				p++;
			else if (*p == quote)
				quote = 0;
		} else if (*p == '\'' || *p == '"') {
			quote = *p;
		} else if (*p == '{' || *p == '[') {
			depth++;
		} else if (depth == 0 && (*p == ',' || *p == '}' || *p == ']')) {
			return p;
		} else if (*p == '}' || *p == ']') {
			depth--;
		}
	}
	return p;
}

/*
 * Find the start and the end of "key: value" in a mapping. Return false if the mapping lacks the
 * key.
 */
static bool find_key(const char *map, const char *key, const char **at, const char **end)
{
	size_t len = strlen(key);

	for (const char *p = map + 1; *p && *p != '}'; p = **end == ',' ? *end + 2 : *end) {
		*at = p;
		*end = value_end(p);
		if (strncmp(p, key, len) == 0 && p[len] == ':')
			return true;
	}
	return false;
}

const char *fix_get(struct lint *l, const char *map, const char *key)
{
	const char *at, *end;

	if (map[0] != '{' || !find_key(map, key, &at, &end))
		return NULL;
	at += strlen(key) + 2;
	return arena_strndup(&l->arena, at, (size_t)(end - at));
}

const char *fix_set(struct lint *l, const char *map, const char *key, const char *value)
{
	struct buf out = {0};
	const char *at = map + 1, *end = map + 1;

	if (map[0] != '{')
		return value ? lint_text(l, "{%s: %s}", key, value) : "{}";
	bool found = find_key(map, key, &at, &end);
	if (!found)
		at = end = map + strlen(map) - 1; /* the last bracket */
	buf_append(&out, map, (size_t)(at - map));
	if (value) {
		bool first = out.ptr[out.len - 1] == '{' || out.ptr[out.len - 1] == ' ';

		buf_printf(&out, "%s%s: %s", first ? "" : ", ", key, value);
	} else if (*end == ',') {
		end += 2;
	} else if (found && out.len > 2) {
		out.len -= 2; /* remove the comma after the last item */
	}
	buf_append_str(&out, end);
	return kept(l, &out);
}

const char *fix_name(struct lint *l, const char *name)
{
	static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				   "_.$-";
	struct buf out = {0};

	if (name[0] && name[0] != '-' && strspn(name, word) == strlen(name))
		return name;
	buf_put(&out, '\'');
	for (const char *p = name; *p; p++)
		buf_printf(&out, *p == '\'' ? "''" : "%c", *p);
	buf_put(&out, '\'');
	return kept(l, &out);
}

const char *fix_part(struct lint *l, const struct job_table *t, struct pos at, const char *instead)
{
	struct draft d = draft_of(l, &t->written.rowkey);
	size_t i = draft_find(&d, at);

	if (i < d.n)
		d.text[i] = instead;
	return draft_text(l, &d, "rowkey");
}

const char *fix_family(struct lint *l, const struct job_table *t, const struct family *f,
		       const char *key, const char *value)
{
	struct draft d = draft_of(l, &t->written.families);
	size_t i = draft_find(&d, f->pos);

	if (i < d.n)
		d.text[i] = fix_set(l, d.text[i], key, value);
	return draft_text(l, &d, "families");
}
