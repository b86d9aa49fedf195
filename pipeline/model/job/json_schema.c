/* json_schema.c - the tables of keys as a JSON Schema, with which editors check job files */
#include <jansson.h>

#include "job.h"
#include "sections.h"

static json_t *of_schema(const struct schema *s);

static json_t *any_of(json_t *a, json_t *b)
{
	return json_pack("{s:[o,o]}", "anyOf", a, b);
}

/*
 * Accept YAML's plain scalars. saltmill reads all of them as text, but an editor treats some as
 * numbers or nulls.
 */
static json_t *scalar(void)
{
	return json_pack("{s:[s,s,s,s]}", "type", "string", "number", "boolean", "null");
}

static json_t *scalars(void)
{
	return any_of(scalar(), json_pack("{s:s,s:o}", "type", "array", "items", scalar()));
}

static json_t *whole_number(const struct key *k)
{
	return json_pack("{s:s,s:I,s:I}", "type", "integer", "minimum", (json_int_t)k->min,
			 "maximum", (json_int_t)(k->max ? k->max : UINT32_MAX));
}

static json_t *one_of_choices(const struct key *k)
{
	json_t *names = json_array();

	for (size_t i = 0; i < k->nchoices; i++) {
		const char *name = k->choices[i].name;
		bool word = strcmp(name, "true") != 0 && strcmp(name, "false") != 0;

		json_array_append_new(names, word ? json_string(name) : json_boolean(*name == 't'));
		if (strcmp(name, "null") == 0)
			json_array_append_new(names, json_null());
	}
	return json_pack("{s:o}", "enum", names);
}

static json_t *one_of_types(void)
{
	json_t *names = json_array();

	for (size_t i = 0; i < FIELD_TYPES; i++)
		json_array_append_new(names, json_string(field_type_name((enum field_type)i)));
	return json_pack("{s:o}", "enum", names);
}

static json_t *one_of_encodings(void)
{
	json_t *names = json_array();

	for (size_t i = 0; i < ENCODINGS; i++)
		json_array_append_new(names, json_string(encodings[i].name));
	return json_pack("{s:o}", "enum", names);
}

/* Accept a mapping of one of the inner schemas, or of any keys if there is no inner schema. */
static json_t *one_of_inner(const struct key *k)
{
	json_t *kinds = json_array();

	for (const struct schema *const *s = k->inner; s && *s; s++)
		json_array_append_new(kinds, of_schema(*s));
	if (json_array_size(kinds))
		return json_pack("{s:o}", "anyOf", kinds);
	json_decref(kinds);
	return json_pack("{s:s}", "type", "object");
}

/* Accept one mapping with the keys of all inner schemas. */
static json_t *all_of_inner(const struct key *k)
{
	json_t *all = of_schema(k->inner[0]);

	for (const struct schema *const *s = k->inner + 1; *s; s++) {
		json_t *more = of_schema(*s);

		json_object_update(json_object_get(all, "properties"),
				   json_object_get(more, "properties"));
		json_decref(more);
	}
	return all;
}

static json_t *named(const struct key *k)
{
	json_t *each = any_of(one_of_inner(k), json_pack("{s:[s,s]}", "type", "string", "null"));

	return json_pack("{s:s,s:o}", "type", "object", "additionalProperties", each);
}

static json_t *list_of(json_t *item)
{
	return json_pack("{s:s,s:o}", "type", "array", "items", item);
}

static json_t *properties(const struct key *k)
{
	json_t *each = k->inner ? any_of(scalar(), one_of_inner(k)) : scalar();

	return json_pack("{s:s,s:o}", "type", "object", "additionalProperties", each);
}

/* Accept a scalar, a mapping, or a list of both. */
static json_t *either(const struct key *k)
{
	json_t *one = any_of(scalar(), one_of_inner(k));
	json_t *list = list_of(json_incref(one));

	return any_of(one, list);
}

static json_t *of_value(const struct key *k)
{
	switch (k->words.form) {
	case FORM_TEXTS:
	case FORM_FIELDS: return scalars();
	case FORM_NUMBER: return whole_number(k);
	case FORM_NUMBERS: return list_of(json_pack("{s:s}", "type", "integer"));
	case FORM_RATIO:
		return json_pack("{s:s,s:I,s:I}", "type", "number", "minimum", (json_int_t)k->min,
				 "maximum", (json_int_t)k->max);
	case FORM_LEVEL: return any_of(whole_number(k), json_pack("{s:s}", "const", "auto"));
	case FORM_SIZE:
	case FORM_DURATION: return json_pack("{s:[s,s]}", "type", "string", "integer");
	case FORM_BOOL: return json_pack("{s:s}", "type", "boolean");
	case FORM_CHOICE: return k->nchoices ? one_of_choices(k) : scalar();
	case FORM_TYPE: return one_of_types();
	case FORM_ENCODING: return one_of_encodings();
	case FORM_CODES: return any_of(scalar(), json_pack("{s:s}", "type", "object"));
	case FORM_ATTRIBUTE: return scalars(); /* a list, for coprocessors */
	case FORM_PROPERTIES: return properties(k);
	case FORM_MAPPING: return all_of_inner(k);
	case FORM_NAMED: return named(k);
	case FORM_LIST: return list_of(one_of_inner(k));
	case FORM_EITHER: return either(k);
	case FORM_UNSAID:
	case FORM_TEXT:
	case FORM_BYTE:
	case FORM_SIGN:
	case FORM_ESCAPED:
	case FORM_HEX:
	case FORM_QUESTION:
	case FORM_FIELD:
	case FORM_TABLE: break;
	}
	return scalar();
}

static json_t *of_key(const struct key *k)
{
	json_t *value = of_value(k);

	json_object_set_new(value, "description", json_string(k->words.sentence));
	if (k->words.standard)
		json_object_set_new(value, "default", json_string(k->words.standard));
	return value;
}

static json_t *of_schema(const struct schema *s)
{
	json_t *keys = json_object(), *required = json_array();

	for (size_t i = 0; i < s->nkeys; i++) {
		json_object_set_new(keys, s->keys[i].name, of_key(&s->keys[i]));
		if (s->keys[i].required)
			json_array_append_new(required, json_string(s->keys[i].name));
	}
	return json_pack("{s:s,s:o,s:o,s:b}", "type", "object", "properties", keys, "required",
			 required, "additionalProperties", 0);
}

static int append(const char *text, size_t len, void *out)
{
	buf_append(out, text, len);
	return 0;
}

void job_words_json_schema(struct buf *out)
{
	json_t *all = of_schema(&job_schema);

	json_object_set_new(all, "$schema",
			    json_string("https://json-schema.org/draft/2020-12/schema"));
	json_object_set_new(all, "title", json_string("saltmill job file"));
	json_dump_callback(all, append, out, JSON_INDENT(1) | JSON_SORT_KEYS);
	json_decref(all);
	buf_append_str(out, "\n");
}
