/* measure_job.c - runs design_run for a command */
#include "measure_job.h"

#include "cli/reports.h"
#include "mem.h"
#include "reporter.h"

/*
 * Read the constants of the model. A missing name is an error, so saltmill ignores no misspelt
 * name.
 */
static int read_constants(struct design_constants *c, const char *path, struct error *err)
{
	static const char what[] = "an object with the constants of the model";
	struct arena arena = {0};
	int rc = form_read(&design_constants_form, c, path, what, &arena, err);

	if (rc == RC_DATA)
		rc = err->code = RC_CONFIG;
	arena_release(&arena);
	return rc;
}

int run_design(struct design_result *out, const struct arguments *a, const struct job *job,
	       const struct input *input, double disk_ratio, bool only_job, struct error *err)
{
	struct design_constants constants = design_constants_usual;
	int rc = a->design.constants ? read_constants(&constants, a->design.constants, err) : RC_OK;

	if (rc)
		return rc;
	if (a->design.measured)
		constants = *a->design.measured;
	const struct design_options o = {.job = job,
					 .only_job = only_job,
					 .input = input,
					 .run = &a->run,
					 .fraction = a->sample < 1 ? a->sample : 0,
					 .asks = a->design.asks,
					 .nasks = a->design.nasks,
					 .servers = (unsigned)a->design.servers,
					 .rows = a->design.rows,
					 .writes = a->design.writes,
					 .grow_time = a->design.grow == 1,
					 .tables = a->design.tables,
					 .disk_ratio = disk_ratio,
					 .constants = &constants};
	struct progress progress = {.phase = NULL};
	struct reporter *reporter = a->run.quiet ? NULL : reporter_start(&progress);
	rc = design_run(out, &o, &progress, err);
	out->measured_on = a->design.measured ? a->hbase : NULL;
	reporter_stop(reporter);
	if (rc == RC_CONFIG && a->design.queries)
		error_prefix(err, "%s: ", a->design.queries);
	return rc;
}

int read_queries(struct queries *q, struct arguments *a, struct error *err)
{
	int rc = queries_read(q, a->design.queries, err);

	for (size_t i = 0; rc == RC_OK && i < q->n; i++) {
		a->design.asks = mem_grow(a->design.asks, a->design.nasks, sizeof *a->design.asks);
		a->design.asks[a->design.nasks++] =
			(struct design_ask){q->item[i].ask, q->item[i].rate};
	}
	/* measure as the figures of the file were measured */
	if (q->servers && !arguments_given(a, "servers"))
		a->design.servers = q->servers;
	if (q->sample > 0 && !arguments_given(a, "sample"))
		a->sample = q->sample;
	return rc;
}
