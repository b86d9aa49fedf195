/* scan_desk.c - turns the arguments of `saltmill get` and `scan` into a query */
#include "scan_desk.h"

#include <string.h>

#include "clock.h"
#include "key.h"
#include "mem.h"

/* Reports that the job makes no cell with this column. Another program may have written one. */
static void check_column(const struct scan_desk *d, const char *name, const struct query_column *c)
{
	struct bytes family = d->loads.families[c->family].name;
	struct key_piece *pieces = mem_calloc(d->stored.max_pieces + 1, sizeof *pieces);

	if (!c->all && d->has_job && !d->args->quiet &&
	    !stored_find(&d->stored, family, c->qualifier, pieces))
		command_say(
			d->q.get ? "get" : "scan",
			"--columns: the job has no column `%.*s`, so only other writers can have "
			"written it",
			(int)strcspn(name, ","), name);
	mem_free(pieces);
}

/* Refuses a family that the table does not have. The name may be that of a column, or f.q. */
static int refuse_family(const struct published *p, struct bytes name, struct error *err)
{
	struct bytes first = p->families[0].name, column = name;
	struct buf list = {0};

	for (size_t i = 0; i < p->nfamilies; i++)
		buf_printf(&list, "%s%.*s", i ? ", " : "", (int)p->families[i].name.len,
			   (const char *)p->families[i].name.ptr);
	for (size_t i = 0; i < p->nfamilies; i++) {
		struct bytes f = p->families[i].name;

		if (name.len <= f.len || memcmp(name.ptr, f.ptr, f.len) != 0 ||
		    !strchr("./", name.ptr[f.len]))
			continue;
		first = f;
		column = bytes_of(name.ptr + f.len + 1, name.len - f.len - 1);
	}
	error_set(err, RC_CONFIG,
		  "--columns: found family `%.*s`, expected a column family of the table (%.*s); a "
		  "column is FAMILY:QUALIFIER, such as `%.*s:%.*s`",
		  (int)name.len, (const char *)name.ptr, (int)list.len, (const char *)list.ptr,
		  (int)first.len, (const char *)first.ptr, (int)column.len,
		  (const char *)column.ptr);
	buf_release(&list);
	return RC_CONFIG;
}

/* Parses "f:q,f2". Qualifiers are in \xHH form or in UTF-8. */
static int name_columns(struct scan_desk *d, const char *list, struct error *err)
{
	const struct published *p = &d->loads;

	d->columns = mem_calloc(strlen(list) + 1, sizeof *d->columns);
	buf_reserve(&d->names,
		    strlen(list) + 1); /* the buffer must not move, because columns point into it */
	for (const char *at = list, *end; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, ',');
		const char *colon = memchr(at, ':', (size_t)(end - at));
		struct bytes family = bytes_of(at, (size_t)((colon ? colon : end) - at));
		size_t i = 0;
		while (i < p->nfamilies && !bytes_eq(p->families[i].name, family))
			i++;
		if (i == p->nfamilies)
			return refuse_family(p, family, err);
		size_t from = d->names.len;
		if (colon)
			bytes_unescape_utf8(&d->names,
					    bytes_of(colon + 1, (size_t)(end - colon - 1)));
		d->columns[d->ncolumns++] =
			(struct query_column){.family = i,
					      .qualifier = bytes_of(d->names.ptr + from,
								    d->names.len - from),
					      .all = !colon};
		check_column(d, at, &d->columns[d->ncolumns - 1]);
	}
	d->q.columns = d->columns;
	d->q.ncolumns = d->ncolumns;
	return RC_OK;
}

static int put_where(struct scan_desk *d, struct error *err)
{
	const struct scan_arguments *a = d->args;

	d->q.get = false;
	int rc = question_parse(&d->question, "--where", a->where, &d->arena, err);

	if (rc == RC_OK)
		rc = where_new(&d->where, &d->stored, d->loads.families, d->loads.nfamilies,
			       &d->question, a->any_version, err);
	if (rc)
		return rc;
	where_put(d->where, &d->q);
	if (d->hbase)
		d->filter = where_filter(d->where, &d->q);
	if (where_note(d->where) && !a->quiet)
		command_say("scan", "%s", where_note(d->where));
	return RC_OK;
}

/* Builds the same row key as `key encode` for the same fields. */
static int put_row(struct scan_desk *d, struct error *err)
{
	const struct scan_arguments *a = d->args;
	struct key_values values;
	int rc = RC_OK;

	key_values_open(&values, &d->job, &d->forms);
	for (size_t i = 0; rc == RC_OK && i < a->nfields; i++)
		rc = key_values_take(&values, a->fields[i], err);
	if (rc == RC_OK)
		rc = key_values_check(&values, d->table, err);
	if (rc == RC_OK)
		rc = key_values_build(&values, &d->keys, &d->row, err);
	d->q.start = buf_bytes(&d->row);
	key_values_close(&values);
	return rc;
}

static void put_arguments(struct scan_desk *d, enum scan_part part)
{
	const struct scan_arguments *a = d->args;

	d->q = a->q;
	d->q.now_ms = a->has_now ? a->q.now_ms : clock_wall_ms();
	if (part & SCAN_ROWS) {
		d->q.start = buf_bytes(&a->start);
		d->q.stop = buf_bytes(&a->stop);
	}
	if (part == SCAN_ROWS)
		d->q = (struct query){.start = d->q.start,
				      .stop = d->q.stop,
				      .reversed = d->q.reversed,
				      .now_ms = d->q.now_ms};
	if (part == SCAN_CELLS) {
		d->q.reversed = false;
		d->q.limit = 0;
	}
}

/* Keeps only the rows that begin with --prefix. */
static int put_prefix(struct scan_desk *d, struct error *err)
{
	struct bytes prefix = buf_bytes(&d->args->prefix);
	struct query *q = &d->q;

	if (!query_prefix_stop(&d->behind, prefix))
		return error_memory(err, prefix.len, "a prefix");
	struct bytes behind = buf_bytes(&d->behind);
	if (!q->reversed && bytes_cmp(prefix, q->start) > 0)
		q->start = prefix;
	if (!q->reversed && behind.len && (!q->stop.len || bytes_cmp(behind, q->stop) < 0))
		q->stop = behind;
	if (q->reversed && behind.len && (!q->start.len || bytes_cmp(behind, q->start) <= 0)) {
		q->start = behind;
		q->start_exclusive = true;
	}
	if (q->reversed && bytes_cmp(prefix, q->stop) > 0) {
		q->stop = prefix;
		q->stop_inclusive = true;
	}
	return RC_OK;
}

/* Warns about a key such as `id=1`, whose author means a condition. */
static void check_key(const struct scan_desk *d, const char *option, struct bytes key)
{
	const uint8_t *equals = key.len ? memchr(key.ptr, '=', key.len) : NULL;
	struct error ignored;
	size_t field;

	if (equals && !d->q.get &&
	    field_find(&d->job, bytes_of(key.ptr, (size_t)(equals - key.ptr)), &field, &ignored) ==
		    RC_OK)
		command_say("scan",
			    "--%s: found `%.*s`, expected a row key; for a condition, "
			    "write `--where \"%.*s\"`",
			    option, (int)key.len, (const char *)key.ptr, (int)key.len,
			    (const char *)key.ptr);
}

static void check_keys(const struct scan_desk *d)
{
	check_key(d, "start", buf_bytes(&d->args->start));
	check_key(d, "stop", buf_bytes(&d->args->stop));
	check_key(d, "prefix", buf_bytes(&d->args->prefix));
}

/* Adds the query of the arguments. Call this function when the table is known. */
static int put_questions(struct scan_desk *d, enum scan_part part, struct error *err)
{
	const struct scan_arguments *a = d->args;
	int rc = RC_OK;

	if (a->columns && part & SCAN_CELLS)
		rc = name_columns(d, a->columns, err);
	if (rc == RC_OK && part & SCAN_ROWS && !a->quiet)
		check_keys(d);
	if (rc == RC_OK && part & SCAN_ROWS && a->prefix.len)
		rc = put_prefix(d, err);
	if (rc == RC_OK && part & SCAN_ROWS && a->where)
		rc = put_where(d, err);
	if (rc == RC_OK && part & SCAN_ROWS && a->nfields)
		rc = put_row(d, err);
	if (rc == RC_OK && part & SCAN_ROWS && a->page)
		rc = scan_page_take(d, err);
	if (rc == RC_OK && d->hbase && (d->where || d->row.len))
		rc = scan_live_check_rows(d, err);
	return rc;
}

int scan_desk_open(struct scan_desk *d, const struct scan_place *place, const char *table,
		   enum scan_part part, struct error *err)
{
	const bool offline = place->offline.uri;
	int rc = offline ? scan_offline_open(d, place, err) : RC_OK;

	d->has_job = place->job;
	if (rc == RC_OK && place->job)
		rc = job_load(&d->job, place->job, err);
	if (rc == RC_OK)
		rc = job_find_table(&d->job, table, &d->table, err);
	if (rc == RC_OK)
		rc = field_forms_open(&d->forms, &d->job, err);
	if (rc)
		return rc;
	d->hbase = place->hbase;
	key_table_open(&d->keys, &d->job, d->table);
	stored_open(&d->stored, &d->keys, &d->forms);
	put_arguments(d, part);
	rc = offline ? scan_offline_check(d, place, err)
		     : published_open(&d->loads, &d->table->schema, place->dirs, place->ndirs, err);
	if (rc == RC_OK && d->hbase)
		rc = scan_live_check(d, err);
	return rc ? rc : put_questions(d, part, err);
}

void scan_desk_close(struct scan_desk *d)
{
	where_free(d->where);
	mem_free(d->columns);
	buf_release(&d->names);
	buf_release(&d->row);
	buf_release(&d->behind);
	published_release(&d->loads);
	stored_release(&d->stored);
	key_table_close(&d->keys);
	field_forms_close(&d->forms);
	arena_release(&d->arena);
	job_release(&d->job);
}
