/*
 * ranges_report.h - ranges of row keys as text, and as the commands of those who scan them
 *
 * Implemented in pipeline/show.
 */
#ifndef SALTMILL_RANGES_REPORT_H
#define SALTMILL_RANGES_REPORT_H

#include "key_filter.h"

enum ranges_form { RANGES_TABLE, RANGES_JSON, RANGES_SHELL, RANGES_JAVA, RANGES_PYTHON };

/* What a scan of the ranges reads. */
struct ranges_cost {
	bool known;
	const char *of;		 /* "16 files", "8 regions" */
	uint64_t bytes, touched; /* of the table; of what the ranges are in, at most */
};

struct ranges_shown {
	const struct key_ranges *ranges;
	struct key_checks checks;
	struct ranges_cost cost;
	const char *table;
	const char *question; /* by which rows are to be checked where checks are not exact */
	const char *advice;   /* NULL or a sentence */
};
void ranges_report(struct buf *out, const struct ranges_shown *shown, enum ranges_form form);

/* Print a filter that key_filter built, as an expression of the HBase shell. */
void filter_shell(struct buf *out, const struct filter *f);
/* The same in Java: statements, of which the last declares `filter`. */
void filter_java(struct buf *out, const struct filter *f);

#endif
