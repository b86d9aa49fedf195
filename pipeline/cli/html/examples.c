/* examples.c - reads a few rejected events for each reason (examples.h) */
#include "examples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define ENOUGH_LINES 1000000 /* a reason that first occurs later has no example */

/* Returns the place of an event, for example "in.csv:52 (byte 877)" or "clicks [0] @12". */
static const char *place_of(json_t *line, struct arena *a)
{
	const char *file = NULL, *topic = NULL;
	json_int_t number = 0, event = 0, offset = 0, partition = 0;

	json_unpack(line, "{s?s, s?s, s?I, s?I, s?I, s?I}", "file", &file, "topic", &topic, "line",
		    &number, "event", &event, "offset", &offset, "partition", &partition);
	if (topic)
		return arena_format(a, "%s [%lld] @%lld", topic, (long long)partition,
				    (long long)offset);
	return arena_format(a, "%s:%lld (byte %lld)", file ? file : "",
			    (long long)(event ? event : number), (long long)offset);
}

static const char *text_of(json_t *line, const char *name, struct arena *a)
{
	const char *text = json_string_value(json_object_get(line, name));

	return arena_strdup(a, text ? text : "");
}

static struct bytes raw_of(json_t *line, struct arena *a)
{
	json_t *raw = json_object_get(line, "raw");
	size_t len = json_string_length(raw);
	uint8_t *copy = arena_alloc(a, len + 1);

	memcpy(copy, len ? json_string_value(raw) : "", len);
	return bytes_of(copy, len);
}

struct wanted {
	const struct manifest *m;
	unsigned *seen; /* by reason */
	size_t missing;
};

static bool wants(struct wanted *w, const char *reason)
{
	for (size_t i = 0; reason && i < w->m->nreasons; i++)
		if (strcmp(w->m->reasons[i].reason, reason) == 0) {
			bool more = w->seen[i] < EXAMPLES_A_REASON;
			uint64_t count = w->m->reasons[i].count;
			bool all = w->seen[i] + 1u ==
				   (count < EXAMPLES_A_REASON ? count : EXAMPLES_A_REASON);

			w->seen[i] += more;
			w->missing -= more && all;
			return more;
		}
	return false;
}

static int take_line(struct examples *e, struct wanted *w, const char *text, size_t len,
		     const char *path, struct arena *a, struct error *err)
{
	json_t *line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);

	if (!json_is_object(line)) {
		json_decref(line);
		return error_set(
			err, RC_DATA,
			"%s: found a line that is not a JSON object, expected one JSON object per line",
			path);
	}
	const char *reason = json_string_value(json_object_get(line, "reason"));
	if (wants(w, reason))
		e->item[e->n++] = (struct example){.reason = arena_strdup(a, reason),
						   .place = place_of(line, a),
						   .detail = text_of(line, "detail", a),
						   .raw = raw_of(line, a)};
	json_decref(line);
	return RC_OK;
}

static int read_lines(struct examples *e, struct wanted *w, FILE *f, const char *path,
		      struct arena *a, struct error *err)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len = 0;
	int rc = RC_OK;

	for (size_t n = 0; rc == RC_OK && w->missing && n < ENOUGH_LINES; n++) {
		len = getline(&line, &cap, f);
		if (len < 0)
			break;
		rc = take_line(e, w, line, (size_t)len, path, a, err);
	}
	/* getline sets neither ferror nor feof when it runs out of memory */
	if (rc == RC_OK && (ferror(f) || (len < 0 && !feof(f))))
		rc = error_set(err, RC_IO, "%s: %s", path, strerror(errno));
	free(line);
	return rc;
}

int examples_read(struct examples *e, const char *dir, const struct manifest *m, struct arena *a,
		  struct error *err)
{
	struct wanted w = {.m = m, .missing = m->nreasons};

	*e = (struct examples){0};
	if (!m->nreasons)
		return RC_OK;
	e->item = arena_alloc(a, m->nreasons * EXAMPLES_A_REASON * sizeof *e->item);
	w.seen = arena_alloc(a, m->nreasons * sizeof *w.seen);
	memset(w.seen, 0, m->nreasons * sizeof *w.seen);
	char *path = mem_format("%s/rejects.jsonl", dir);
	FILE *f = fopen(path, "re");
	int rc = f ? read_lines(e, &w, f, path, a, err)
		   : error_set(err, RC_IO, "%s: %s", path, strerror(errno));
	if (f)
		fclose(f);
	mem_free(path);
	return rc;
}
