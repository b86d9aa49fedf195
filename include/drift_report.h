/*
 * drift_report.h - how events fall on live regions, as text
 */
#ifndef SALTMILL_DRIFT_REPORT_H
#define SALTMILL_DRIFT_REPORT_H

#include "drift.h"

/* A script for `hbase shell -n`: the findings as comments, then the commands; appended to out. */
void drift_report_script(struct buf *out, const struct drift *d);
/* The same as one JSON object. */
void drift_report_json(struct buf *out, const struct drift *d);

#endif
