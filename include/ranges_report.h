/*
 * ranges_report.h - ranges of row keys as text, and as the commands of those who scan them
 *
 * Implemented in pipeline/show.
 */
#ifndef SALTMILL_RANGES_REPORT_H
#define SALTMILL_RANGES_REPORT_H

#include "key_ranges.h"

enum ranges_form { RANGES_TABLE, RANGES_JSON, RANGES_SHELL, RANGES_JAVA, RANGES_PYTHON };

/*
 * question: as it was asked; where the ranges are not exact each row is to be checked by it.
 * advice: NULL or a sentence.
 */
void ranges_report(struct buf *out, const struct key_ranges *r, enum ranges_form form,
		   const char *table, const char *question, const char *advice);

#endif
