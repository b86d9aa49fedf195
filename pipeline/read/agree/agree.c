/* agree.c - compare two tables that the same events feed (by_field.h) */
#include "agree.h"

static int compare(struct agree_result *out, const struct agree_options *o,
		   const struct agree_plan *p, struct error *err)
{
	const struct sorter_options so = {.budget = o->budget,
					  .temp_dir = o->temp_dir,
					  .threads = 1,
					  .secondary_bytes = row_secondary_bytes(p->rows, o->other),
					  .run_bytes = o->budget->limit / 8,
					  .large_bytes = 64 << 10};
	struct sorter *rows = sorter_new(&so);

	progress_begin(o->progress, "reading events", PROGRESS_ROWS, 0);
	int rc = agree_events(p, o, rows, out, err);
	if (rc == RC_OK)
		rc = sorter_finish(rows, err);
	progress_begin(o->progress, "comparing", PROGRESS_ROWS, 0);
	if (rc == RC_OK)
		rc = agree_compare(p, o, rows, out, err);
	sorter_free(rows);
	return rc;
}

int agree_run(struct agree_result *out, const struct agree_options *o, struct error *err)
{
	struct key_table keys;
	struct stored stored;
	struct field_forms forms;
	struct agree_plan p = {0};

	*out = (struct agree_result){0};
	int rc = field_forms_open(&forms, o->job, err);
	key_table_open(&keys, o->job, &o->job->tables[o->truth]);
	stored_open(&stored, &keys, &forms);
	if (rc == RC_OK)
		rc = agree_plan_make(&p, o, &stored, out, err);
	if (rc == RC_OK)
		rc = compare(out, o, &p, err);
	agree_plan_release(&p);
	stored_release(&stored);
	key_table_close(&keys);
	field_forms_close(&forms);
	return rc;
}
