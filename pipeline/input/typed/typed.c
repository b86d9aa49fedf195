#include "input/typed.h"

#include <string.h>

static bool names(const struct field *f, const char *column)
{
	for (size_t i = 0; i < f->ncolumns; i++)
		if (strcmp(f->columns[i], column) == 0)
			return true;
	return false;
}

/*
 * Return true if the field changes the column's text, so that a field of any type may use the
 * column.
 */
static bool is_made(const struct field *f)
{
	if (f->ncolumns != 1 || f->transform)
		return true;
	return f->glue && (*f->glue[0] || *f->glue[1]);
}

static const struct field *next_user(const struct typed_columns *c, size_t column,
				     const struct field *after)
{
	const struct field *end = c->job->fields + c->job->nfields;
	const struct field *f = after ? after + 1 : c->job->fields;

	while (f < end && !names(f, c->names[column]))
		f++;
	return f < end ? f : NULL;
}

static int no_fit(const struct typed_columns *c, const struct field *f, size_t column,
		  const char *is, const char *expected, struct error *err)
{
	return error_set(
		err, RC_CONFIG,
		"%s:%u:%u: field `%s`: found column `%s` of type %s in the schema, expected %s",
		c->job->path, f->pos.line, f->pos.column, f->name, c->names[column], is, expected);
}

static const char *expected_of(const struct field *f, enum typed_kind kind)
{
	bool time = f->type == FIELD_TIME, own = time && f->unit != TIME_OF_SOURCE;

	if (is_made(f))
		return NULL;
	if (kind == KIND_TIME && own)
		return "`type: time` without `unit` and `format`, because the schema gives them";
	if (kind == KIND_TIME && !time && f->type != FIELD_TEXT && f->type != FIELD_BYTES)
		return "`type: time`, text or bytes";
	if (kind == KIND_NUMBER && time && !own)
		return "`unit: s` (or ms, us, ns since 1970), because the schema gives none";
	if (kind == KIND_OTHER && f->type != FIELD_TEXT && f->type != FIELD_BYTES)
		return "a field of type text or bytes";
	return NULL;
}

int typed_check(const struct typed_columns *c, size_t column, enum typed_kind kind, const char *is,
		struct error *err)
{
	for (const struct field *f = next_user(c, column, NULL); f; f = next_user(c, column, f)) {
		const char *expected = expected_of(f, kind);

		if (expected)
			return no_fit(c, f, column, is, expected, err);
	}
	return RC_OK;
}

enum typed_as typed_form(const struct typed_columns *c, size_t column)
{
	enum typed_as as = TYPED_MS;

	for (const struct field *f = next_user(c, column, NULL); f; f = next_user(c, column, f)) {
		if (f->type != FIELD_TIME || is_made(f))
			return TYPED_TEXT;
		if (f->zone)
			as = TYPED_MS_OF_INSTANTS;
	}
	return as;
}

/* Add a name as a job writes it. A name with dots is not a path. */
static void list_name(struct buf *list, struct bytes name, const char *before)
{
	bool path =
		name.len && (memchr(name.ptr, '.', name.len) || memchr(name.ptr, '[', name.len));

	buf_printf(list, "%s%s%.*s%s", before, path ? "[\"" : "",
		   (int)(name.len < 60 ? name.len : 60), (const char *)name.ptr, path ? "\"]" : "");
}

int typed_missing(const struct typed_columns *c, size_t column, const struct bytes *has, size_t n,
		  struct error *err)
{
	const struct field *f = next_user(c, column, NULL);
	struct buf list = {0};

	for (size_t i = 0; i < n && list.len < 300; i++)
		list_name(&list, has[i], i ? ", " : "");
	error_set(err, RC_CONFIG,
		  "%s:%u:%u: field `%s`: found no `%s` in the schema, expected "
		  "one of: %.*s",
		  c->job->path, f ? f->pos.line : 1, f ? f->pos.column : 1, f ? f->name : "",
		  c->names[column], (int)list.len, list.ptr ? (const char *)list.ptr : "");
	buf_release(&list);
	return RC_CONFIG;
}
