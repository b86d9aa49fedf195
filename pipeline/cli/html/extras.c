/* extras.c - reads phase times and findings from the JSON that commands printed (extras.h) */
#include "extras.h"

#include <string.h>

#include "io.h"

int extras_json(json_t **out, const char *path, const char *what, struct error *err)
{
	struct buf text = {0};
	json_error_t why;

	*out = NULL;
	int rc = io_read_file(path, &text, err);
	if (rc == RC_OK)
		*out = json_loadb((const char *)text.ptr, text.len, JSON_ALLOW_NUL, &why);
	if (rc == RC_OK && !*out)
		rc = error_set(err, RC_DATA, "%s:%d: found no JSON (%s), expected %s", path,
			       why.line, why.text, what);
	buf_release(&text);
	return rc;
}

static const char *text_of(json_t *object, const char *key, struct arena *a)
{
	const char *s = json_string_value(json_object_get(object, key));

	return arena_strdup(a, s ? s : "");
}

void extras_findings(struct extras *e, json_t *list, struct arena *a)
{
	size_t i;
	json_t *f;

	e->linted = true;
	e->findings = arena_alloc(a, (json_array_size(list) + 1) * sizeof *e->findings);
	json_array_foreach(list, i, f) if (json_is_string(json_object_get(f, "rule")))
		e->findings[e->nfindings++] =
		(struct page_finding){.rule = text_of(f, "rule", a),
				      .severity = text_of(f, "severity", a),
				      .table = text_of(f, "table", a),
				      .what = text_of(f, "what", a),
				      .why = text_of(f, "why", a),
				      .fix = text_of(f, "fix", a),
				      .line = json_integer_value(json_object_get(f, "line"))};
}

static uint64_t number_of(json_t *object, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(object, key));

	return v > 0 ? (uint64_t)v : 0;
}

/* Returns whether `load --json` printed this for the load of m, as far as the counts can show. */
static bool is_of_load(json_t *all, const struct manifest *m)
{
	json_t *tables = json_object_get(all, "tables");
	bool same = json_is_object(json_object_get(all, "seconds")) &&
		    json_array_size(tables) == m->ntables && number_of(all, "read") == m->read &&
		    number_of(all, "rejected") == m->rejected;

	for (size_t i = 0; same && i < m->ntables; i++) {
		json_t *t = json_array_get(tables, i);
		const char *name = json_string_value(json_object_get(t, "name"));

		same = name && strcmp(name, m->tables[i].name) == 0 &&
		       number_of(t, "cells") == m->tables[i].cells;
	}
	return same;
}

static int read_timings(struct extras *e, const char *path, const struct manifest *m,
			struct error *err)
{
	static const char *const phases[][2] = {
		{"read", "reading and sorting"},
		{"splits", "choosing splits"},
		{"write", "writing files"},
		{"publish", "publishing"},
	};
	json_t *all;

	if (!m)
		return error_set(err, RC_CONFIG, "--timings: %s only works for the page of a load",
				 path);
	int rc = extras_json(&all, path, "the output of `load --json`", err);
	if (rc == RC_OK && !is_of_load(all, m))
		rc = error_set(
			err, RC_DATA,
			"%s: found other JSON, expected the output of `load --json` of this load",
			path);
	for (size_t i = 0; rc == RC_OK && i < sizeof phases / sizeof *phases; i++) {
		json_t *s = json_object_get(json_object_get(all, "seconds"), phases[i][0]);

		e->timings[e->ntimings++] = (struct timing){phases[i][1], json_number_value(s)};
	}
	if (rc == RC_OK)
		e->spilled_bytes = number_of(all, "spilled_bytes");
	json_decref(all);
	return rc;
}

static int read_findings(struct extras *e, const char *path, struct arena *a, struct error *err)
{
	json_t *all;
	int rc = extras_json(&all, path, "the output of `lint --json`", err);
	json_t *list = json_is_array(all) ? all : json_object_get(all, "lint");

	if (rc == RC_OK && !json_is_array(list))
		rc = error_set(
			err, RC_DATA,
			"%s: found other JSON, expected the output of `lint --json` or `plan --json`",
			path);
	if (rc == RC_OK)
		extras_findings(e, list, a);
	json_decref(all);
	return rc;
}

int extras_read(struct extras *e, const struct page_files *f, const struct manifest *m,
		struct arena *a, struct error *err)
{
	int rc = RC_OK;

	*e = (struct extras){0};
	if (f->timings)
		rc = read_timings(e, f->timings, m, err);
	if (rc == RC_OK && f->lint)
		rc = read_findings(e, f->lint, a, err);
	return rc;
}
