/*
 * bind.c - find the fields that a job uses and their columns in the source
 *
 * saltmill decodes and checks only used fields. The columns of every listed field must exist,
 * because a misspelled name is a mistake even in an unused field.
 */
#include "compiled.h"

#include <stdio.h>
#include <strings.h>

#include "hash.h"

#define NAME_MAX_COMPARED 64

struct use {
	bool used;
	bool always; /* every event uses the field, independent of conditions */
	struct demand demand;
};

/*
 * SOMETIMES means that the job uses a field only if a condition is true. A missing value is then an
 * error only if the condition is true.
 */
enum how_often { ALWAYS, SOMETIMES };

static void use_field(struct use *uses, size_t field, enum need need, enum how_often often,
		      const char *table)
{
	struct use *u = &uses[field];

	u->used = true;
	u->always |= often == ALWAYS;
	if (need > u->demand.need && often == ALWAYS)
		u->demand = (struct demand){need, table};
}

static void use_parts(struct use *uses, const struct key_part *part, size_t n, enum need need,
		      enum how_often often, const char *table)
{
	for (size_t i = 0; i < n; i++) {
		if (part[i].kind == PART_FIELD)
			use_field(uses, part[i].field, need, often, table);
		for (size_t k = 0; k < part[i].nof; k++)
			use_field(uses, part[i].of[k], need, often, table);
	}
}

static void use_condition(struct use *uses, const struct job_condition *c)
{
	for (size_t i = 0; c && i < c->question->nconditions; i++)
		use_field(uses, c->fields[i], NEED_NOTHING, SOMETIMES, NULL);
}

static void use_table(struct use *uses, const struct job_table *t)
{
	const char *name = t->schema.name;
	enum how_often often = t->when ? SOMETIMES : ALWAYS, of_put = often;

	use_parts(uses, t->rowkey, t->nrowkey, NEED_KEY, often, name);
	if (!t->timestamp_constant)
		use_field(uses, t->timestamp_field, NEED_TIMESTAMP, often, name);
	use_condition(uses, t->when);
	for (size_t i = 0; i < t->ncells; i++)
		of_put = t->cells[i].marker ? SOMETIMES : of_put; /* the marker may cover the Put */
	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_spec *c = &t->cells[i];
		enum need need = c->optional ? NEED_NOTHING : NEED_CELL;
		enum how_often so_often = c->when ? SOMETIMES : c->marker ? often : of_put;

		use_parts(uses, c->qualifier, c->nqualifier, need, so_often, name);
		if (c->kind == VALUE_FIELD)
			use_field(uses, c->field, need, so_often, name);
		if (c->ttl_unit_ms)
			use_field(uses, c->ttl_field, NEED_NOTHING, so_often, name);
		use_condition(uses, c->when);
	}
}

/* Return the Levenshtein distance of two names, without regard to letter case. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_COMPARED + 1], na = strlen(a), nb = strlen(b);

	if (na > NAME_MAX_COMPARED || nb > NAME_MAX_COMPARED)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t best = diagonal + (strncasecmp(&a[i - 1], &b[j - 1], 1) != 0);

			diagonal = row[j];
			if (best > row[j] + 1)
				best = row[j] + 1;
			row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
		}
	}
	return row[nb];
}

static const char *near_column(const char *name, const char *const *columns, size_t n)
{
	const char *found = NULL;
	size_t best = strlen(name) / 4 + 2;

	for (size_t i = 0; i < n; i++) {
		size_t d = distance(name, columns[i]);

		if (d < best) {
			best = d;
			found = columns[i];
		}
	}
	return found;
}

/*
 * The columns of the source. The indexes find the first and the second column of a name, counted
 * from 1.
 */
struct column_names {
	const char *const *name;
	size_t n;
	struct name_index first, second;
};

/* Return a delimiter that the only name of a CSV header contains. Return 0 if there is none. */
static char other_delimiter(const struct job *job, const char *name)
{
	const char *found = job->source == SOURCE_CSV ? strpbrk(name, ",;\t|") : NULL;

	return found ? *found : 0;
}

static int no_column(const struct job *job, const struct field *f, const char *name,
		     const struct column_names *c, struct error *err)
{
	const char *meant = near_column(name, c->name, c->n);
	struct buf list = {0};

	if (meant) {
		error_set(
			err, RC_CONFIG,
			"%s:%u:%u: the source has no column `%s` (field `%s`); did you mean `%s`?",
			job->path, f->pos.line, f->pos.column, name, f->name, meant);
		return RC_CONFIG;
	}
	char delimiter = c->n == 1 ? other_delimiter(job, c->name[0]) : 0;
	if (delimiter)
		return error_set(
			err, RC_CONFIG,
			"%s:%u:%u: the source has no column `%s` (field `%s`), because its "
			"header `%.100s` is one column; write `delimiter: \"%s%c\"`",
			job->path, f->pos.line, f->pos.column, name, f->name, c->name[0],
			delimiter == '\t' ? "\\" : "", delimiter == '\t' ? 't' : delimiter);
	for (size_t i = 0; i < c->n && list.len < 300; i++)
		buf_printf(&list, "%s%.60s", i ? ", " : "", c->name[i]);
	error_set(err, RC_CONFIG,
		  "%s:%u:%u: the source has no column `%s` (field `%s`), expected one of %.*s",
		  job->path, f->pos.line, f->pos.column, name, f->name, (int)list.len,
		  list.ptr ? (const char *)list.ptr : "");
	buf_release(&list);
	return RC_CONFIG;
}

static int find_column(const struct job *job, const struct field *f, const char *name,
		       const struct column_names *c, size_t *out, struct error *err)
{
	const struct name_entry *first = names_find(&c->first, name);
	const struct name_entry *second = names_find(&c->second, name);

	if (!first)
		return no_column(job, f, name, c, err);
	*out = first->number - 1;
	if (!second)
		return RC_OK;
	return error_set(
		err, RC_CONFIG,
		"%s:%u:%u: found two columns `%s` (field `%s`), number %zu and %zu, expected one",
		job->path, f->pos.line, f->pos.column, name, f->name, first->number,
		second->number);
}

static void bind_nulls(struct row_plan *p, struct binding *b, const struct job *job)
{
	const struct field *f = b->form.field;
	const char **nulls = f->nulls ? f->nulls : job->csv.nulls;

	b->nnulls = f->nulls ? f->nnulls : job->csv.nnulls;
	b->quoted_nulls = job->csv.quoted_nulls;
	b->nulls = arena_alloc(&p->arena, (b->nnulls + 1) * sizeof *b->nulls);
	for (size_t i = 0; i < b->nnulls; i++) {
		b->nulls[i] = bytes_str(nulls[i]);
		if (b->null_max < b->nulls[i].len)
			b->null_max = (uint32_t)b->nulls[i].len;
		b->null_lengths |= (uint64_t)1 << (b->nulls[i].len < 63 ? b->nulls[i].len : 63);
	}
}

static void bind_fallback(struct row_plan *p, struct binding *b)
{
	const char *fallback = b->form.field->fallback;

	if (!fallback)
		return;
	size_t len = strlen(fallback);
	uint8_t *text = arena_alloc(&p->arena, len + EVENT_ROOM_BYTES);
	memcpy(text, fallback, len);
	b->fallback = bytes_of(text, len);
}

/* Bind the texts between columns. The default is one space. */
static void bind_glue(struct row_plan *p, struct binding *b)
{
	const struct field *f = b->form.field;
	bool some = false;

	b->glue = arena_alloc(&p->arena, (b->ncolumns + 1) * sizeof *b->glue);
	for (size_t i = 0; i <= b->ncolumns; i++) {
		bool between = i > 0 && i < b->ncolumns;

		b->glue[i] = bytes_str(f->glue ? f->glue[i] : between ? " " : "");
		some = some || b->glue[i].len;
	}
	b->computed = b->ncolumns > 1 || some || f->transform;
}

/*
 * Refuse a text in `from` that is also the name of a column, because the user may have meant the
 * column.
 */
static int check_implied(const struct job *job, const struct field *f, const struct column_names *c,
			 struct error *err)
{
	for (size_t k = 0; k < f->nimplied; k++)
		if (names_find(&c->first, f->implied[k]))
			return error_set(
				err, RC_CONFIG,
				"%s:%u:%u: from of field `%s` has `%s`, which is also a column `%s` of "
				"the source; write {text: '%s'} or {column: '%s'}",
				job->path, f->pos.line, f->pos.column, f->name, f->implied[k],
				f->implied[k], f->implied[k], f->implied[k]);
	return RC_OK;
}

/* Find column `i` of the field, or its origin if the column is not in the event. */
static int bind_column(struct binding *b, size_t i, const struct job *job,
		       const struct column_names *c, struct error *err)
{
	const struct field *f = b->form.field;
	const char *name = b->names[i];
	enum origin origin = column_origin(job, name);

	if (origin == ORIGIN_PARTITION && names_find(&c->first, name))
		return error_set(err, RC_CONFIG,
				 "%s:%u:%u: found the column `%s` in the source and in "
				 "`partitions` (field `%s`), expected one of them",
				 job->path, f->pos.line, f->pos.column, name, f->name);
	if (origin == ORIGIN_COLUMN || names_find(&c->first, name))
		return find_column(job, f, name, c, &b->columns[i], err);
	b->origins[i] = origin;
	b->computed = true;
	return RC_OK;
}

static int bind_columns(struct row_plan *p, struct binding *b, const struct job *job,
			const struct column_names *columns, struct error *err)
{
	const struct field *f = b->form.field;

	const char *const *names = f->columns ? f->columns : (const char *const *)&f->name;
	b->ncolumns = f->columns && f->ncolumns ? f->ncolumns : 1;
	b->columns = arena_alloc(&p->arena, b->ncolumns * sizeof *b->columns);
	bind_glue(p, b);
	b->names = names;
	b->origins = arena_alloc(&p->arena, b->ncolumns * sizeof *b->origins);
	for (size_t i = 0; i < b->ncolumns; i++) {
		int rc = bind_column(b, i, job, columns, err);

		if (rc)
			return rc;
	}
	return check_implied(job, f, columns, err);
}

static void bind_quick(struct binding *b)
{
	const struct field *f = b->form.field;

	b->quick_scale = 1;
	b->quick_max = f->type == FIELD_U32   ? UINT32_MAX
		       : f->type == FIELD_U64 ? UINT64_MAX
					      : INT64_MAX;
	if (f->type == FIELD_U32 || f->type == FIELD_U64 || f->type == FIELD_I64)
		b->quick = QUICK_NUMBER;
	if (f->type == FIELD_TEXT)
		b->quick = QUICK_TEXT;
	if (f->type == FIELD_TIME &&
	    (f->unit == TIME_S || f->unit == TIME_MS || f->unit == TIME_OF_SOURCE)) {
		b->quick = QUICK_NUMBER;
		b->quick_scale = f->unit == TIME_S ? 1000 : 1;
		b->quick_max = TIME_LAST_MS / b->quick_scale;
	}
}

static int bind_field(struct row_plan *p, struct binding *b, const struct job *job,
		      const struct column_names *columns, struct error *err)
{
	const struct field *f = b->form.field;
	int rc = bind_columns(p, b, job, columns, err);

	if (rc)
		return rc;
	bind_nulls(p, b, job);
	bind_fallback(p, b);
	bind_quick(b);
	if (b->computed)
		b->null_max = UINT32_MAX; /* check texts of every length */
	rc = field_form_init(&b->form, &p->arena, job, f, p->c_locale, err);
	if (rc)
		error_prefix(err, "%s:%u:%u: field `%s`: ", job->path, f->pos.line, f->pos.column,
			     f->name);
	return rc;
}

/* Bind fields of one kind. Also bind unused fields, to check that their columns exist. */
static int bind_some(struct row_plan *p, const struct use *uses, bool always,
		     const struct column_names *columns, struct error *err)
{
	const struct job *job = p->job;

	for (size_t i = 0; i < job->nfields; i++) {
		struct binding *b = &p->bindings[p->nbindings];

		if ((uses[i].always || !uses[i].used) != always)
			continue;
		*b = (struct binding){.form.field = &job->fields[i], .demand = uses[i].demand};
		int rc = bind_field(p, b, job, columns, err);
		if (rc)
			return rc;
		for (size_t k = 0; k < b->ncolumns && uses[i].used; k++)
			if (b->origins[k] == ORIGIN_COLUMN && p->ncolumns < b->columns[k] + 1)
				p->ncolumns = b->columns[k] + 1;
		b->column = b->columns[0];
		p->slots[i] = p->nbindings;
		p->nbindings += uses[i].used;
	}
	return 0;
}

int fields_bind(struct row_plan *p, const struct job *job, const char *const *columns,
		size_t ncolumns, struct error *err)
{
	struct use *uses = arena_alloc(&p->arena, (job->nfields + 1) * sizeof *uses);
	struct column_names names = {.name = columns, .n = ncolumns};

	for (size_t i = 0; i < ncolumns; i++) {
		struct name_entry *e = names_add(&names.first, columns[i]);

		if (e->number)
			e = names_add(&names.second, columns[i]);
		e->number = e->number ? e->number : i + 1;
	}
	p->bindings = arena_alloc(&p->arena, (job->nfields + 1) * sizeof *p->bindings);
	p->slots = arena_alloc(&p->arena, (job->nfields + 1) * sizeof *p->slots);
	use_condition(uses, job->where);
	for (size_t i = 0; i < job->nexpects; i++)
		uses[job->expects[i].field].used = true;
	for (size_t i = 0; i < job->ntables; i++)
		use_table(uses, &job->tables[i]);
	int rc = bind_some(p, uses, true, &names, err);
	p->nalways = p->nbindings;
	if (rc == RC_OK)
		rc = bind_some(p, uses, false, &names, err);
	names_release(&names.first);
	names_release(&names.second);
	return rc;
}
