/*
 * look_report.h - the first rows of a job as text or JSON
 *
 * Implemented in pipeline/show.
 */
#ifndef SALTMILL_LOOK_REPORT_H
#define SALTMILL_LOOK_REPORT_H

#include "look.h"

/* Counts of each field, the rejects, and for some rows: source text, typed fields, key, cells. */
int look_report_text(struct buf *out, const struct job *job, const struct look *l,
		     struct error *err);
int look_report_json(struct buf *out, const struct job *job, const struct look *l,
		     struct error *err);

#endif
