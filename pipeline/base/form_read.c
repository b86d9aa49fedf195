/* form_read.c - read objects from JSON by their form (form.h) */
#include "form.h"

#include <jansson.h>

#include "form_seal.h"
#include "io.h"
#include "bytes.h"

static const char *kind_name(enum form_kind k)
{
	switch (k) {
	case FORM_TEXT:
	case FORM_CHARS:
	case FORM_CHOICE:
	case FORM_CELL_TYPE:
	case FORM_BYTES: return "a text";
	case FORM_BASE64: return "a text, or base64";
	case FORM_KEY: return "a row key in \\xHH form";
	case FORM_DIGEST: return "32 hex digits";
	case FORM_COUNT:
	case FORM_SIZE:
	case FORM_UINT:
	case FORM_INT32: return "a number, 0 or more";
	case FORM_INT:
	case FORM_REAL: return "a number";
	case FORM_RATIO: return "a ratio, 0 or more";
	case FORM_FLAG: return "true or false";
	case FORM_OBJECT:
	case FORM_MAP:
	case FORM_PART: return "an object";
	case FORM_LIST:
	case FORM_TEXTS:
	case FORM_KEYS:
	case FORM_INTS: return "a list";
	case FORM_JSON: return "a value";
	}
	return "";
}

static bool read_number(const json_t *v, enum form_kind kind, void *at)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || (kind != FORM_INT && n < 0) ||
	    (kind == FORM_INT32 && n > INT32_MAX) || (kind == FORM_UINT && n > UINT32_MAX))
		return false;
	if (kind == FORM_INT)
		*(int64_t *)at = n;
	else if (kind == FORM_COUNT)
		*(uint64_t *)at = (uint64_t)n;
	else if (kind == FORM_SIZE)
		*(size_t *)at = (size_t)n;
	else if (kind == FORM_UINT)
		*(uint32_t *)at = (uint32_t)n;
	else
		*(int32_t *)at = (int32_t)n;
	return true;
}

static bool read_real(const json_t *v, enum form_kind kind, double *at)
{
	*at = json_number_value(v);
	return json_is_number(v) && (kind == FORM_REAL || *at >= 0);
}

static bool read_flag(const json_t *v, bool *at)
{
	*at = json_is_true(v);
	return json_is_boolean(v);
}

static bool read_choice(const char *text, const char *const *choices, unsigned *at)
{
	for (*at = 0; choices[*at]; ++*at)
		if (strcmp(choices[*at], text) == 0)
			return true;
	return false;
}

static struct bytes row_key(const char *text, struct arena *a)
{
	struct buf key = {0};

	bytes_unescape(&key, bytes_str(text));
	struct bytes out = arena_bytes(a, buf_bytes(&key));
	buf_release(&key);
	return out;
}

/* Copy a text into `size` bytes, and cut a longer text. */
static void read_chars(char *at, size_t size, const char *text)
{
	size_t n = strlen(text);

	n = n < size ? n : size - 1;
	memcpy(at, text, n);
	at[n] = 0;
}

static bool read_text(const json_t *v, const struct form_member *m, void *at, struct arena *a)
{
	const char *text = json_string_value(v);
	size_t len = json_string_length(v);

	if (!text || (strlen(text) != len && m->kind != FORM_BYTES && m->kind != FORM_BASE64))
		return false;
	switch (m->kind) {
	case FORM_TEXT: *(const char **)at = arena_strdup(a, text); return true;
	case FORM_CHARS: read_chars(at, m->count_at, text); return true;
	case FORM_KEY: *(struct bytes *)at = row_key(text, a); return true;
	case FORM_DIGEST: return bytes_unhex(at, 16, text);
	case FORM_CHOICE: return read_choice(text, m->choices, at);
	case FORM_BYTES:
	case FORM_BASE64:
		*(struct bytes *)at = bytes_of(arena_strndup(a, text, len), len);
		return true;
	case FORM_COUNT:
	case FORM_SIZE:
	case FORM_UINT:
	case FORM_INT:
	case FORM_INT32:
	case FORM_RATIO:
	case FORM_REAL:
	case FORM_FLAG:
	case FORM_CELL_TYPE:
	case FORM_JSON:
	case FORM_OBJECT:
	case FORM_PART:
	case FORM_LIST:
	case FORM_MAP:
	case FORM_TEXTS:
	case FORM_KEYS:
	case FORM_INTS: break;
	}
	return false;
}

/* Read integers. Returns false if an item is not an integer. */
static bool read_ints(const json_t *v, const struct form_member *m, char *base, struct arena *a)
{
	size_t n = json_array_size(v);
	int64_t *out = arena_alloc(a, (n + 1) * sizeof *out);
	bool good = json_is_array(v);

	for (size_t i = 0; good && i < n; i++) {
		const json_t *item = json_array_get(v, i);

		good = json_is_integer(item);
		out[i] = json_integer_value(item);
	}
	*(int64_t **)(void *)(base + m->at) = out;
	*(size_t *)(void *)(base + m->count_at) = n;
	return good;
}

/*
 * Read `v`. Returns false if `v` does not have the member's kind. The next calls read the members
 * of a list or part.
 */
static bool read_value(const json_t *v, const struct form_member *m, char *base, struct arena *a)
{
	void *at = base + m->at;

	switch (m->kind) {
	case FORM_TEXTS:
	case FORM_LIST: return json_is_array(v);
	case FORM_PART: return json_is_object(v);
	case FORM_FLAG: return read_flag(v, at);
	case FORM_RATIO:
	case FORM_REAL: return read_real(v, m->kind, at);
	case FORM_COUNT:
	case FORM_SIZE:
	case FORM_UINT:
	case FORM_INT:
	case FORM_INT32: return read_number(v, m->kind, at);
	case FORM_TEXT:
	case FORM_CHARS:
	case FORM_CHOICE:
	case FORM_BYTES:
	case FORM_BASE64:
	case FORM_KEY:
	case FORM_DIGEST: return read_text(v, m, at, a);
	case FORM_INTS: return read_ints(v, m, base, a);
	case FORM_CELL_TYPE:
	case FORM_JSON:
	case FORM_OBJECT:
	case FORM_MAP:
	case FORM_KEYS: break;
	}
	assert(false); /* no reader uses this kind */
	return false;
}

static int read_object(const struct form *f, const json_t *object, char *base, const char *where,
		       struct arena *a, struct error *err);

/* Read the items of a list. `where` is the list's place, for messages. */
static int read_items(const struct form *f, const json_t *list, void **out, size_t *n,
		      const char *where, struct arena *a, struct error *err)
{
	char *items = arena_alloc(a, json_array_size(list) * f->bytes);
	int rc = RC_OK;

	*out = items;
	*n = json_array_size(list);
	for (size_t i = 0; rc == RC_OK && i < *n; i++) {
		char *name = mem_format("%s[%zu].", where, i);

		rc = read_object(f, json_array_get(list, i), items + i * f->bytes, name, a, err);
		mem_free(name);
	}
	return rc;
}

static int read_texts(const struct form_member *m, const json_t *list, char *base,
		      const char *where, struct arena *a, struct error *err)
{
	size_t n = json_array_size(list);
	const char **texts = arena_alloc(a, n * sizeof *texts);
	struct form_member item = {.kind = FORM_TEXT};

	for (size_t i = 0; i < n; i++)
		if (!read_text(json_array_get(list, i), &item, &texts[i], a))
			return error_set(err, RC_DATA, "%s%s[%zu]: expected %s", where, m->key, i,
					 kind_name(FORM_TEXT));
	*(const char *const **)(void *)(base + m->at) = texts;
	*(size_t *)(void *)(base + m->count_at) = n;
	return RC_OK;
}

static int read_list(const struct form_member *m, const json_t *list, char *base, const char *where,
		     struct arena *a, struct error *err)
{
	char *name = mem_format("%s%s", where, m->key);
	int rc = read_items(m->items, list, (void *)(base + m->at), (void *)(base + m->count_at),
			    name, a, err);

	mem_free(name);
	return rc;
}

static int read_part(const struct form_member *m, const json_t *object, char *base,
		     const char *where, struct arena *a, struct error *err)
{
	char *name = mem_format("%s%s.", where, m->key);

	if (m->presence == FORM_IF_ANY)
		*(bool *)base = true;
	int rc = read_object(m->items, object, base, name, a, err);
	mem_free(name);
	return rc;
}

static bool may_be_missing(const struct form_member *m)
{
	return m->presence != FORM_ALWAYS && m->presence != FORM_NULL_IF;
}

/* Read NAME or NAME_base64. out->ptr is NULL if both are missing or null. */
static bool read_base64(const struct form_member *m, const json_t *object, struct bytes *out,
			struct arena *a)
{
	struct buf b = {0};
	char *key = mem_format("%s_base64", m->key);
	const json_t *text = json_object_get(object, m->key), *coded = json_object_get(object, key);
	bool good = !text || json_is_null(text) || json_is_string(text);

	*out = (struct bytes){0};
	mem_free(key);
	if (json_is_string(text))
		return read_text(text, m, out, a) && !coded;
	if (json_is_string(coded)) {
		good = good && text_unbase64(&b, json_string_value(coded));
		*out = arena_bytes(a, buf_bytes(&b));
		buf_release(&b);
	}
	return good;
}

static int read_member(const struct form_member *m, const json_t *object, char *base,
		       const char *where, struct arena *a, struct error *err)
{
	const json_t *v = json_object_get(object, m->key);

	if (m->kind == FORM_BASE64)
		return read_base64(m, object, (void *)(base + m->at), a)
			       ? RC_OK
			       : error_set(err, RC_DATA, "%s%s: expected %s", where, m->key,
					   kind_name(m->kind));
	if (!v && may_be_missing(m))
		return RC_OK;
	if (json_is_null(v) && m->presence == FORM_OR_NULL)
		return RC_OK;
	if (!read_value(v, m, base, a))
		return error_set(err, RC_DATA, "%s%s is %s, expected %s", where, m->key,
				 v ? "something else" : "missing", kind_name(m->kind));
	if (m->presence == FORM_IF)
		*(bool *)(base + m->if_at) = true;
	if (m->kind == FORM_TEXTS)
		return read_texts(m, v, base, where, a, err);
	if (m->kind == FORM_LIST)
		return read_list(m, v, base, where, a, err);
	return m->kind == FORM_PART ? read_part(m, v, base + m->at, where, a, err) : RC_OK;
}

static int read_object(const struct form *f, const json_t *object, char *base, const char *where,
		       struct arena *a, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < f->count; i++)
		rc = read_member(&f->members[i], object, base, where, a, err);
	return rc;
}

/* Parse a JSON text. Returns NULL if the text is not JSON. */
static json_t *load_text(struct bytes text, const char *path, const char *what, struct error *err)
{
	json_error_t bad;
	json_t *json = json_loadb((const char *)text.ptr, text.len,
				  JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &bad);

	if (!json)
		error_set(err, RC_DATA, "%s:%d:%d: found no JSON (%s), expected %s", path, bad.line,
			  bad.column, bad.text, what);
	return json;
}

int form_parse(const struct form *f, void *object, struct bytes text, const char *path,
	       const char *what, struct arena *a, struct error *err)
{
	json_t *json = load_text(text, path, what, err);

	if (!json)
		return RC_DATA;
	int rc =
		f->seal == FORM_UNSEALED || form_seal_holds(json, f->seal == FORM_SEALED_LATER)
			? read_object(f, json, object, "", a, err)
			: error_set(
				  err, RC_DATA,
				  "found content that does not match its digest, expected an unchanged file");
	if (rc)
		error_prefix(err, "%s is not %s: ", path, what);
	json_decref(json);
	return rc;
}

int form_parse_list(const struct form *f, void **items, size_t *n, struct bytes text,
		    const char *path, const char *what, struct arena *a, struct error *err)
{
	json_t *json = load_text(text, path, what, err);

	if (!json)
		return RC_DATA;
	int rc = json_is_array(json) ? read_items(f, json, items, n, "", a, err)
				     : error_set(err, RC_DATA, "expected a list");
	if (rc)
		error_prefix(err, "%s is not %s: ", path, what);
	json_decref(json);
	return rc;
}

int form_read(const struct form *f, void *object, const char *path, const char *what,
	      struct arena *a, struct error *err)
{
	struct buf text = {0};
	int rc = io_read_file(path, &text, err);

	if (rc == RC_OK)
		rc = form_parse(f, object, buf_bytes(&text), path, what, a, err);
	buf_release(&text);
	return rc;
}
