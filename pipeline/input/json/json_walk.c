/*
 * json_walk.c - find the ends of values by their brackets and strings
 *
 * The walk only matches brackets, so a record that is not JSON costs only this record if its
 * brackets match. If they do not match, the documents end too early or too late, which is a fault
 * of the stream, so no event disappears without an error.
 */
#include "input/json_walk.h"

static bool is_space(uint8_t c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static const uint8_t *skip_space(const uint8_t *p, const uint8_t *end)
{
	while (p < end && is_space(*p))
		p++;
	return p;
}

/* Return the end of the string at `p`, or NULL if the text ends before it. */
static const uint8_t *string_end(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *quote = NULL;

	for (p++; p < end; p++) {
		if (!quote || quote < p) /* many escapes may come before one quote */
			quote = memchr(p, '"', (size_t)(end - p));
		if (!quote)
			return NULL;
		const uint8_t *slash = memchr(p, '\\', (size_t)(quote - p));
		if (!slash)
			return quote + 1;
		p = slash + 1;
	}
	return NULL;
}

/* Return the end of the object or list at `p`, or NULL if the text ends before it. */
static const uint8_t *bracket_end(const uint8_t *p, const uint8_t *end)
{
	size_t depth = 0;

	while (p < end) {
		uint8_t c = *p;

		if (c == '"') {
			p = string_end(p, end);
			if (!p)
				return NULL;
			continue;
		}
		p++;
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return p;
	}
	return NULL;
}

/* Return the end of the value at `p`, or NULL if the text ends before it. */
static const uint8_t *value_end(const uint8_t *p, const uint8_t *end, bool final)
{
	if (p == end)
		return NULL;
	if (*p == '{' || *p == '[')
		return bracket_end(p, end);
	if (*p == '"')
		return string_end(p, end);
	const uint8_t *start = p;
	while (p < end && !is_space(*p) && !strchr(",:{}[]\"", *p))
		p++;
	if (p == start) /* a lone bracket or comma, which the caller rejects */
		return p + 1;
	return p == end && !final ? NULL : p;
}

/* --- paths --- */

static int bad_path(const char *path, struct error *err)
{
	return error_set(
		err, RC_CONFIG,
		"records: found `%.80s`, expected the path of a list, such as Records[] or "
		"hits.hits[], or of an object whose members are the records, such as data{}",
		path);
}

int json_walk_open(struct json_walk *w, const struct json_form *form, struct error *err)
{
	const char *p = form->records, *last = form->layout == JSON_MEMBERS ? "{}" : "[]";

	*w = (struct json_walk){.layout = form->layout};
	if (!p)
		return RC_OK;
	w->listed = true;
	w->step = arena_alloc(&w->arena, (strlen(p) + 1) * sizeof *w->step);
	while (strcmp(p, last) != 0) {
		size_t len = strcspn(p, ".[]");

		if (form->layout == JSON_MEMBERS && p[len] != '.' && len > 2)
			len -= 2;
		if (!len || (p[len] != '.' && strcmp(p + len, last) != 0)) {
			json_walk_close(w);
			return bad_path(form->records, err);
		}
		w->step[w->nsteps++] = bytes_of(arena_strndup(&w->arena, p, len), len);
		p += len + (p[len] == '.');
	}
	return RC_OK;
}

void json_walk_close(struct json_walk *w)
{
	arena_release(&w->arena);
	*w = (struct json_walk){0};
}

/* --- documents --- */

/* The text of one call. `done` is the end of the last whole step. */
struct walk_text {
	const uint8_t *start, *p, *end, *done;
	const uint8_t *records; /* the first record; NULL if there is none yet */
	bool final;
	const char *expected;
};

enum walk_step { STEP_DONE, STEP_MORE, STEP_STOP };

static enum walk_step bad(struct walk_text *t, const char *expected)
{
	t->expected = expected;
	return STEP_STOP;
}

/* Read the comma before the next item or member. */
static enum walk_step take_comma(struct json_walk *w, struct walk_text *t, const char *expected)
{
	if (w->first)
		return STEP_DONE;
	if (*t->p != ',')
		return bad(t, expected);
	t->p = skip_space(t->p + 1, t->end);
	return t->p == t->end ? STEP_MORE : STEP_DONE;
}

/* Return the end of the member at `p`, or NULL if the text ends before it. */
static const uint8_t *member_end(const uint8_t *p, const uint8_t *end, bool final)
{
	p = p < end && *p == '"' ? string_end(p, end) : NULL;
	p = p ? skip_space(p, end) : NULL;
	if (!p || p == end)
		return NULL;
	return *p == ':' ? value_end(skip_space(p + 1, end), end, final) : p + 1;
}

static enum walk_step take_record(struct json_walk *w, struct walk_text *t)
{
	const uint8_t *end = w->layout == JSON_MEMBERS ? member_end(t->p, t->end, t->final)
						       : value_end(t->p, t->end, t->final);

	if (!end)
		return STEP_MORE;
	if (!t->records)
		t->records = t->p;
	t->p = end;
	return STEP_DONE;
}

static enum walk_step walk_list(struct json_walk *w, struct walk_text *t)
{
	bool members = w->layout == JSON_MEMBERS;

	if (*t->p == (members ? '}' : ']')) {
		if (t->records)
			return STEP_STOP;
		t->p++;
		w->in_list = w->first = false;
		return STEP_DONE;
	}
	enum walk_step step = take_comma(w, t,
					 members ? "a comma or } after a member"
						 : "a comma or ] after an item of the list");
	if (step != STEP_DONE)
		return step;
	if (members && *t->p != '"')
		return bad(t, "a key in double quotes");
	if (strchr("]},:", *t->p))
		return bad(t, "an item of the list");
	step = take_record(w, t);
	if (step == STEP_DONE)
		w->first = false;
	return step;
}

/* Enter the value of a member on the path. */
static enum walk_step enter_member(struct json_walk *w, struct walk_text *t)
{
	bool list = w->level == w->nsteps, members = w->layout == JSON_MEMBERS;

	if (*t->p != (list && !members ? '[' : '{'))
		return bad(t, list && !members ? "a list at the path of `records`"
					       : "an object on the path of `records`");
	t->p++;
	w->first = true;
	w->in_list = list;
	w->found = w->found || list;
	w->level += !list;
	return STEP_DONE;
}

static enum walk_step take_member(struct json_walk *w, struct walk_text *t)
{
	if (*t->p != '"')
		return bad(t, "a key in double quotes");
	const uint8_t *key = t->p + 1, *end = string_end(t->p, t->end);
	if (!end)
		return STEP_MORE;
	struct bytes name = bytes_of(key, (size_t)(end - key) - 1);
	t->p = skip_space(end, t->end);
	if (t->p == t->end)
		return STEP_MORE;
	if (*t->p != ':')
		return bad(t, "a colon after the key");
	t->p = skip_space(t->p + 1, t->end);
	if (t->p == t->end)
		return STEP_MORE;
	if (bytes_eq(name, w->step[w->level - 1]) && !w->found)
		return enter_member(w, t);
	end = value_end(t->p, t->end, t->final);
	if (!end)
		return STEP_MORE;
	t->p = end;
	w->first = false;
	return STEP_DONE;
}

static enum walk_step walk_object(struct json_walk *w, struct walk_text *t)
{
	if (*t->p == '}') {
		if (w->level == 1 && !w->found)
			return bad(t, "the list of `records` in each document");
		t->p++;
		w->level--;
		w->first = false;
		return STEP_DONE;
	}
	enum walk_step step = take_comma(w, t, "a comma or } after a member");
	return step == STEP_DONE ? take_member(w, t) : step;
}

/* Begin a document. Without a path, a list has the records, and any other value is a record. */
static enum walk_step walk_outside(struct json_walk *w, struct walk_text *t)
{
	bool members = w->layout == JSON_MEMBERS;

	w->found = false;
	if ((w->nsteps || members) && *t->p != '{')
		return bad(t, "a document that is an object");
	if (w->listed && !w->nsteps && !members && *t->p != '[')
		return bad(t, "a document that is a list");
	if (*t->p == ',')
		return bad(t, "a document; no comma is between documents");
	if (w->nsteps || members || *t->p == '[') {
		if (t->records)
			return STEP_STOP;
		t->p++;
		w->first = true;
		w->level = w->nsteps ? 1 : 0;
		w->in_list = !w->nsteps;
		return STEP_DONE;
	}
	return take_record(w, t);
}

static enum walk_step walk_step(struct json_walk *w, struct walk_text *t)
{
	t->p = skip_space(t->p, t->end);
	/* RFC 7464: a record separator is before each document */
	while (!w->in_list && !w->level && t->p < t->end && *t->p == 0x1e)
		t->p = skip_space(t->p + 1, t->end);
	if (t->p == t->end)
		return STEP_MORE;
	if (w->in_list)
		return walk_list(w, t);
	if (w->level) {
		if (t->records)
			return STEP_STOP;
		return walk_object(w, t);
	}
	return walk_outside(w, t);
}

static void walk_documents(struct json_walk *w, struct walk_text *t)
{
	enum walk_step step;

	while ((step = walk_step(w, t)) == STEP_DONE)
		t->done = t->p;
	bool inside = w->in_list || w->level || t->p < t->end;
	if (step == STEP_MORE && t->final && !t->records && inside)
		t->expected = "the end of the document";
	if (step == STEP_MORE && t->final && !inside)
		t->done = t->end;
}

/* --- bulk requests --- */

static const char *const actions[] = {"index", "create", "update", "delete", NULL};

/* Return the text after {"NAME": or NULL, and set `*action`. */
static const uint8_t *action_of(const uint8_t *p, const uint8_t *end, struct bytes *action)
{
	p = skip_space(p, end);
	if (p == end || *p != '{')
		return NULL;
	p = skip_space(p + 1, end);
	const uint8_t *close = p < end && *p == '"' ? string_end(p, end) : NULL;
	if (!close)
		return NULL;
	*action = bytes_of(p + 1, (size_t)(close - p) - 2);
	p = skip_space(close, end);
	if (p == end || *p != ':')
		return NULL;
	for (size_t i = 0; actions[i]; i++)
		if (bytes_eq(*action, bytes_str(actions[i])))
			return p + 1;
	return NULL;
}

static const uint8_t *line_end(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *q = memchr(p, '\n', (size_t)(end - p));

	return q ? q : end;
}

/* Return the end of the record at `p`, before its line end, or NULL if the text ends before it. */
static const uint8_t *pair_end(const uint8_t *p, const uint8_t *end, bool final)
{
	struct bytes action;
	const uint8_t *first = line_end(p, end);

	if (first == end && !final)
		return NULL;
	if (!action_of(p, first, &action) || bytes_eq(action, bytes_str("delete")) || first == end)
		return first;
	const uint8_t *second = line_end(first + 1, end);
	return second == end && !final ? NULL : second;
}

static void walk_bulk(struct walk_text *t)
{
	for (;;) {
		t->p = skip_space(t->p, t->end);
		if (t->p == t->end && t->final)
			t->done = t->end;
		const uint8_t *end = t->p < t->end ? pair_end(t->p, t->end, t->final) : NULL;
		if (!end)
			return;
		if (!t->records)
			t->records = t->p;
		t->p = t->done = end;
	}
}

bool json_bulk_split(struct bytes record, struct bytes *action, struct bytes *meta,
		     struct bytes *document)
{
	const uint8_t *p = record.ptr, *end = p + record.len, *first = line_end(p, end);
	const uint8_t *at = action_of(p, first, action);

	if (!at)
		return false;
	at = skip_space(at, first);
	const uint8_t *close = at < first && *at == '{' ? bracket_end(at, first) : NULL;
	if (!close)
		return false;
	*meta = bytes_of(at, (size_t)(close - at));
	at = skip_space(close, first);
	if (at == first || *at != '}' || skip_space(at + 1, first) < first)
		return false;
	*document = bytes_of(NULL, 0);
	if (bytes_eq(*action, bytes_str("delete")))
		return first == end;
	if (first == end)
		return false;
	*document = bytes_of(first + 1, (size_t)(end - first) - 1);
	return true;
}

/* --- all layouts --- */

bool json_member_split(struct bytes record, struct bytes *name, struct bytes *value)
{
	const uint8_t *p = record.ptr, *end = p + record.len;
	const uint8_t *close = p < end && *p == '"' ? string_end(p, end) : NULL;
	const uint8_t *at = close ? skip_space(close, end) : NULL;

	if (!at || at == end || *at != ':')
		return false;
	at = skip_space(at + 1, end);
	*name = bytes_of(p, (size_t)(close - p));
	*value = bytes_of(at, (size_t)(end - at));
	return true;
}

void json_walk(struct json_walk *w, struct bytes text, bool final, struct json_walked *out)
{
	struct walk_text t = {.start = text.ptr,
			      .p = text.ptr,
			      .end = text.ptr + text.len,
			      .done = text.ptr,
			      .final = final};

	if (w->layout == JSON_BULK)
		walk_bulk(&t);
	else
		walk_documents(w, &t);
	const uint8_t *records = t.records ? t.records : t.done;
	*out = (struct json_walked){.skipped = (size_t)(records - t.start),
				    .len = (size_t)(t.done - records),
				    .at = (size_t)(t.p - t.start),
				    .expected = t.records ? NULL : t.expected};
}

bool json_walk_record(enum json_layout layout, struct bytes records, size_t *at,
		      struct bytes *record)
{
	const uint8_t *p = records.ptr + *at, *end = records.ptr + records.len;

	while (p < end && (is_space(*p) || (layout != JSON_BULK && (*p == ',' || *p == 0x1e))))
		p++;
	if (p == end)
		return false;
	const uint8_t *stop = layout == JSON_BULK      ? pair_end(p, end, true)
			      : layout == JSON_MEMBERS ? member_end(p, end, true)
						       : value_end(p, end, true);
	stop = stop ? stop : end;
	*record = bytes_of(p, (size_t)(stop - p));
	*at = (size_t)(stop - records.ptr);
	return true;
}
