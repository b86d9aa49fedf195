/*
 * verify_report.h - what was proved of a load and what is wrong, as text
 */
#ifndef SALTMILL_VERIFY_REPORT_H
#define SALTMILL_VERIFY_REPORT_H

#include "bytes.h"
#include "verify.h"

/* A line a finding, problems alone when quiet; appended to out. */
void verify_report_text(struct buf *out, const struct verify_result *r, bool quiet);
/* The same as one JSON object; dir is the load's folder as it was named. */
void verify_report_json(struct buf *out, const struct verify_result *r, const char *dir);

#endif
