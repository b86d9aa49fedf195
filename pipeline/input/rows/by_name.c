/*
 * by_name.c - `columns: by_name`: files whose headers have other orders, or more or fewer columns
 *
 * The columns of the source are those of the first file, then the new ones of each later file.
 * Streams open while other files are read, so they add no columns.
 */
#include <stdio.h>

#include "hash.h"
#include "worker.h"

void by_name_take(struct source *s, size_t i, const char *const *names, size_t n)
{
	struct file_columns *f = &s->by_name[i];
	struct name_index own = {0};

	for (size_t k = 0; k < n; k++)
		names_add(&own, names[k])->number = k + 1;
	for (size_t k = 0; k < n && !s->opened; k++) {
		bool known = false;

		for (size_t c = 0; c < s->ncolumns && !known; c++)
			known = strcmp(s->columns[c], names[k]) == 0;
		if (known)
			continue;
		s->columns = arena_grow(&s->arena, s->columns, s->ncolumns, sizeof *s->columns);
		s->columns[s->ncolumns++] = arena_strdup(&s->arena, names[k]);
	}
	f->n = n;
	f->nat = s->ncolumns;
	f->at = arena_alloc(&s->arena, (f->nat + 1) * sizeof *f->at);
	for (size_t c = 0; c < f->nat; c++) {
		const struct name_entry *e = names_find(&own, s->columns[c]);

		f->at[c] = e && e->number ? e->number - 1 : NOT_IN_FILE;
	}
	names_release(&own);
}

static bool has_column(const struct source *s, size_t file, const char *name)
{
	const struct file_columns *f = &s->by_name[file];

	for (size_t c = 0; c < f->nat; c++)
		if (strcmp(s->columns[c], name) == 0)
			return f->at[c] != NOT_IN_FILE;
	return false;
}

/* Return true if some file has the column. Otherwise row_plan_new reports it, with a close name. */
static bool is_column(const struct source *s, const char *name)
{
	for (size_t c = 0; c < s->ncolumns; c++)
		if (strcmp(s->columns[c], name) == 0)
			return true;
	return false;
}

int by_name_check(const struct source *s, size_t i, struct error *err)
{
	for (size_t k = 0; k < s->job->nfields && s->csv->missing != MISSING_NULL; k++) {
		const struct field *f = &s->job->fields[k];

		for (size_t c = 0; c < f->ncolumns; c++)
			if (is_column(s, f->columns[c]) && !has_column(s, i, f->columns[c]))
				return error_set(err, RC_DATA,
						 "%s: found no column `%.60s` in the header (field "
						 "`%.60s`), expected it as in other files; to load "
						 "nulls, add `missing: null`",
						 input_name(s->files[i].path), f->columns[c],
						 f->name);
	}
	return RC_OK;
}

const struct column *by_name_columns(struct source_worker *w)
{
	const struct file_columns *f = &w->source->by_name[w->file];

	for (size_t c = 0; c < w->source->ncolumns; c++) {
		bool has = c < f->nat && f->at[c] != NOT_IN_FILE;

		w->ordered[c] = has ? w->reader.columns[f->at[c]]
				    : (struct column){.ptr = w->piece.ptr, .absent = true};
	}
	return w->ordered;
}
