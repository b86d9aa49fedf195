/* form_schema.c - forms as JSON Schemas (form.h) */
#include "form.h"

#include "form_seal.h"
#include "json_writer.h"

#define KEY_PATTERN    "^([0-9A-Za-z_.-]|\\\\x[0-9A-F]{2})*$"
#define DIGEST_PATTERN "^[0-9a-f]{32}$"
#define BASE64_PATTERN "^[0-9A-Za-z+/]*={0,2}$"

static void put_form(struct json_writer *w, const struct form *f, const struct form *root);

static void put_text(struct json_writer *w, const char *key, const char *text)
{
	json_key(w, key);
	json_text(w, bytes_str(text));
}

/* Return the JSON type of a kind, or NULL if a value may have any type. */
static const char *type_of(enum form_kind k)
{
	switch (k) {
	case FORM_TEXT:
	case FORM_CHARS:
	case FORM_BYTES:
	case FORM_BASE64:
	case FORM_KEY:
	case FORM_DIGEST:
	case FORM_CELL_TYPE:
	case FORM_CHOICE: return "string";
	case FORM_COUNT:
	case FORM_SIZE:
	case FORM_UINT:
	case FORM_INT:
	case FORM_INT32: return "integer";
	case FORM_RATIO:
	case FORM_REAL: return "number";
	case FORM_FLAG: return "boolean";
	case FORM_OBJECT:
	case FORM_PART:
	case FORM_MAP: return "object";
	case FORM_LIST:
	case FORM_TEXTS:
	case FORM_KEYS:
	case FORM_INTS: return "array";
	case FORM_JSON: return NULL;
	}
	return NULL;
}

static void put_type(struct json_writer *w, const char *type, bool or_null)
{
	if (!or_null) {
		put_text(w, "type", type);
		return;
	}
	json_key(w, "type");
	json_open(w, '[');
	json_next(w);
	json_text(w, bytes_str(type));
	json_next(w);
	json_text(w, bytes_str("null"));
	json_close(w, ']');
}

static void put_choices(struct json_writer *w, const char *const *choices)
{
	json_key(w, "enum");
	json_open(w, '[');
	for (; *choices; choices++) {
		json_next(w);
		json_text(w, bytes_str(*choices));
	}
	json_close(w, ']');
}

static const char *pattern_of(enum form_kind k)
{
	return k == FORM_KEY ? KEY_PATTERN : k == FORM_DIGEST ? DIGEST_PATTERN : NULL;
}

/* Write bounds, patterns and the schema of items. */
static void put_limits(struct json_writer *w, const struct form_member *m, const struct form *root);

static void put_items(struct json_writer *w, const struct form_member *m, const struct form *root)
{
	json_key(w, m->kind == FORM_MAP ? "additionalProperties" : "items");
	json_open(w, '{');
	if (m->kind == FORM_MAP) {
		if (type_of(m->items->members[1].kind))
			put_type(w, type_of(m->items->members[1].kind), false);
		put_limits(w, &m->items->members[1], root);
	} else if (m->kind == FORM_LIST && m->items == root) {
		put_text(w, "$ref", "#");
	} else if (m->kind == FORM_LIST) {
		put_form(w, m->items, root);
	} else {
		put_text(w, "type", m->kind == FORM_INTS ? "integer" : "string");
		if (m->kind == FORM_KEYS)
			put_text(w, "pattern", KEY_PATTERN);
	}
	json_close(w, '}');
}

static void put_limits(struct json_writer *w, const struct form_member *m, const struct form *root)
{
	if (pattern_of(m->kind))
		put_text(w, "pattern", pattern_of(m->kind));
	if (m->choices)
		put_choices(w, m->choices);
	if (m->kind == FORM_COUNT || m->kind == FORM_SIZE || m->kind == FORM_UINT ||
	    m->kind == FORM_INT32 || m->kind == FORM_RATIO) {
		json_key(w, "minimum");
		json_int(w, 0);
	}
	if (m->kind == FORM_PART)
		put_form(w, m->items, root);
	if (m->kind == FORM_LIST || m->kind == FORM_MAP || m->kind == FORM_TEXTS ||
	    m->kind == FORM_KEYS || m->kind == FORM_INTS)
		put_items(w, m, root);
}

/* Write the types of a value that several members describe. */
static void put_types(struct json_writer *w, const struct form_member *m)
{
	json_key(w, "type");
	json_open(w, '[');
	for (const char *key = m->key; m->presence == FORM_EITHER && strcmp(m->key, key) == 0;
	     m++) {
		json_next(w);
		json_text(w, bytes_str(type_of(m->kind)));
	}
	json_close(w, ']');
}

static void put_base64(struct json_writer *w, const char *key)
{
	char *coded = mem_format("%s_base64", key);
	char *words = mem_format("base64, in place of %s if that is not UTF-8", key);

	json_key(w, coded);
	json_open(w, '{');
	put_text(w, "type", "string");
	put_text(w, "pattern", BASE64_PATTERN);
	put_text(w, "description", words);
	json_close(w, '}');
	mem_free(words);
	mem_free(coded);
}

static void put_member(struct json_writer *w, const struct form_member *m, const struct form *root)
{
	bool or_null = m->presence == FORM_OR_NULL || m->presence == FORM_NULL_IF ||
		       m->kind == FORM_BASE64;

	json_key(w, m->key);
	json_open(w, '{');
	if (m->presence == FORM_EITHER)
		put_types(w, m);
	else if (type_of(m->kind) && m->kind != FORM_PART)
		put_type(w, type_of(m->kind), or_null);
	if (m->presence != FORM_EITHER)
		put_limits(w, m, root);
	put_text(w, "description", m->words);
	json_close(w, '}');
	if (m->kind == FORM_BASE64)
		put_base64(w, m->key);
}

static bool is_required(const struct form_member *m)
{
	return m->kind != FORM_BASE64 && m->presence != FORM_IF && m->presence != FORM_IF_ANY;
}

/* Return true if a member before member `i` has the same key (FORM_EITHER). */
static bool is_again(const struct form *f, size_t i)
{
	return i && strcmp(f->members[i].key, f->members[i - 1].key) == 0;
}

static void put_seal(struct json_writer *w)
{
	static const struct form_member seal = {
		.key = FORM_SEAL_KEY,
		.kind = FORM_DIGEST,
		.words = "XXH3-128 of the other members, without blanks and with sorted keys"};

	put_member(w, &seal, NULL);
}

static void put_form(struct json_writer *w, const struct form *f, const struct form *root)
{
	put_text(w, "type", "object");
	json_key(w, "properties");
	json_open(w, '{');
	for (size_t i = 0; i < f->count; i++)
		if (!is_again(f, i))
			put_member(w, &f->members[i], root);
	if (f->seal != FORM_UNSEALED)
		put_seal(w);
	json_close(w, '}');
	json_key(w, "required");
	json_open(w, '[');
	for (size_t i = 0; i < f->count; i++)
		if (is_required(&f->members[i]) && !is_again(f, i)) {
			json_next(w);
			json_text(w, bytes_str(f->members[i].key));
		}
	if (f->seal != FORM_UNSEALED) {
		json_next(w);
		json_text(w, bytes_str(FORM_SEAL_KEY));
	}
	json_close(w, ']');
	json_key(w, "additionalProperties");
	json_word(w, "false");
}

void form_schema(struct buf *out, const struct form *f)
{
	struct json_writer w = {.out = out, .style = FORM_REPORT};
	char *title = mem_format("saltmill: %s", f->title);

	json_open(&w, '{');
	put_text(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
	put_text(&w, "title", title);
	if (f->is_list) {
		put_text(&w, "type", "array");
		json_key(&w, "items");
		json_open(&w, '{');
	}
	put_form(&w, f, f);
	if (f->is_list)
		json_close(&w, '}');
	json_close(&w, '}');
	buf_put(out, '\n');
	mem_free(title);
}
