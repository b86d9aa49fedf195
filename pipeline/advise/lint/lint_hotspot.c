/* lint_hotspot.c - the rules one-region-written and splits-do-not-last, from a replay of events */
#include "findings_of.h"
#include "fix.h"

#define ONE_REGION 0.5 /* mean share of the busiest region of a window */
#define GROWN	   1.5 /* growth of the largest region while the newest fifth arrives */

static const char *salted(struct lint *l, const struct job *job, const struct job_table *t,
			  size_t regions)
{
	return t->rowkey[0].kind == PART_SALT ? NULL : fix_salt(l, job, t, (uint32_t)regions);
}

void lint_hotspot(struct lint *l, const struct job *job, size_t table, const struct write_replay *r,
		  double grown)
{
	const struct job_table *t = &job->tables[table];

	if (r->events < LINT_ROWS_LEAST || r->regions < 2)
		return;
	if (r->region.mean > ONE_REGION)
		lint_add(l, &(struct lint_finding){
				    .rule = "one-region-written",
				    .severity = LINT_WARNING,
				    .table = t->schema.name,
				    .pos = t->rowkey[0].pos,
				    .what = lint_text(l,
						      "one region gets %.0f%% of the events of a "
						      "window of %llu events, and %.1f of %zu "
						      "regions get writes at a time",
						      100 * r->region.mean,
						      (unsigned long long)r->window, r->written,
						      r->regions),
				    .why = "one region and its server then limit live writes; a "
					   "bulk load has no such limit",
				    .fix = salted(l, job, t, r->regions),
				    .figure = r->region.mean});
	if (grown > GROWN)
		lint_add(l,
			 &(struct lint_finding){
				 .rule = "splits-do-not-last",
				 .severity = LINT_WARNING,
				 .table = t->schema.name,
				 .pos = t->rowkey[0].pos,
				 .what = lint_text(l,
						   "while the newest fifth of the events "
						   "arrives, the largest region grows to %.1f "
						   "times its share",
						   grown),
				 .why = "new rows go to few regions, so HBase must split these "
					"again and again, and the other regions stay as they are",
				 .fix = salted(l, job, t, r->regions),
				 .figure = grown});
}
