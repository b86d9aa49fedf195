/*
 * apply_report.h - what `saltmill apply` says at its end
 */
#ifndef SALTMILL_APPLY_REPORT_H
#define SALTMILL_APPLY_REPORT_H

#include "apply.h"

void apply_report_text(struct buf *out, const struct apply_result *r, bool dry_run);
/*
 * {"cluster": "...", "already": false, "tables": [{"name", "created", "altered", "missing",
 * "regions", "files", "bytes", "cells", "check": {"found",
 * "missing", "changed", "expired", "others"}, "differences": ["..."]}]}
 */
void apply_report_json(struct buf *out, const struct apply_result *r);

#endif
