/* json_rows.c - read files with one JSON object on each line */
#include <jansson.h>

#include "pool.h"
#include "sniff_parts.h"
#include "source.h"

#define DEPTH_MOST 8

const json_t *json_typed_value(const json_t *v)
{
	static const char *const keys[] = {"$oid",	 "$date",	  "$numberLong",
					   "$numberInt", "$numberDouble", "$numberDecimal",
					   "$uuid",	 "$symbol",	  NULL};
	const json_t *inner = NULL;

	for (size_t i = 0; json_is_object(v) && json_object_size(v) == 1 && keys[i] && !inner; i++)
		inner = json_object_get(v, keys[i]);
	return inner ? json_typed_value(inner) : v;
}

static void see_value(struct columns *c, struct bytes path, const json_t *v)
{
	struct sniffed *s = c->n < COLUMNS_MOST ? columns_add(c, path) : NULL;

	if (!s || json_is_null(v))
		return;
	if (json_is_array(v))
		json_count_items(s, v);
	s->list = s->list || json_is_array(v) || json_is_object(v);
	if (json_is_string(v)) {
		column_see(c, s, bytes_of(json_string_value(v), json_string_length(v)), true);
	} else if (json_is_boolean(v)) {
		column_see(c, s, bytes_str(json_is_true(v) ? "true" : "false"), false);
	} else {
		char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));

		if (text)
			column_see(c, s, bytes_str(text), false);
		free(text);
	}
}

/* Note the path of {}, which has no value for a column. */
static void note_empty(struct columns *c, struct buf *path)
{
	buf_put(path, 0);
	path->len--;
	if (c->empty.n < COLUMNS_MOST && !names_find(&c->empty, (const char *)path->ptr))
		names_add(&c->empty, arena_strdup(&c->arena, (const char *)path->ptr));
}

/* Return true for the list whose items are the events. */
static bool is_events(const struct columns *c, const struct buf *path, const json_t *v)
{
	const char *events = c->form.explode;

	return events && json_is_array(v) && strlen(events) == path->len + 2 &&
	       memcmp(events, path->ptr, path->len) == 0;
}

/*
 * Add a column for each value of an object. `item` is the event in the list of events. The text of a list is JSON. Values whose names cannot
 * be part of a path get no column either.
 */
static void see_object(struct columns *c, const json_t *object, struct buf *path, int depth,
		       const json_t *item)
{
	const char *name;
	json_t *v;
	size_t len = path->len;

	json_object_foreach((json_t *)(uintptr_t)object, name, v)
	{
		if (!source_path_step(path, bytes_str(name))) {
			c->unnamed++;
			continue;
		}
		if (is_events(c, path, v)) {
			buf_append_str(path, "[]");
			see_object(c, item, path, depth + 1, NULL);
			path->len = len;
			continue;
		}
		const json_t *typed = json_typed_value(v);
		if (typed != v) {
			c->form.extended = true;
			see_value(c, buf_bytes(path), typed);
			path->len = len;
			continue;
		}
		if (json_is_object(v) && !json_object_size(v))
			note_empty(c, path);
		if (json_is_object(v) && depth < DEPTH_MOST)
			see_object(c, v, path, depth + 1, item);
		else
			see_value(c, buf_bytes(path), v);
		path->len = len;
	}
}

/* Add the column of a changed row's id, which is in `after`, or in `before` of a deleted row. */
static void see_changed_id(struct columns *c, const json_t *body)
{
	const json_t *row = json_changed_row(body);
	void *first = json_object_iter((json_t *)(uintptr_t)row);
	const char *name = first ? json_object_iter_key(first) : "";
	struct buf path = {0};

	if (!name_is_id(name) || json_object_get(body, name) ||
	    !source_path_step(&path, bytes_str(name))) {
		buf_release(&path);
		return;
	}
	see_value(c, buf_bytes(&path), json_object_iter_value(first));
	struct sniffed *s = columns_add(c, buf_bytes(&path));
	for (int k = 0; k < 2 && !s->either[k]; k++) {
		path.len = 0;
		source_path_step(&path, bytes_str(k ? "before" : "after"));
		source_path_step(&path, bytes_str(name));
		s->either[k] = arena_strndup(&c->arena, path.ptr, path.len);
	}
	buf_release(&path);
}

/* Note what is beside the record in an envelope. The first record shows whether all have one. */
static const json_t *open_envelope(struct columns *c, const json_t *record)
{
	const char *name;
	json_t *v;

	if (!c->rows && json_is_envelope(record))
		c->form.unwrap = "payload";
	const json_t *body = json_body(&c->form, record);
	json_object_foreach((json_t *)(uintptr_t)record, name, v)
	{
		if (body != record && v != body)
			json_note_member(c, name);
	}
	return body;
}

/* Return the items of the list of events in the record. */
static const json_t *events_of(const struct columns *c, const json_t *body)
{
	const char *p = c->form.explode;

	while (p && *p != '[' && body) {
		struct bytes name = bytes_of(p, strcspn(p, ".["));
		char *key = mem_format("%.*s", (int)name.len, p);

		body = json_object_get(body, key);
		mem_free(key);
		p += name.len + (p[name.len] == '.');
	}
	return p ? body : NULL;
}

void json_see(struct columns *c, const json_t *object)
{
	struct buf path = {0};
	const json_t *body = open_envelope(c, object), *events = events_of(c, body);
	size_t n = json_array_size(events);

	for (size_t i = 0; i == 0 || i < n; i++) {
		see_object(c, body, &path, 0, json_array_get(events, i));
		see_changed_id(c, body);
		c->rows++;
	}
	buf_release(&path);
}

/* Return true if a column is below this path. */
static bool has_path(const struct columns *c, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < c->n; i++) {
		const char *name = c->column[i].name;

		if (strncmp(name, path, len) == 0 && name[len] == '.')
			return true;
	}
	return false;
}

void json_drop_nulls(struct columns *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct sniffed *s = &c->column[i];

		c->column[i].dropped = !s->values && !s->nulls && has_path(c, s->name);
	}
	for (size_t i = 0; i < c->n; i++) {
		if (c->column[i].dropped)
			distinct_release(&c->column[i].distinct);
		else
			c->column[kept++] = c->column[i];
	}
	c->n = kept;
	names_release(&c->names);
	c->names = (struct name_index){0};
	for (size_t i = 0; i < c->n; i++)
		names_add(&c->names, c->column[i].name)->number = i + 1;
}

bool json_look(struct columns *c, const struct lines *l)
{
	bool fine = true;

	for (size_t i = 0; i < l->n && fine && !stop_flag; i++) {
		struct bytes line = line_text(l, i);

		if (line.len == 0)
			continue;
		json_t *v = json_record_find(&c->form, line);
		if (v && !json_is_object(v)) {
			json_decref(v);
			v = NULL;
		}
		/* after good lines, ignore a bad line, because the load rejects it */
		fine = v || c->rows > 0;
		if (v)
			json_see(c, v);
		json_decref(v);
	}
	c->json = fine && c->rows > 0;
	return c->json;
}
