/* form.c - write objects as JSON by their form (form.h) */
#include "form.h"

#include "cell.h"
#include "form_seal.h"
#include "io.h"
#include "json_writer.h"
#include "bytes.h"

static void put_object(struct json_writer *w, const struct form *f, const void *object);

static size_t count_of(const struct form_member *m, const char *base)
{
	return *(const size_t *)(const void *)(base + m->count_at);
}

static void put_pair(struct json_writer *w, const struct form *f, const char *object);

/* Write the items of a LIST, MAP, TEXTS, KEYS or INTS. */
static void put_items(struct json_writer *w, const struct form_member *m, const char *base)
{
	const void *items = *(const void *const *)(const void *)(base + m->at);
	size_t n = count_of(m, base);
	bool is_map = m->kind == FORM_MAP;

	json_open(w, is_map ? '{' : '[');
	for (size_t i = 0; i < n; i++) {
		if (!is_map)
			json_next(w);
		if (m->kind == FORM_TEXTS)
			json_text(w, bytes_str(((const char *const *)items)[i]));
		else if (m->kind == FORM_KEYS)
			text_json_key(w->out, ((const struct bytes *)items)[i]);
		else if (m->kind == FORM_INTS)
			json_int(w, ((const int64_t *)items)[i]);
		else if (is_map)
			put_pair(w, m->items, (const char *)items + i * m->items->bytes);
		else
			put_object(w, m->items, (const char *)items + i * m->items->bytes);
	}
	json_close(w, is_map ? '}' : ']');
}

static void put_digest(struct json_writer *w, const void *digest)
{
	buf_put(w->out, '"');
	bytes_hex(w->out, bytes_of(digest, 16));
	buf_put(w->out, '"');
}

static void put_bytes(struct json_writer *w, enum form_kind kind, struct bytes v)
{
	if (kind == FORM_KEY)
		text_json_key(w->out, v);
	else if (kind == FORM_BYTES)
		json_text(w, v);
	else
		buf_append(w->out, v.ptr, v.len);
}

static void put_value(struct json_writer *w, const struct form_member *m, const char *base)
{
	const void *at = base + m->at;

	switch (m->kind) {
	case FORM_TEXT: json_text(w, bytes_str(*(const char *const *)at)); return;
	case FORM_CHARS: json_text(w, bytes_str(at)); return;
	case FORM_BYTES:
	case FORM_KEY:
	case FORM_JSON:
	case FORM_OBJECT: put_bytes(w, m->kind, *(const struct bytes *)at); return;
	case FORM_DIGEST: put_digest(w, at); return;
	case FORM_COUNT: buf_digits(w->out, *(const uint64_t *)at); return;
	case FORM_SIZE: buf_digits(w->out, *(const size_t *)at); return;
	case FORM_UINT: buf_digits(w->out, *(const uint32_t *)at); return;
	case FORM_INT: json_int(w, *(const int64_t *)at); return;
	case FORM_INT32: json_int(w, *(const int32_t *)at); return;
	case FORM_RATIO:
	case FORM_REAL: json_float(w, *(const double *)at); return;
	case FORM_FLAG: json_word(w, *(const bool *)at ? "true" : "false"); return;
	case FORM_CHOICE: json_text(w, bytes_str(m->choices[*(const unsigned *)at])); return;
	case FORM_CELL_TYPE: json_text(w, bytes_str(cell_type_name(*(const uint8_t *)at))); return;
	case FORM_PART: put_object(w, m->items, at); return;
	case FORM_LIST:
	case FORM_MAP:
	case FORM_TEXTS:
	case FORM_KEYS:
	case FORM_INTS: put_items(w, m, base); return;
	case FORM_BASE64: return; /* put_base64 */
	}
}

/*
 * Write a struct of two members as a JSON member. The first member of the struct is the key, and
 * the second is the value.
 */
static void put_pair(struct json_writer *w, const struct form *f, const char *object)
{
	json_key(w, *(const char *const *)(const void *)(object + f->members[0].at));
	put_value(w, &f->members[1], object);
}

static bool is_empty(const struct form_member *m, const char *base)
{
	const void *at = base + m->at;

	switch (m->kind) {
	case FORM_TEXT: return !*(const char *const *)at;
	case FORM_CHARS: return !*(const char *)at;
	case FORM_BYTES:
	case FORM_BASE64:
	case FORM_KEY:
	case FORM_JSON:
	case FORM_OBJECT: return !((const struct bytes *)at)->ptr;
	case FORM_COUNT: return *(const uint64_t *)at == 0;
	case FORM_SIZE: return *(const size_t *)at == 0;
	case FORM_UINT:
	case FORM_CHOICE: return *(const uint32_t *)at == 0;
	case FORM_INT: return *(const int64_t *)at == 0;
	case FORM_INT32: return *(const int32_t *)at == 0;
	case FORM_FLAG:
	case FORM_PART: return !*(const bool *)at;
	case FORM_LIST:
	case FORM_MAP:
	case FORM_TEXTS:
	case FORM_KEYS:
	case FORM_INTS: return count_of(m, base) == 0;
	case FORM_DIGEST:
	case FORM_CELL_TYPE:
	case FORM_RATIO:
	case FORM_REAL: return false;
	}
	return false;
}

static bool flag_at(const char *base, size_t at)
{
	return *(const bool *)(const void *)(base + at);
}

static bool is_left_out(const struct form_member *m, const char *base)
{
	switch (m->presence) {
	case FORM_IF_ANY: return is_empty(m, base);
	case FORM_IF:
	case FORM_EITHER: return !flag_at(base, m->if_at);
	case FORM_ALWAYS:
	case FORM_OR_NULL:
	case FORM_NULL_IF:
	case FORM_NEWER: return false;
	}
	return false;
}

static bool is_null(const struct form_member *m, const char *base)
{
	return (m->presence == FORM_OR_NULL && is_empty(m, base)) ||
	       (m->presence == FORM_NULL_IF && flag_at(base, m->if_at)) ||
	       (m->kind == FORM_BASE64 && is_empty(m, base));
}

static void put_base64(struct json_writer *w, const char *key, struct bytes v)
{
	char *coded_key = mem_format("%s_base64", key);

	json_key(w, coded_key);
	buf_put(w->out, '"');
	text_base64(w->out, v);
	buf_put(w->out, '"');
	mem_free(coded_key);
}

static void put_member(struct json_writer *w, const struct form_member *m, const char *base)
{
	const struct bytes *v = (const void *)(base + m->at);

	if (m->kind == FORM_BASE64 && !text_is_utf8(*v)) {
		put_base64(w, m->key, *v);
		return;
	}
	json_key(w, m->key);
	if (is_null(m, base))
		json_word(w, "null");
	else if (m->kind == FORM_BASE64)
		json_text(w, *v);
	else
		put_value(w, m, base);
}

static void put_digest_of(struct json_writer *w, const struct form *f, const void *object)
{
	struct form open = *f;
	struct buf text = {0};
	char hex[FORM_SEAL_DIGITS + 1];

	open.seal = FORM_UNSEALED;
	form_put(&text, &open, object, FORM_FILE_LINE);
	form_seal_text(buf_bytes(&text), hex);
	json_key(w, FORM_SEAL_KEY);
	json_text(w, bytes_str(hex));
	buf_release(&text);
}

static void put_object(struct json_writer *w, const struct form *f, const void *object)
{
	json_open(w, '{');
	for (size_t i = 0; i < f->count; i++)
		if (!is_left_out(&f->members[i], object))
			put_member(w, &f->members[i], object);
	if (f->seal != FORM_UNSEALED)
		put_digest_of(w, f, object);
	json_close(w, '}');
}

static void end_text(struct buf *out, enum form_style style)
{
	if (style != FORM_SPACED)
		buf_put(out, '\n');
}

void form_put(struct buf *out, const struct form *f, const void *object, enum form_style style)
{
	struct json_writer w = {.out = out, .style = style, .digits = f->digits};

	put_object(&w, f, object);
	end_text(out, style);
}

void form_put_list(struct buf *out, const struct form *f, const void *items, size_t n,
		   enum form_style style)
{
	struct json_writer w = {.out = out, .style = style, .digits = f->digits};

	json_open(&w, '[');
	for (size_t i = 0; i < n; i++) {
		json_next(&w);
		put_object(&w, f, (const char *)items + i * f->bytes);
	}
	json_close(&w, ']');
	end_text(out, style);
}

void form_open(struct buf *out, const struct form *f, const void *object, enum form_style style)
{
	struct json_writer w = {.out = out, .style = style, .digits = f->digits};
	const struct form_member *last = &f->members[f->count - 1];

	json_open(&w, '{');
	for (const struct form_member *m = f->members; m < last; m++)
		if (!is_left_out(m, object))
			put_member(&w, m, object);
	json_key(&w, last->key);
	json_open(&w, last->kind == FORM_LIST ? '[' : '{');
}

void form_put_key(struct buf *out, const struct form *f, const char *key)
{
	struct json_writer w = {.out = out, .style = FORM_REPORT, .depth = 1, .more = true};
	size_t i = 0;

	while (i < f->count && strcmp(f->members[i].key, key) != 0)
		i++;
	assert(i < f->count);
	json_key(&w, key);
}

bool form_is_integer(const struct form_member *m)
{
	return m->kind == FORM_COUNT || m->kind == FORM_SIZE || m->kind == FORM_UINT ||
	       m->kind == FORM_INT || m->kind == FORM_INT32;
}

bool form_plain(struct buf *out, const struct form_member *m, const void *object)
{
	struct json_writer w = {.out = out};
	const char *base = object;
	const void *at = base + m->at;

	if (is_left_out(m, base) || is_null(m, base))
		return false;
	if (m->kind == FORM_TEXT)
		buf_append_str(out, *(const char *const *)at);
	else if (m->kind == FORM_CHARS)
		buf_append_str(out, at);
	else if (m->kind == FORM_DIGEST)
		bytes_hex(out, bytes_of(at, 16));
	else if (m->kind != FORM_INTS)
		put_value(&w, m, base);
	for (size_t i = 0; m->kind == FORM_INTS && i < count_of(m, base); i++) {
		buf_append_str(out, i ? ".." : "");
		json_int(&w, (*(const int64_t *const *)at)[i]);
	}
	return true;
}

int form_write(const struct form *f, const void *object, const char *path, struct error *err)
{
	struct buf text = {0};

	form_put(&text, f, object, FORM_FILE);
	int rc = io_write_file(path, buf_bytes(&text), err);
	buf_release(&text);
	return rc;
}
