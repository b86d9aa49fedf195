/*
 * report.h - what people see of a load: progress on standard error, a summary on standard output
 */
#ifndef SALTMILL_REPORT_H
#define SALTMILL_REPORT_H

#include "load.h"
#include "units.h"

/*
 * A thread that shows progress: a line rewritten twice a second on a terminal, otherwise one
 * line a phase.  progress must outlive it.
 */
struct reporter;
struct reporter *reporter_start(struct progress *progress);
void reporter_stop(struct reporter *r);

/* Rows, cells, regions with their sizes as bars, rejects by reason, times. */
void report_summary(const struct load_result *r, const char *output_dir);
/* The same for programs, one JSON object. */
void report_json(const struct load_result *r, const char *output_dir);

/* Say which tables' promises are broken, on standard error; false when any is. */
bool report_promises(const struct load_result *r);
/* Warn on standard error when a family's newest cell is already older than its TTL by the clock. */
void report_ttl(const char *command, const struct table *t, size_t family, int64_t newest_ms);
/* The same for every family of a load. */
void report_hidden(const struct load_result *r, const struct job *job);

/* "8,000,320"; text holds at least 28 bytes. */
char *format_count(char *text, uint64_t n);

#endif
