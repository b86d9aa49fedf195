/*
 * plan_report.h - a plan for people and for programs
 */
#ifndef SALTMILL_PLAN_REPORT_H
#define SALTMILL_PLAN_REPORT_H

#include "planning.h"

/* Regions with predicted sizes as bars, rivals, heavy keys, warnings; appended to out. */
void plan_report_text(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts);
/* The same as one JSON object. */
void plan_report_json(struct buf *out, const struct job *job, const struct plan *plans,
		      const struct table_sample *samples, const struct planning_counts *counts);

#endif
