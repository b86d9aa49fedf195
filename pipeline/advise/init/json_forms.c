/*
 * json_forms.c - find how a file stores its JSON records: lines, documents, a list or a bulk request
 *
 * The reader of a load finds the records. So a load can read every form that this file finds.
 */
#include <ctype.h>
#include <jansson.h>

#include "sniff_parts.h"
#include "source.h"

#define LIST_DEPTH   3	  /* most members on the path to the list of records */
#define NAMES_LEAST  3	  /* least members of an object whose members are the records */
#define COMMON_SHARE 0.34 /* least share of the names of all records that a record has */

/* --- records --- */

struct records {
	struct columns *c;
	uint64_t bytes;
	bool whole, other; /* `other`: the first record is not an object */
	bool exported;	   /* a record is a table in an export of phpMyAdmin */
	json_t *first;	   /* the first document, until there is a second one */
};

static bool is_exported_table(const json_t *v)
{
	const char *type = json_string_value(json_object_get(v, "type"));

	return type && strcmp(type, "table") == 0 && json_is_array(json_object_get(v, "data")) &&
	       json_object_get(v, "name") && json_object_get(v, "database");
}

static int take_record(void *ctx, const struct event *event, struct reject *why)
{
	struct records *r = ctx;

	(void)why;
	if (r->bytes + event->raw.len > SNIFF_BYTES) {
		r->whole = false;
		return RC_END;
	}
	r->bytes += event->raw.len;
	json_t *v = json_record(&r->c->form, event->raw);
	if (json_is_object(v)) {
		json_see(r->c, v);
		r->exported = r->exported || is_exported_table(v);
	} else if (!r->c->rows) {
		r->other = true;
		json_decref(v);
		return RC_END;
	}
	json_decref(r->first);
	r->first = r->c->rows == 1 ? v : NULL;
	if (!r->first)
		json_decref(v);
	return RC_OK;
}

/* A record that is not JSON. If it is the first one, the file is no JSON. */
static int take_reject(void *ctx, const struct rejected *rejected, struct error *err)
{
	struct records *r = ctx;

	(void)rejected;
	(void)err;
	r->other = r->other || !r->c->rows;
	return r->c->rows ? RC_OK : RC_END;
}

/* Read all records of the file in the form of `r->c`. */
static int read_records(struct records *r, const char *file, const char *encoding,
			struct error *err)
{
	const char *columns[] = {"any"};
	struct field field = {.name = "any", .columns = columns, .ncolumns = 1};
	struct job job = {.path = "init", .source = SOURCE_JSON, .fields = &field, .nfields = 1};

	job.kafka.format = KAFKA_JSON;
	job.csv = (struct csv_source){.delimiter = ',',
				      .quote = '"',
				      .encoding = encoding,
				      .json = r->c->form,
				      .max_row_bytes = SNIFF_BYTES};
	job.csv.json.explode = job.csv.json.unwrap = NULL; /* json_see reads the whole record */
	const struct input input = {.files = &file, .nfiles = 1};
	const struct source_options options = {.job = &job, .input = &input};
	const struct source_sink sink = {.ctx = r, .event = take_record, .reject = take_reject};
	columns_restart(r->c);
	r->whole = true;
	return source_read_once(&options, &sink, err);
}

/* --- one document --- */

static int refuse(const char *name, const char *found, const char *program, struct error *err)
{
	return error_set(err, RC_DATA,
			 "%s: found %s, expected records that are objects; convert the file: "
			 "jq -c '%s' %s > lines.jsonl",
			 name, found, program, name);
}

static bool is_list_of_objects(const json_t *v)
{
	return json_is_array(v) && json_array_size(v) > 0 && json_is_object(json_array_get(v, 0));
}

/*
 * Return true if the members are records, as in {"a1": {...}, "a2": {...}}: all are objects with
 * mostly the same names.
 */
static bool has_records(const json_t *object)
{
	struct name_index names = {0};
	size_t n = json_object_size(object), all = 0;
	const char *name, *inner;
	json_t *v, *ignored;
	bool objects = n >= NAMES_LEAST;

	json_object_foreach((json_t *)(uintptr_t)object, name, v)
	{
		objects = objects && json_object_size(v) > 0;
		all += json_object_size(v);
		if (objects)
			json_object_foreach(v, inner, ignored) names_add(&names, inner);
	}
	bool alike = objects && (double)all >= COMMON_SHARE * (double)n * (double)names.n;
	names_release(&names);
	return alike;
}

struct lists {
	struct buf path, best; /* the path of the longest list, or object, of objects */
	size_t most, lists;    /* items of the longest list, and lists with several items */
};

static void find_lists(struct lists *f, const json_t *object, int depth)
{
	const char *name;
	json_t *v;
	size_t len = f->path.len;

	json_object_foreach((json_t *)(uintptr_t)object, name, v)
	{
		if (!*name || strpbrk(name, ".[]"))
			continue;
		buf_printf(&f->path, "%s%s", len ? "." : "", name);
		bool records = has_records(v);
		if (json_is_object(v) && !records && depth < LIST_DEPTH)
			find_lists(f, v, depth + 1);
		if (records || is_list_of_objects(v)) {
			size_t n = records ? json_object_size(v) : json_array_size(v);

			f->lists += n > 1;
			if (n > f->most) {
				f->most = n;
				f->best.len = 0;
				buf_append(&f->best, f->path.ptr, f->path.len);
				buf_append(&f->best, records ? "{}" : "[]", 3);
			}
		}
		f->path.len = len;
	}
}

/* Return true if all members are objects, as in {"a1": {...}, "a2": {...}}. */
static bool is_object_of_objects(const json_t *object)
{
	const char *name;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)object, name, v)
	{
		if (!json_is_object(v))
			return false;
	}
	return json_object_size(object) > 2;
}

static bool has_list_of_lists(const json_t *object)
{
	const char *name;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)object, name, v)
	{
		if (json_is_array(v) && json_array_size(v) > 1 &&
		    json_is_array(json_array_get(v, 0)))
			return true;
	}
	return false;
}

/* Note the members beside the list, which the job does not load. */
static void note_members(struct columns *c, const json_t *document)
{
	const char *name;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)document, name, v)
	{
		size_t len = strlen(name);

		if (strncmp(c->form.records, name, len) != 0 ||
		    !strchr("[{.", c->form.records[len]))
			json_note_member(c, name);
	}
}

/* Find the list of records in the only document of the file. */
static int find_list(struct records *r, const char *file, const char *name, const char *encoding,
		     struct error *err)
{
	struct columns *c = r->c;
	struct lists f = {0};
	int rc = RC_OK;

	bool records = has_records(r->first);
	if (records)
		buf_append(&f.best, "{}", 3);
	else
		find_lists(&f, r->first, 1);
	f.most += records;
	if (f.lists > 1)
		rc = error_set(
			err, RC_DATA,
			"%s: found a document with %zu lists of records, expected one; write a "
			"job for each list, such as `json: {records: \"%s\"}`",
			name, f.lists, (const char *)f.best.ptr);
	else if (!f.most && is_object_of_objects(r->first))
		rc = refuse(name, "an object whose members are the records",
			    "to_entries[] | {key} + .value", err);
	else if (!f.most && has_list_of_lists(r->first))
		rc = refuse(name, "records that are lists without names",
			    ".data[] | {a: .[0], b: .[1]}", err);
	else if (f.most) {
		bool members = f.best.ptr[f.best.len - 2] == '}';

		c->form.layout = members ? JSON_MEMBERS : JSON_DOCUMENTS;
		c->form.records = arena_strdup(&c->arena, (const char *)f.best.ptr);
		if (!records)
			note_members(c, r->first);
		rc = read_records(r, file, encoding, err);
	}
	buf_release(&f.path);
	buf_release(&f.best);
	return rc;
}

/* --- the file --- */

/* Return true if the text begins as a JSON object or a list of objects. */
static bool begins_as_json(const struct lines *l)
{
	uint8_t first[2] = {0, 0};
	size_t n = 0;

	for (size_t i = 0; i < l->text.len && n < 2; i++)
		if (!isspace(l->text.ptr[i]) && l->text.ptr[i] != 0x1e)
			first[n++] = l->text.ptr[i];
	return (first[0] == '{' && (first[1] == '"' || first[1] == '}')) ||
	       (first[0] == '[' && (first[1] == '{' || first[1] == ']'));
}

/* Return true if the first lines are JSON lists, which CSV would cut into wrong values. */
static bool has_lists_in_lines(const struct lines *l)
{
	size_t lists = 0;

	for (size_t i = 0; i < l->n && lists < 2; i++) {
		if (!l->line[i].len)
			continue;
		json_t *v = json_parse(line_text(l, i));
		bool is = json_is_array(v);

		json_decref(v);
		if (!is)
			return false;
		lists++;
	}
	return lists > 1;
}

/* Return true if the first line is {"index": {"_index": ...}}. */
static bool is_bulk(const struct lines *l)
{
	static const char *const actions[] = {"index", "create", "update", "delete", NULL};
	size_t i = 0;
	bool is = false;

	while (i < l->n && !l->line[i].len)
		i++;
	json_t *v = i < l->n ? json_parse(line_text(l, i)) : NULL;
	for (size_t k = 0; actions[k] && json_object_size(v) == 1; k++) {
		json_t *meta = json_object_get(v, actions[k]);

		is = is || json_object_get(meta, "_index") || json_object_get(meta, "_id");
	}
	json_decref(v);
	return is;
}

/* Read the file in the form of `c`. If it has one document, find its list. */
static int try_form(struct columns *c, struct lines *l, const char *file, const char *name,
		    struct error *err)
{
	struct records r = {.c = c};
	int rc = read_records(&r, file, l->encoding, err);

	if (rc == RC_OK && r.first && !r.other && c->form.layout == JSON_DOCUMENTS)
		rc = find_list(&r, file, name, l->encoding, err);
	if (rc == RC_OK && r.exported)
		rc = refuse(name, "an export of phpMyAdmin",
			    ".[] | select(.type == \"table\") | .data[]", err);
	json_decref(r.first);
	c->json = c->rows > 0 && !r.other;
	l->whole = r.whole;
	/* text that only begins as JSON is no JSON */
	return c->json || (rc && (c->form.records || r.exported)) ? rc : RC_OK;
}

static int find(struct columns *c, struct lines *l, const char *file, const char *name,
		struct error *err)
{
	bool bulk = is_bulk(l), lines = l->n && json_look(c, l), whole = l->whole;

	if (lines && !bulk && c->rows > 1)
		return RC_OK;
	c->json = false;
	if (l->n && !begins_as_json(l))
		return has_lists_in_lines(l) ? refuse(name, "lists without names in the lines",
						      "{a: .[0], b: .[1]}", err)
					     : RC_OK;
	if (strcmp(file, "-") == 0) {
		c->json = lines;
		return bulk || !lines
			       ? error_set(
					 err, RC_DATA,
					 "standard input: found JSON that is not one object on each "
					 "line, expected a file; save the stream and run init again")
			       : RC_OK;
	}
	c->form.layout = bulk ? JSON_BULK : JSON_DOCUMENTS;
	int rc = try_form(c, l, file, name, err);
	if (rc == RC_OK && lines && !bulk && !c->form.records)
		c->form.layout = JSON_LINES;
	if (rc == RC_OK && !c->json) {
		columns_restart(c);
		c->form = (struct json_form){0};
		l->whole = whole;
	}
	return rc;
}

int json_find(struct columns *c, struct lines *l, const char *file, const char *name,
	      struct error *err)
{
	struct records r = {.c = c};
	int rc = find(c, l, file, name, err);

	if (rc || !c->json)
		return rc;
	if (json_events_find(c) && c->form.layout == JSON_LINES) {
		columns_restart(c);
		json_look(c, l);
	} else if (c->form.explode) {
		rc = read_records(&r, file, l->encoding, err);
		json_decref(r.first);
	}
	json_drop_nulls(c);
	return rc;
}
