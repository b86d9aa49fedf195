/* shape.c - see shape.h */
#include "shape.h"

#include "io.h"
#include "json_text.h"

static json_t *hex_json(const void *ptr, size_t len)
{
	struct buf hex = {0};

	bytes_hex(&hex, bytes_of(ptr, len));
	json_t *out = json_stringn((const char *)hex.ptr, hex.len);
	buf_release(&hex);
	return out;
}

static json_t *row_key_json(struct bytes key)
{
	struct buf text = {0};

	bytes_escape(&text, key);
	json_t *out = json_stringn(text.len ? (const char *)text.ptr : "", text.len);
	buf_release(&text);
	return out;
}

static json_t *shape_json(const struct shape *s, const char *base);

static json_t *list_json(const struct shape_member *m, const char *base)
{
	const char *const *items = (const void *)(base + m->at);
	const size_t *count = (const void *)(base + m->count_at);
	json_t *list = json_array();
	for (size_t i = 0; i < *count; i++) {
		json_t *item = shape_json(m->items, *items + i * m->items->bytes);

		if (json_array_append_new(list, item) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *member_json(const struct shape_member *m, const char *base)
{
	const void *at = base + m->at;

	switch (m->kind) {
	case RATIO: return json_real(*(const double *)at);
	case TEXT: return text_json(bytes_str(*(const char *const *)at));
	case COUNT: return json_integer((json_int_t) * (const uint64_t *)at);
	case INDEX: return json_integer((json_int_t) * (const size_t *)at);
	case FLAG: return json_boolean(*(const bool *)at);
	case MILLIS: return json_integer(*(const int64_t *)at);
	case PARTITION: return json_integer(*(const int32_t *)at);
	case DIGEST: return hex_json(at, 16);
	case ROW_KEY: return row_key_json(*(const struct bytes *)at);
	case PART: return shape_json(m->items, at);
	case LIST: return list_json(m, base);
	}
	return NULL;
}

static bool is_left_out(const struct shape_member *m, const char *base)
{
	const void *at = base + (m->kind == LIST ? m->count_at : m->at);

	if (!m->optional)
		return false;
	if (m->kind == PART)
		return !*(const bool *)at;
	if (m->kind == LIST || m->kind == INDEX)
		return *(const size_t *)at == 0;
	return !*(const char *const *)at;
}

/* NULL: out of memory */
static json_t *shape_json(const struct shape *s, const char *base)
{
	json_t *object = json_object();

	for (size_t i = 0; i < s->count; i++) {
		if (is_left_out(&s->members[i], base))
			continue;
		json_t *value = member_json(&s->members[i], base);
		if (json_object_set_new(object, s->members[i].key, value) < 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

void shape_format(const struct shape *s, const void *object, unsigned real_digits, struct buf *out)
{
	json_t *json = shape_json(s, object);
	size_t before = out->len;

	if (text_dump(out, json, JSON_INDENT(2) | JSON_REAL_PRECISION(real_digits)))
		buf_put(out, '\n');
	else
		out->len = before;
	json_decref(json);
}

int shape_write(const struct shape *s, const void *object, unsigned real_digits, const char *path,
		struct error *err)
{
	struct buf text = {0};

	shape_format(s, object, real_digits, &text);
	int rc = text.len ? io_write_file(path, buf_bytes(&text), err)
			  : error_set(err, RC_LIMIT, "out of memory for %s", path);
	buf_release(&text);
	return rc;
}

static const char *kind_name(enum kind k)
{
	switch (k) {
	case RATIO: return "a ratio, 0 or more";
	case TEXT: return "a text";
	case COUNT:
	case INDEX: return "a number, 0 or more";
	case FLAG: return "true or false";
	case MILLIS:
	case PARTITION: return "a number";
	case DIGEST: return "32 hex digits";
	case ROW_KEY: return "a row key in \\xHH form";
	case PART: return "an object";
	case LIST: return "a list";
	}
	return "";
}

static bool read_number(const json_t *v, enum kind kind, void *at)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || (kind != MILLIS && n < 0) ||
	    (kind == PARTITION && n > INT32_MAX))
		return false;
	if (kind == PARTITION)
		*(int32_t *)at = (int32_t)n;
	else if (kind == COUNT)
		*(uint64_t *)at = (uint64_t)n;
	else if (kind == INDEX)
		*(size_t *)at = (size_t)n;
	else
		*(int64_t *)at = n;
	return true;
}

static void read_row_key(const char *text, struct bytes *out, struct arena *a)
{
	struct buf key = {0};

	bytes_unescape(&key, bytes_str(text));
	*out = bytes_of(arena_strndup(a, (const char *)key.ptr, key.len), key.len);
	buf_release(&key);
}

static bool read_flag(const json_t *v, bool *at)
{
	*at = json_is_true(v);
	return json_is_boolean(v);
}

static bool read_ratio(const json_t *v, double *at)
{
	*at = json_number_value(v);
	return json_is_number(v) && *at >= 0;
}

static bool read_text(const json_t *v, enum kind kind, void *at, struct arena *a)
{
	const char *text = json_string_value(v);

	if (kind == RATIO)
		return read_ratio(v, at);
	if (!text)
		return false;
	switch (kind) {
	case TEXT: *(const char **)at = arena_strdup(a, text); return true;
	case ROW_KEY: read_row_key(text, at, a); return true;
	case DIGEST: return bytes_unhex(at, 16, text);
	case RATIO:
	case COUNT:
	case INDEX:
	case FLAG:
	case MILLIS:
	case PARTITION:
	case PART:
	case LIST: break;
	}
	return false;
}

static int object_read(const struct shape *s, const json_t *object, char *base, const char *where,
		       struct arena *a, struct error *err);

static int list_read(const struct shape_member *m, const json_t *list, char *base,
		     const char *where, struct arena *a, struct error *err)
{
	size_t count = json_array_size(list);
	char *items = arena_alloc(a, count * m->items->bytes);

	*(void **)(void *)(base + m->at) = items;
	*(size_t *)(void *)(base + m->count_at) = count;
	int rc = RC_OK;
	for (size_t i = 0; !rc && i < count; i++) {
		char *name = mem_format("%s%s[%zu].", where, m->key, i);

		rc = object_read(m->items, json_array_get(list, i), items + i * m->items->bytes,
				 name, a, err);
		mem_free(name);
	}
	return rc;
}

static int part_read(const struct shape_member *m, const json_t *object, char *base,
		     const char *where, struct arena *a, struct error *err)
{
	char *name = mem_format("%s%s.", where, m->key);

	*(bool *)base = true;
	int rc = object_read(m->items, object, base, name, a, err);
	mem_free(name);
	return rc;
}

static int object_read(const struct shape *s, const json_t *object, char *base, const char *where,
		       struct arena *a, struct error *err)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct shape_member *m = &s->members[i];
		const json_t *v = json_object_get(object, m->key);
		bool ok;

		if (!v && m->optional)
			continue;
		if (m->kind == LIST)
			ok = json_is_array(v);
		else if (m->kind == PART)
			ok = json_is_object(v);
		else if (m->kind == FLAG)
			ok = read_flag(v, (void *)(base + m->at));
		else if (m->kind == COUNT || m->kind == INDEX || m->kind == MILLIS ||
			 m->kind == PARTITION)
			ok = read_number(v, m->kind, base + m->at);
		else
			ok = read_text(v, m->kind, base + m->at, a);
		if (!ok)
			return error_set(err, RC_DATA, "%s%s is %s, expected %s", where, m->key,
					 v ? "something else" : "missing", kind_name(m->kind));
		int rc = RC_OK;
		if (m->kind == LIST)
			rc = list_read(m, v, base, where, a, err);
		else if (m->kind == PART)
			rc = part_read(m, v, base + m->at, where, a, err);
		if (rc)
			return rc;
	}
	return RC_OK;
}

int shape_parse(const struct shape *s, void *object, struct bytes text, const char *path,
		const char *what, struct arena *a, struct error *err)
{
	json_error_t bad;
	json_t *json = json_loadb((const char *)text.ptr, text.len, JSON_REJECT_DUPLICATES, &bad);

	if (!json)
		return error_set(err, RC_DATA, "%s:%d:%d: %s", path, bad.line, bad.column,
				 bad.text);
	int rc = object_read(s, json, object, "", a, err);
	if (rc)
		error_prefix(err, "%s is not %s: ", path, what);
	json_decref(json);
	return rc;
}

int shape_read(const struct shape *s, void *object, const char *path, const char *what,
	       struct arena *a, struct error *err)
{
	struct buf text = {0};
	int rc = io_read_file(path, &text, err);

	if (rc == RC_OK)
		rc = shape_parse(s, object, buf_bytes(&text), path, what, a, err);
	buf_release(&text);
	return rc;
}
