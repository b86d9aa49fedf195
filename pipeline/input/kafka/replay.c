/*
 * replay.c - read rejects.jsonl back
 *
 * A line contains a whole message. To repair it, a user edits raw (or writes raw instead of
 * raw_base64). All messages are kept in memory, because rejects are few.
 */
#include "replay.h"

#include <jansson.h>
#include <xxhash.h>

#include "io.h"
#include "bytes.h"

static bool decode64(const char *text, struct bytes *out, struct arena *a)
{
	struct buf b = {0};
	bool good = text_unbase64(&b, text);

	*out = bytes_of(arena_strndup(a, (const char *)b.ptr, b.len), b.len);
	buf_release(&b);
	return good;
}

/* Read `name` as text, or name_base64. If both are missing or null, ptr becomes NULL. */
static bool get_bytes(const json_t *object, const char *name, struct bytes *out, struct arena *a)
{
	char *coded = mem_format("%s_base64", name);
	const json_t *text = json_object_get(object, name),
		     *base64 = json_object_get(object, coded);

	mem_free(coded);
	*out = (struct bytes){0};
	if (json_is_string(text)) {
		size_t len = json_string_length(text);

		*out = bytes_of(arena_strndup(a, json_string_value(text), len), len);
		return !base64;
	}
	if (json_is_string(base64))
		return decode64(json_string_value(base64), out, a);
	return (!text || json_is_null(text)) && !base64;
}

static bool get_headers(const json_t *list, struct message *m, struct arena *a)
{
	m->nheaders = json_array_size(list);
	struct message_header *h = arena_alloc(a, (m->nheaders + 1) * sizeof *h);
	for (size_t i = 0; i < m->nheaders; i++) {
		const json_t *one = json_array_get(list, i);
		const char *name = json_string_value(json_object_get(one, "name"));

		if (!name || !get_bytes(one, "value", &h[i].value, a))
			return false;
		h[i].name = arena_strdup(a, name);
	}
	m->headers = h;
	return true;
}

static const char *get_message(const json_t *line, const struct kafka_source *of_job,
			       struct message *m, struct arena *a)
{
	const json_t *partition = json_object_get(line, "partition");
	const json_t *offset = json_object_get(line, "offset");
	const json_t *timestamp = json_object_get(line, "timestamp");
	const char *of = json_string_value(json_object_get(line, "topic"));

	if (!of || !kafka_has_topic(of_job, of))
		return of_job->topic ? "a message of the job's topic"
				     : "a message of one of the job's topics";
	if (!json_is_integer(partition) || !json_is_integer(offset))
		return "numbers for partition and offset";
	*m = (struct message){.topic = arena_strdup(a, of),
			      .partition = (int32_t)json_integer_value(partition),
			      .offset = json_integer_value(offset),
			      .timestamp_ms = timestamp ? json_integer_value(timestamp) : -1};
	if (!get_bytes(line, "key", &m->key, a) || !get_bytes(line, "raw", &m->value, a))
		return "key and raw as text, or key_base64 and raw_base64";
	return get_headers(json_object_get(line, "headers"), m, a) ? NULL
								   : "headers: name and value";
}

static const char *keep_text(const json_t *line, const char *name, struct arena *a)
{
	const char *text = json_string_value(json_object_get(line, name));

	return text ? arena_strdup(a, text) : NULL;
}

const char *replay_line(struct bytes line, const struct kafka_source *job, struct message *m,
			struct replay_why *why, struct arena *a)
{
	json_error_t bad;
	json_t *json = json_loadb((const char *)line.ptr, line.len, JSON_ALLOW_NUL, &bad);
	const char *expected = json ? get_message(json, job, m, a) : "a JSON object";

	if (!expected && why)
		*why = (struct replay_why){keep_text(json, "reason", a),
					   keep_text(json, "field", a)};
	json_decref(json);
	return expected;
}

static int read_lines(struct replay *r, struct bytes text, const struct kafka_source *job,
		      struct error *err)
{
	size_t lines = 1, at = 0;

	for (size_t i = 0; i < text.len; i++)
		lines += text.ptr[i] == '\n';
	r->messages = arena_alloc(&r->arena, lines * sizeof *r->messages);
	for (size_t line = 1; at < text.len; line++) {
		const uint8_t *end = memchr(text.ptr + at, '\n', text.len - at);
		size_t len = end ? (size_t)(end - text.ptr) - at : text.len - at;
		const char *expected = replay_line(bytes_of(text.ptr + at, len), job,
						   &r->messages[r->count++], NULL, &r->arena);

		if (expected)
			return error_set(err, RC_DATA, "%s:%zu: expected %s", r->file.path, line,
					 expected);
		at += len + 1;
	}
	return RC_OK;
}

int replay_open(struct replay *r, const char *path, const struct kafka_source *job,
		struct error *err)
{
	struct buf text = {0};
	XXH128_canonical_t digest;

	*r = (struct replay){0};
	r->file.path = arena_strdup(&r->arena, path);
	int rc = io_read_file(path, &text, err);
	if (!rc)
		rc = read_lines(r, buf_bytes(&text), job, err);
	XXH128_canonicalFromHash(&digest, XXH3_128bits(text.ptr, text.len));
	memcpy(r->file.digest, digest.digest, sizeof r->file.digest);
	r->file.size = text.len;
	r->file.rows = r->count;
	buf_release(&text);
	return rc;
}

void replay_close(struct replay *r)
{
	arena_release(&r->arena);
	*r = (struct replay){0};
}
