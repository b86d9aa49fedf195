/*
 * report.h - what people see of a load, as text
 */
#ifndef SALTMILL_REPORT_H
#define SALTMILL_REPORT_H

#include "load.h"
#include "units.h"

/* Rows, cells, regions with their sizes as bars, rejects by reason, times; appended to out. */
void report_text(struct buf *out, const struct load_result *r, const char *output_dir);
/* The same for programs, one JSON object. */
void report_json(struct buf *out, const struct load_result *r, const char *output_dir);

/* A line for each table of whose events too many are hidden by others. */
void report_collisions(struct buf *out, const struct load_result *r);
/* A line for each input file that has no rows. */
void report_empty(struct buf *out, const struct load_result *r);
/* A line for each way in which the columns differ from those of the load in dir: none is usual. */
void report_columns(struct buf *out, const struct manifest *before, const char *dir,
		    const struct manifest *now);
/* A line for each table whose promise is broken; false when any is. */
bool report_promises(struct buf *out, const struct load_result *r);
/* A line of warning when a family's newest cell is already older than its TTL by the clock. */
void report_ttl(struct buf *out, const struct table *t, size_t family, int64_t newest_ms);
/*
 * A line of warning when the job leaves unsaid which framing of ZSTD the table's files have: which
 * clusters can read them (hfile/README.md 9.4).
 */
void report_framing(struct buf *out, const struct table *t);
/* report_ttl for every family of a load. */
void report_hidden(struct buf *out, const struct load_result *r, const struct job *job);

/* "8,000,320"; text holds at least 28 bytes. */
char *format_count(char *text, uint64_t n);

#endif
