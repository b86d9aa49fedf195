/*
 * script_read.c - read a script of ddl.c
 *
 *   create 'ns:t',
 *     {NAME => 'f', VERSIONS => 1, CONFIGURATION => {'a' => 'b'}},
 *     {SPLIT_POLICY => '...', METADATA => {...}},
 *     {SPLITS => ['\x01', ...]}
 *   alter 'ns:t', {'coprocessor' => 'path|class|priority|arguments'}
 */
#include <string.h>
#include <strings.h>

#include "ddl.h"

struct script_reader {
	const char *p;
	struct arena *arena;
	struct description *out;
	unsigned coprocessors;
};

/* Take `text` after spaces. Returns false, and takes nothing, if other text follows the spaces. */
static bool take(struct script_reader *r, const char *text)
{
	const char *p = r->p + strspn(r->p, " \n");

	if (strncmp(p, text, strlen(text)) != 0)
		return false;
	r->p = p + strlen(text);
	return true;
}

/*
 * Take a bare word, or 'text' in which \\ and \' mean the second character. Returns NULL if the
 * reader has no such word.
 */
static const char *take_word(struct script_reader *r)
{
	char *out;
	size_t n = 0;

	r->p += strspn(r->p, " \n");
	if (*r->p != '\'') {
		n = strcspn(r->p, " ,{}[]=\n");
		out = n ? arena_strndup(r->arena, r->p, n) : NULL;
		r->p += n;
		return out;
	}
	r->p++;
	size_t most = 0;
	while (r->p[most] && r->p[most] != '\'')
		most += r->p[most] == '\\' && r->p[most + 1] ? 2 : 1;
	out = arena_alloc(r->arena, most + 1);
	for (; *r->p && *r->p != '\''; r->p++) {
		if (r->p[0] == '\\' && (r->p[1] == '\\' || r->p[1] == '\''))
			r->p++;
		out[n++] = *r->p;
	}
	return take(r, "'") ? out : NULL;
}

static bool skip_keys(struct script_reader *r)
{
	while (!take(r, "]")) {
		if (!take_word(r))
			return false;
		take(r, ",");
	}
	return true;
}

static bool take_flat(struct script_reader *r, struct attributes *list)
{
	while (!take(r, "}")) {
		const char *key = take_word(r);
		const char *value = key && take(r, "=>") ? take_word(r) : NULL;

		if (!value)
			return false;
		attributes_add(r->arena, list, key, value);
		take(r, ",");
	}
	return true;
}

static bool is_coprocessor(const char *key)
{
	return strncasecmp(key, "coprocessor", 11) == 0 && (key[11] == '\0' || key[11] == '$');
}

/* Take one Hash. The reader is after the opening brace. */
static bool take_hash(struct script_reader *r, struct described *d)
{
	while (!take(r, "}")) {
		const char *key = take_word(r), *value = NULL;

		if (!key || !take(r, "=>"))
			return false;
		if (take(r, "{")) {
			bool configuration = strcmp(key, "CONFIGURATION") == 0;

			if (!take_flat(r, configuration ? &d->configuration : &d->metadata))
				return false;
		} else if (take(r, "[")) {
			if (!skip_keys(r))
				return false;
		} else if (!(value = take_word(r))) {
			return false;
		}
		bool splits = strncmp(key, "SPLIT", 5) == 0 && !strchr(key, '_');
		if (value && strcmp(key, "NAME") == 0)
			d->name = value;
		else if (value && is_coprocessor(key)) {
			/* as in TableDescriptorBuilder.setCoprocessorWithSpec */
			char *numbered = mem_format("coprocessor$%u", ++r->coprocessors);

			attributes_add(r->arena, &d->items, arena_strdup(r->arena, numbered),
				       value);
			mem_free(numbered);
		} else if (value && !splits && strcmp(key, "NUMREGIONS") != 0)
			attributes_add(r->arena, &d->items, key, value);
		take(r, ",");
	}
	return true;
}

static void append(struct arena *a, struct attributes *to, const struct attributes *from)
{
	for (size_t i = 0; i < from->count; i++)
		attributes_add(a, to, from->item[i].key, from->item[i].value);
}

/*
 * Take the table's name, and the arguments of create or alter. The reader is after the word `create`
 * or `alter`.
 */
static bool take_arguments(struct script_reader *r)
{
	struct description *d = r->out;
	const char *table = take_word(r);

	if (!table || (d->creates && strcmp(table, d->creates) != 0))
		return false;
	d->creates = table;
	while (take(r, ",")) {
		struct described found = {0};

		if (!take(r, "{") || !take_hash(r, &found))
			return false;
		if (found.name) {
			description_add_family(d, r->arena, &found);
			continue;
		}
		append(r->arena, &d->table.items, &found.items);
		append(r->arena, &d->table.configuration, &found.configuration);
		append(r->arena, &d->table.metadata, &found.metadata);
	}
	return true;
}

int description_of_script(struct description *d, struct arena *a, const char *name,
			  struct bytes script, struct error *err)
{
	static const char create[] = "\n  create '", alter[] = "\n  alter '";
	struct script_reader r = {.arena = a, .out = d};
	char *text = arena_strndup(a, script.ptr, script.len);

	*d = (struct description){0};
	r.p = strlen(text) == script.len ? strstr(text, create) : NULL;
	if (r.p)
		r.p += sizeof create - 2; /* move to the quote */
	bool good = r.p && take_arguments(&r) && d->nfamilies > 0;
	for (const char *next = good ? strstr(r.p, alter) : NULL; good && next;
	     next = strstr(r.p, alter)) {
		r.p = next + sizeof alter - 2;
		good = take_arguments(&r);
	}
	return good ? RC_OK
		    : error_set(
			      err, RC_DATA,
			      "%s: found another text, expected a create-table script of saltmill",
			      name);
}

int description_of_table(struct description *d, struct arena *a, const struct table *t,
			 struct error *err)
{
	const struct splits none = {0};
	struct buf script = {0};
	int rc = ddl_create(&script, t, &none, err);

	if (rc == RC_OK)
		rc = description_of_script(d, a, t->name, buf_bytes(&script), err);
	buf_release(&script);
	return rc;
}
