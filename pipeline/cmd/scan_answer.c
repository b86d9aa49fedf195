/* scan_answer.c - the answer of published loads to `saltmill get` and `scan` */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "cmd_scan.h"
#include "mem.h"
#include "published.h"
#include "where.h"

#define PRINT_BYTES (64u << 10)

/* All that a question needs of its job. */
struct scan_desk {
	const struct scan_arguments *args;
	struct job job;
	const struct job_table *table;
	struct key_table keys;
	struct field_forms forms;
	struct stored stored;
	struct published loads;
	struct query q;
	struct query_column *columns; /* that were named */
	size_t ncolumns;
	struct buf names; /* their qualifiers */
	struct question question;
	struct where *where;
	struct arena arena;
};

/* "f:q,f2": qualifiers as \xHH text. */
static int name_columns(struct scan_desk *d, const char *list, struct error *err)
{
	const struct published *p = &d->loads;
	d->columns = mem_calloc(strlen(list) + 1, sizeof *d->columns);
	buf_reserve(&d->names, strlen(list) + 1); /* it may not move */
	for (const char *at = list, *end; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, ',');
		const char *colon = memchr(at, ':', (size_t)(end - at));
		struct bytes family = bytes_of(at, (size_t)((colon ? colon : end) - at));
		size_t i = 0;
		while (i < p->nfamilies && !bytes_eq(p->families[i].name, family))
			i++;
		if (i == p->nfamilies)
			return error_set(err, RC_CONFIG,
					 "--columns: the table has no family `%.*s`",
					 (int)family.len, (const char *)family.ptr);
		size_t from = d->names.len;
		if (colon)
			bytes_unescape(&d->names, bytes_of(colon + 1, (size_t)(end - colon - 1)));
		d->columns[d->ncolumns++] =
			(struct query_column){.family = i,
					      .qualifier = bytes_of(d->names.ptr + from,
								    d->names.len - from),
					      .all = !colon};
	}
	d->q.columns = d->columns;
	d->q.ncolumns = d->ncolumns;
	return RC_OK;
}

static int put_where(struct scan_desk *d, struct error *err)
{
	const struct scan_arguments *a = d->args;
	bool get = a->fields.len > 0;
	const char *text = get ? (const char *)a->fields.ptr : a->where;
	if (!text)
		return RC_OK;
	d->q.get = false;
	int rc = question_parse(&d->question, get ? "get" : "--where", text, &d->arena, err);
	if (rc == RC_OK)
		rc = where_new(&d->where, &d->stored, d->loads.families, d->loads.nfamilies,
			       &d->question, err);
	if (rc)
		return rc;
	where_put(d->where, &d->q);
	if (get && (!d->q.get || d->q.judge))
		return error_set(err, RC_CONFIG,
				 "the fields given are not one row key of table %s; expected "
				 "FIELD=VALUE for each field of the row key and no other",
				 d->table->schema.name);
	return RC_OK;
}

/* --- printing --- */

static int print_part(struct buf *text, size_t least)
{
	if (text->len < least)
		return RC_OK;
	bool fine = fwrite(text->ptr, 1, text->len, stdout) == text->len;
	text->len = 0;
	return fine ? RC_OK : RC_IO;
}

static int print_cells(struct query_scan *s, struct answer_text *a, struct buf *text,
		       struct error *err)
{
	struct cell c;
	int rc;
	while ((rc = query_next(s, &c, err)) == RC_OK) {
		if ((rc = answer_cell(a, text, &c, query_starts_row(s), err)))
			return rc;
		if (print_part(text, PRINT_BYTES))
			return error_errno(err, "cannot write the answer");
	}
	if (rc == RC_END)
		answer_end(a, text);
	return rc < 0 ? rc : RC_OK;
}

static int print_counts(struct query_scan *s, struct buf *text, struct error *err)
{
	uint64_t rows, cells;
	int rc = query_count(s, &rows, &cells, err);
	if (rc == RC_OK)
		buf_printf(text, "%llu rows, %llu cells\n", (unsigned long long)rows,
			   (unsigned long long)cells);
	return rc;
}

static int print_answer(const struct scan_desk *d, struct query_scan *s, struct error *err)
{
	const struct scan_arguments *args = d->args;
	const struct answer_decoding how = {.stored = &d->stored,
					    .families = d->loads.families,
					    .columns = d->columns,
					    .ncolumns = d->ncolumns,
					    .versions = args->q.versions > 1 || args->q.raw,
					    .raw = args->q.raw};
	struct answer_text a = {.format = args->format};
	struct buf text = {0};
	if (args->decode)
		answer_decode(&a, &how);
	int rc = args->quiet ? print_counts(s, &text, err) : print_cells(s, &a, &text, err);
	int printed = print_part(&text, 0);
	if (rc == RC_OK && (printed || fflush(stdout)))
		rc = error_errno(err, "cannot write the answer");
	buf_release(&text);
	answer_release(&a);
	return rc;
}

static int answer(struct scan_desk *d, struct error *err)
{
	struct query_scan *s = NULL;
	const struct published *p = &d->loads;
	struct buf why = {0};
	int rc = query_open(&s, p->families, p->nfamilies, p->files, p->nfiles, &d->q, err);
	if (rc == RC_OK)
		rc = print_answer(d, s, err);
	if (rc == RC_OK && d->args->explain) {
		answer_explain(&why, s, p->nfiles);
		fwrite(why.ptr, 1, why.len, stderr);
	}
	query_close(s);
	buf_release(&why);
	return rc;
}

/* --- from the job to the answer --- */

static int open_desk(struct scan_desk *d, const char *job, const char *const *dirs, size_t ndirs,
		     struct error *err)
{
	const struct scan_arguments *a = d->args;
	int rc = job_load(&d->job, job, err);
	if (rc == RC_OK)
		rc = job_find_table(&d->job, a->table, &d->table, err);
	if (rc == RC_OK)
		rc = field_forms_open(&d->forms, &d->job, err);
	if (rc)
		return rc;
	key_table_open(&d->keys, &d->job, d->table);
	stored_open(&d->stored, &d->keys, &d->forms);
	d->q = a->q;
	d->q.start = buf_bytes(&a->start);
	d->q.stop = buf_bytes(&a->stop);
	if (!a->has_now)
		d->q.now_ms = clock_wall_ms();
	rc = published_open(&d->loads, &d->table->schema, dirs, ndirs, err);
	if (rc == RC_OK && a->columns)
		rc = name_columns(d, a->columns, err);
	return rc ? rc : put_where(d, err);
}

static void close_desk(struct scan_desk *d)
{
	where_free(d->where);
	mem_free(d->columns);
	buf_release(&d->names);
	published_release(&d->loads);
	stored_release(&d->stored);
	key_table_close(&d->keys);
	field_forms_close(&d->forms);
	arena_release(&d->arena);
	job_release(&d->job);
}

int scan_answer(const struct scan_arguments *a, const char *job, const char *const *dirs,
		size_t ndirs, struct error *err)
{
	struct scan_desk d = {.args = a};
	int rc = open_desk(&d, job, dirs, ndirs, err);
	if (rc == RC_OK)
		rc = answer(&d, err);
	close_desk(&d);
	return rc;
}
