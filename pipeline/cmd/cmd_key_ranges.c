/* cmd_key_ranges.c - `saltmill key ranges JOB --where TEXT`: the scans that answer a question */
#include <stdio.h>
#include <string.h>

#include "cmd_key.h"
#include "mem.h"
#include "ranges_report.h"

static int take_form(const struct key_desk *d, const char *name, enum ranges_form *form,
		     struct error *err)
{
	static const char *const names[] = {"table", "json", "shell", "java", "python"};
	*form = d->json ? RANGES_JSON : RANGES_TABLE;
	if (!name)
		return RC_OK;
	for (int i = 0; i < 5; i++)
		if (!strcmp(name, names[i])) {
			*form = (enum ranges_form)i;
			return RC_OK;
		}
	return error_set(err, RC_CONFIG,
			 "--format: found `%s`, expected table, json, shell, java or python", name);
}

/* Another table of the job whose key begins with what is asked; NULL: none. */
static const struct job_table *better_table(const struct key_desk *d, const struct question *q,
					    struct arena *a, size_t *n)
{
	const struct job_table *found = NULL;
	for (size_t i = 0; !found && i < d->job.ntables; i++) {
		const struct job_table *t = &d->job.tables[i];
		struct key_ranges r;
		struct key_table k;
		struct error err;
		if (t == d->table)
			continue;
		key_table_open(&k, &d->job, t);
		if (key_ranges(&r, &k, &d->forms, q, a, &err) == RC_OK && !r.whole) {
			found = t;
			*n = r.n;
		}
		key_table_close(&k);
	}
	return found;
}

static char *make_advice(const struct key_desk *d, const struct key_ranges *r,
			 const struct question *q, struct arena *a)
{
	size_t n;
	const struct job_table *other = r->whole ? better_table(d, q, a, &n) : NULL;
	if (other)
		return mem_format("table %s answers it by %zu range%s of its keys: --table %s",
				  other->schema.name, n, n == 1 ? "" : "s", other->schema.name);
	if (r->lost)
		return mem_format("the row key holds `%s` in a form whose order is not that of its "
				  "values (reversed, padded in front, or as it was spelt): single "
				  "values may be ranges, intervals are none",
				  r->lost);
	if (r->whole)
		return mem_strdup("the question leaves the key's first part open: a scan of the "
				  "whole table, or a table whose key begins with a field of the "
				  "question");
	return NULL;
}

int key_ranges_print(struct key_desk *d, const struct key_arguments *args, struct buf *out,
		     struct error *err)
{
	struct arena a = {0};
	struct key_ranges r;
	struct question q;
	enum ranges_form form;
	int rc = take_form(d, args->form, &form, err);
	if (rc == RC_OK && !args->where)
		rc = error_set(err, RC_CONFIG,
			       "expected --where with a question, such as --where "
			       "\"owner = 1 and created >= 20120901\"");
	if (rc == RC_OK)
		rc = question_parse(&q, "--where", args->where, &a, err);
	if (rc == RC_OK)
		rc = key_ranges(&r, &d->keys, &d->forms, &q, &a, err);
	if (rc == RC_OK) {
		char *advice = make_advice(d, &r, &q, &a);
		ranges_report(out, &r, form, d->table->schema.name, args->where, advice);
		mem_free(advice);
	}
	arena_release(&a);
	return rc;
}
