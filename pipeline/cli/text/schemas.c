/* schemas.c - the tables of keys as JSON Schemas (schemas.h) */
#include "cli/reference.h"

#include <assert.h>
#include <string.h>

#include "mem.h"
#include "schema_tables.h"
#include "show_json.h"

static const struct form_schema *const lists[] = {schemas_of_loads, schemas_of_plans,
						  schemas_of_topics, schemas_of_files,
						  schemas_of_answers};
#define NLISTS (sizeof lists / sizeof *lists)

void schemas_list(struct buf *out)
{
	for (size_t i = 0; i < NLISTS; i++)
		for (const struct form_schema *s = lists[i]; s->name; s++)
			buf_printf(out, "  %-14s %s\n", s->name, s->title);
}

/* --- types --- */

static json_t *object_type(void)
{
	return json_pack("{s:s, s:{}, s:[], s:b}", "type", "object", "properties", "required",
			 "additionalProperties", 0);
}

static json_t *list_of(json_t *items)
{
	return json_pack("{s:s, s:o}", "type", "array", "items", items);
}

static json_t *text_type(const char *pattern)
{
	json_t *t = json_pack("{s:s}", "type", "string");

	if (pattern)
		json_object_set_new(t, "pattern", json_string(pattern));
	return t;
}

#define ESCAPED_PATTERN "^([0-9A-Za-z_.-]|\\\\x[0-9A-F]{2})*$"

static bool is(const char *type, size_t len, const char *name)
{
	return strlen(name) == len && memcmp(type, name, len) == 0;
}

static json_t *type_of(const char *type, size_t len)
{
	if (is(type, len, "text"))
		return text_type(NULL);
	if (is(type, len, "key"))
		return text_type(ESCAPED_PATTERN);
	if (is(type, len, "digest"))
		return text_type("^[0-9a-f]{32}$");
	if (is(type, len, "count"))
		return json_pack("{s:s, s:i}", "type", "integer", "minimum", 0);
	if (is(type, len, "integer") || is(type, len, "time"))
		return json_pack("{s:s}", "type", "integer");
	if (is(type, len, "real"))
		return json_pack("{s:s}", "type", "number");
	if (is(type, len, "flag"))
		return json_pack("{s:s}", "type", "boolean");
	if (is(type, len, "object"))
		return object_type();
	if (is(type, len, "objects"))
		return list_of(object_type());
	if (is(type, len, "texts"))
		return list_of(text_type(NULL));
	if (is(type, len, "keys"))
		return list_of(text_type(ESCAPED_PATTERN));
	if (is(type, len, "selves"))
		return list_of(json_pack("{s:s}", "$ref", "#"));
	if (is(type, len, "map"))
		return json_pack("{s:s}", "type", "object");
	assert(is(type, len, "any"));
	return json_object();
}

/* "type": "string" becomes "type": ["string", "null"]. */
static void or_null(json_t *t)
{
	json_t *type = json_incref(json_object_get(t, "type"));

	json_object_set_new(t, "type", json_pack("[o, s]", type, "null"));
}

/* --- places --- */

/* What the part of a path in front of its last name is of; *name: that one. */
static json_t *parent_of(json_t *root, const char *path, const char **name)
{
	json_t *at = root;

	for (const char *end; (end = strpbrk(path, ".[")); path = end) {
		if (end > path) {
			char *key = mem_format("%.*s", (int)(end - path), path);

			at = json_object_get(json_object_get(at, "properties"), key);
			mem_free(key);
		}
		if (*end == '[') {
			at = json_object_get(at, "items");
			end += strlen("[]");
		}
		end += *end == '.';
	}
	*name = path;
	assert(at);
	return at;
}

static void add_key(json_t *root, const struct schema_key *k)
{
	const char *name, *type = k->type + (*k->type == '?');
	size_t len = strcspn(type, "|");
	json_t *parent = parent_of(root, k->path, &name), *t = type_of(type, len);

	if (type[len])
		or_null(t);
	json_object_set_new(t, "description", json_string(k->words));
	json_object_set_new(json_object_get(parent, "properties"), name, t);
	if (type == k->type)
		json_array_append_new(json_object_get(parent, "required"), json_string(name));
}

static const struct form_schema *find(const char *name)
{
	for (size_t i = 0; i < NLISTS; i++)
		for (const struct form_schema *s = lists[i]; s->name; s++)
			if (strcmp(s->name, name) == 0)
				return s;
	return NULL;
}

bool schema_json(struct buf *out, const char *name)
{
	const struct form_schema *s = find(name);

	if (!s)
		return false;
	json_t *root = s->keys[0].path[0] == '[' ? list_of(object_type()) : object_type();
	json_object_set_new(root, "$schema",
			    json_string("https://json-schema.org/draft/2020-12/schema"));
	json_object_set_new(root, "title", json_sprintf("saltmill: %s", s->title));
	for (size_t i = 0; i < s->n; i++)
		add_key(root, &s->keys[i]);
	show_json(out, root, JSON_INDENT(2));
	return true;
}
