/* findings_of.h - the functions with which the rules of this folder add findings */
#ifndef SALTMILL_LINT_FINDINGS_OF_H
#define SALTMILL_LINT_FINDINGS_OF_H

#include "lint.h"

/* Format a text. The arena of `l` owns the result. */
const char *lint_text(struct lint *l, const char *fmt, ...) ERROR_FORMAT(2, 3);
/* Append a copy of the finding. Its texts must be constant or in the arena of `l`. */
void lint_add(struct lint *l, const struct lint_finding *f);
/* Check the split points of the job against the possible beginnings of its row keys. */
void lint_job_regions(struct lint *l, const struct job *job, const struct job_table *t);

#endif
