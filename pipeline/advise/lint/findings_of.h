/* findings_of.h - how the rules of this room add findings */
#ifndef SALTMILL_LINT_FINDINGS_OF_H
#define SALTMILL_LINT_FINDINGS_OF_H

#include "lint.h"

/* Format into the arena of l. */
const char *lint_text(struct lint *l, const char *fmt, ...) ERROR_FORMAT(2, 3);
/* Append a copy. Its texts are constant or in the arena. */
void lint_add(struct lint *l, const struct lint_finding *f);

#endif
