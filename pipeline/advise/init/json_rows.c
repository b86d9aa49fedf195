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

/*
 * Add a column for each value of an object. The text of a list is JSON. Values whose names cannot
 * be part of a path get no column either.
 */
static void see_object(struct columns *c, const json_t *object, struct buf *path, int depth)
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
			see_object(c, v, path, depth + 1);
		else
			see_value(c, buf_bytes(path), v);
		path->len = len;
	}
}

void json_see(struct columns *c, const json_t *object)
{
	struct buf path = {0};

	see_object(c, object, &path, 0);
	c->rows++;
	buf_release(&path);
}

static json_t *parse(struct bytes line)
{
	json_error_t ignored;
	json_t *v = json_loadb((const char *)line.ptr, line.len, JSON_ALLOW_NUL, &ignored);

	if (v && !json_is_object(v)) {
		json_decref(v);
		v = NULL;
	}
	return v;
}

bool json_look(struct columns *c, const struct lines *l)
{
	bool fine = true;

	for (size_t i = 0; i < l->n && fine && !stop_flag; i++) {
		struct bytes line = line_text(l, i);

		if (line.len == 0)
			continue;
		json_t *v = parse(line);
		/* after good lines, ignore a bad line, because the load rejects it */
		fine = v || c->rows > 0;
		if (v)
			json_see(c, v);
		json_decref(v);
	}
	c->json = fine && c->rows > 0;
	return c->json;
}
