/* fix.c - changes of the job that fix the findings of several rules */
#include "fix.h"

#include <string.h>

#include "encoding.h"

#define SALT_BUCKETS 16
#define HASH_BYTES   8

/* --- families --- */

static bool is_twin(const struct job_table *t, const struct cell_spec *c, const bool *is_small,
		    size_t large)
{
	struct bytes none = {0}, name = c->nqualifier ? c->qualifier[0].constant : none;

	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_spec *o = &t->cells[i];

		if (o != c && (o->family == large || is_small[o->family]) &&
		    o->qualifier_constant &&
		    bytes_eq(o->nqualifier ? o->qualifier[0].constant : none, name))
			return true;
	}
	return false;
}

/* Return the qualifier, prefixed with the name of its old family. */
static const char *with_prefix(struct lint *l, const char *family, const char *qualifier)
{
	if (!qualifier)
		return fix_name(l, family);
	if (qualifier[0] == '{')
		return lint_text(l, "[{const: %s_}, %s]", family, qualifier);
	if (qualifier[0] == '[')
		return lint_text(l, "[{const: %s_}, %s", family, qualifier + 1);
	if (qualifier[0] == '\'' || qualifier[0] == '"')
		return lint_text(l, "%c%s_%s", qualifier[0], family, qualifier + 1);
	return lint_text(l, "%s_%s", family, qualifier);
}

const char *fix_join_families(struct lint *l, const struct job_table *t, const bool *is_small,
			      size_t large)
{
	struct draft families = draft_of(l, &t->written.families);
	struct draft cells = draft_of(l, &t->written.cells);
	const char *into = fix_name(l, t->schema.families[large].name);

	for (size_t i = 0; i < t->schema.nfamilies; i++) {
		size_t at = draft_find(&families, t->schema.families[i].pos);

		if (is_small[i] && at < families.n)
			families.text[at] = NULL;
	}
	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_spec *c = &t->cells[i];
		size_t at = draft_find(&cells, c->pos);

		if (!is_small[c->family] || at == cells.n)
			continue;
		const char *text = fix_set(l, cells.text[at], "family", into);
		if (!c->qualifier_constant || is_twin(t, c, is_small, large))
			text = fix_set(l, text, "qualifier",
				       with_prefix(l, t->schema.families[c->family].name,
						   fix_get(l, text, "qualifier")));
		cells.text[at] = text;
	}
	return lint_text(l, "%s\n%s", draft_text(l, &families, "families"),
			 draft_text(l, &cells, "cells"));
}

/* --- row keys --- */

const struct field *time_behind(const struct job *job, const struct field *f)
{
	if (f->type == FIELD_TIME)
		return f;
	for (size_t i = 0; i < job->nfields && f->type == FIELD_TEXT; i++) {
		const struct field *g = &job->fields[i];
		size_t same = 0;

		/*
		 * skip a field that reads another part of the same columns, because its text
		 * differs
		 */
		if (g->type != FIELD_TIME || g->ncolumns != f->ncolumns || f->transform ||
		    g->transform)
			continue;
		while (same < f->ncolumns && strcmp(f->columns[same], g->columns[same]) == 0)
			same++;
		if (same == f->ncolumns)
			return g;
	}
	return NULL;
}

static void add_name(struct buf *list, struct lint *l, const char *name)
{
	buf_printf(list, "%s%s", list->len ? ", " : "", fix_name(l, name));
}

/* Return the key's fields that are not times. Return all fields if all are times. */
static const char *entity(struct lint *l, const struct job *job, const struct job_table *t,
			  bool times)
{
	struct buf list = {0};
	bool *seen = arena_alloc(&l->arena, job->nfields * sizeof *seen);

	memset(seen, 0, job->nfields * sizeof *seen);
	for (size_t i = 0; i < t->nrowkey; i++) {
		const struct key_part *p = &t->rowkey[i];
		const size_t *of = p->kind == PART_HASH ? p->of : &p->field;
		size_t n = p->kind == PART_HASH ? p->nof : p->kind == PART_FIELD;

		for (size_t k = 0; k < n; k++) {
			if (seen[of[k]] || (!times && time_behind(job, &job->fields[of[k]])))
				continue;
			seen[of[k]] = true;
			add_name(&list, l, job->fields[of[k]].name);
		}
	}
	const char *text = list.len ? arena_strndup(&l->arena, list.ptr, list.len) : NULL;
	buf_release(&list);
	return text || times ? text : entity(l, job, t, true);
}

const char *fix_salt(struct lint *l, const struct job *job, const struct job_table *t,
		     uint32_t buckets)
{
	struct draft d = draft_of(l, &t->written.rowkey);

	if (t->rowkey[0].kind == PART_SALT && d.n)
		d.text[0] = NULL;
	d.front = lint_text(l, "{salt: %u, of: [%s]}",
			    buckets > SALT_BUCKETS ? buckets : SALT_BUCKETS,
			    entity(l, job, t, false));
	return draft_text(l, &d, "rowkey");
}

const char *fix_salt_of_all(struct lint *l, const struct job *job, const struct job_table *t)
{
	struct draft d = draft_of(l, &t->written.rowkey);

	if (d.n)
		d.text[0] =
			fix_set(l, d.text[0], "of", lint_text(l, "[%s]", entity(l, job, t, true)));
	return draft_text(l, &d, "rowkey");
}

static bool has_cell(const struct job_table *t, size_t field)
{
	for (size_t i = 0; i < t->ncells; i++)
		if (t->cells[i].kind == VALUE_FIELD && t->cells[i].field == field)
			return true;
	return false;
}

/* Return a qualifier of the first family that no cell uses. */
static const char *free_qualifier(struct lint *l, const struct job_table *t, const char *name)
{
	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_spec *c = &t->cells[i];

		if (c->family == 0 && c->nqualifier && c->qualifier_constant &&
		    bytes_eq(c->qualifier[0].constant, bytes_str(name)))
			return free_qualifier(l, t, lint_text(l, "key_%s", name));
	}
	return fix_name(l, name);
}

/* Return a short form of a key part. */
static const char *short_part(struct lint *l, const struct job *job, const struct key_part *p,
			      bool *hashed)
{
	const struct field *f = &job->fields[p->field], *time = time_behind(job, f);
	enum encode_as natural = encoding_natural(f->type);

	*hashed = false;
	if (time)
		return lint_text(l, "{field: %s, as: millis}", fix_name(l, time->name));
	if (encodings[natural].width)
		return lint_text(l, "{field: %s, as: %s}", fix_name(l, f->name),
				 encodings[natural].name);
	*hashed = true;
	return lint_text(l, "{hash: md5, of: [%s], bytes: %d}", fix_name(l, f->name), HASH_BYTES);
}

const char *fix_long_key(struct lint *l, const struct job *job, const struct job_table *t,
			 const double *bytes)
{
	struct draft key = draft_of(l, &t->written.rowkey), cells = draft_of(l, &t->written.cells);
	struct buf more = {0};

	for (size_t i = 0; i < t->nrowkey; i++) {
		const struct key_part *p = &t->rowkey[i];
		size_t at = draft_find(&key, p->pos);
		bool hashed;

		if (p->kind != PART_FIELD || encodings[p->as].width || bytes[i] <= HASH_BYTES ||
		    at == key.n)
			continue;
		key.text[at] = short_part(l, job, p, &hashed);
		if (hashed && !has_cell(t, p->field)) {
			const char *name = job->fields[p->field].name;

			buf_printf(&more, "%s{family: %s, qualifier: %s, value: %s}",
				   more.len ? ", " : "", fix_name(l, t->schema.families[0].name),
				   free_qualifier(l, t, name), fix_name(l, name));
		}
	}
	const char *text = draft_text(l, &key, "rowkey");
	if (more.len) {
		cells.back = arena_strndup(&l->arena, more.ptr, more.len);
		text = lint_text(l, "%s\n%s", text, draft_text(l, &cells, "cells"));
	}
	buf_release(&more);
	return text;
}

const char *fix_tell_apart(struct lint *l, const struct job *job, const struct job_table *t,
			   size_t field)
{
	struct draft d = draft_of(l, &t->written.rowkey);
	const struct key_part *last = &t->rowkey[t->nrowkey - 1];
	size_t at = draft_find(&d, last->pos);

	if (at < d.n && !key_part_bytes(last) && last->terminator == NO_TERMINATOR)
		d.text[at] = fix_set(l, d.text[at], "terminator", "'\\x00'");
	d.back = lint_text(l, "{field: %s}", fix_name(l, job->fields[field].name));
	return draft_text(l, &d, "rowkey");
}

bool reads_column(const struct field *f, const char *column)
{
	return f->ncolumns == 1 && strcmp(f->columns[0], column) == 0;
}

const char *fix_field(struct lint *l, const struct job *job, const struct field *f, const char *key,
		      const char *value)
{
	const char *text = "{}";

	for (size_t i = 0; i < job->written_fields.n; i++)
		if (strcmp(job->written_fields.item[i].name, f->name) == 0)
			text = job->written_fields.item[i].text;
	return lint_text(l, "fields: {%s: %s}", fix_name(l, f->name), fix_set(l, text, key, value));
}
