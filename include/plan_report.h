/*
 * plan_report.h - a plan for people and for programs
 */
#ifndef SALTMILL_PLAN_REPORT_H
#define SALTMILL_PLAN_REPORT_H

#include "lint.h"
#include "planning.h"

/* Regions with predicted sizes as bars, rivals, heavy keys, warnings, what lint found; appended to
 * out. */
void plan_report_text(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts,
		      const struct lint *lint);
/* The same as one JSON object; lint may be NULL. */
void plan_report_json(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts,
		      const struct lint *lint);

#endif
