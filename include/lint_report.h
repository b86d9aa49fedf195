/*
 * lint_report.h - what lint found, as text
 */
#ifndef SALTMILL_LINT_REPORT_H
#define SALTMILL_LINT_REPORT_H

#include "lint.h"

/* Each finding with its place in the job file, why and the fix; appended to out. */
void lint_report_text(struct buf *out, const struct job *job, const struct lint *l);
/* The severe ones, a line each, as warnings. */
void lint_report_severe(struct buf *out, const struct job *job, const struct lint *l);
/* All as a JSON array of objects. */
void lint_report_json(struct buf *out, const struct lint *l);

#endif
