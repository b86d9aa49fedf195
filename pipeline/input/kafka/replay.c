/*
 * replay.c - read the messages of a rejects.jsonl file
 *
 * A line contains a whole message. To repair it, a user edits raw (or writes raw instead of
 * raw_base64). The reader keeps all messages in memory, because rejects are few.
 */
#include "replay.h"

#include <xxhash.h>

#include "form.h"
#include "io.h"
#include "bytes.h"

/* The members of a line that make a message again, and the reason of the reject. */
struct replay_view {
	const char *topic, *reason, *field;
	int32_t partition;
	int64_t offset, timestamp;
	struct bytes key, raw;
	struct message_header *headers;
	size_t nheaders;
	bool has_time;
};
static const struct form_member members[] = {
	{"topic", FORM_TEXT, IN(replay_view, topic), ""},
	{"partition", FORM_INT32, IN(replay_view, partition), ""},
	{"offset", FORM_INT, IN(replay_view, offset), ""},
	{"timestamp", FORM_INT, IN(replay_view, timestamp), "", FORM_IF, IF(replay_view, has_time)},
	{"key", FORM_BASE64, IN(replay_view, key), ""},
	{"raw", FORM_BASE64, IN(replay_view, raw), ""},
	{"headers", FORM_LIST, IN(replay_view, headers), "", FORM_IF_ANY,
	 ITEMS(replay_view, message_header_form, nheaders)},
	{"reason", FORM_TEXT, IN(replay_view, reason), "", FORM_IF_ANY},
	{"field", FORM_TEXT, IN(replay_view, field), "", FORM_OR_NULL},
};
static const struct form replay_form = FORM(replay_view, members);

int replay_line(struct bytes line, const char *place, const struct kafka_source *job,
		struct message *m, struct replay_why *why, struct arena *a, struct error *err)
{
	struct replay_view v = {.timestamp = -1};
	int rc = form_parse(&replay_form, &v, line, place, "a rejected message", a, err);

	if (rc)
		return rc;
	if (!kafka_has_topic(job, v.topic))
		return error_set(err, RC_DATA, "%s: expected a message of %s", place,
				 job->topic ? "the job's topic" : "one of the job's topics");
	*m = (struct message){.topic = v.topic,
			      .partition = v.partition,
			      .offset = v.offset,
			      .timestamp_ms = v.timestamp,
			      .key = v.key,
			      .value = v.raw,
			      .headers = v.headers,
			      .nheaders = v.nheaders};
	*why = (struct replay_why){v.reason, v.field};
	return RC_OK;
}

static int read_lines(struct replay *r, struct bytes text, const struct kafka_source *job,
		      struct error *err)
{
	size_t lines = 1, at = 0;
	int rc = RC_OK;

	for (size_t i = 0; i < text.len; i++)
		lines += text.ptr[i] == '\n';
	r->messages = arena_alloc(&r->arena, lines * sizeof *r->messages);
	for (size_t line = 1; rc == RC_OK && at < text.len; line++) {
		const uint8_t *end = memchr(text.ptr + at, '\n', text.len - at);
		size_t len = end ? (size_t)(end - text.ptr) - at : text.len - at;
		char *place = mem_format("%s:%zu", r->file.path, line);
		struct replay_why why;

		rc = replay_line(bytes_of(text.ptr + at, len), place, job, &r->messages[r->count++],
				 &why, &r->arena, err);
		mem_free(place);
		at += len + 1;
	}
	return rc;
}

int replay_open(struct replay *r, const char *path, const struct kafka_source *job,
		struct error *err)
{
	struct buf text = {0};
	XXH128_canonical_t digest;

	*r = (struct replay){0};
	r->file.path = arena_strdup(&r->arena, path);
	int rc = io_read_file(path, &text, err);
	if (rc == RC_OK)
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
