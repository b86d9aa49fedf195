/*
 * failure_report.h - why a command failed, as one JSON object for a program
 */
#ifndef SALTMILL_FAILURE_REPORT_H
#define SALTMILL_FAILURE_REPORT_H

#include "bytes.h"
#include "error.h"

/*
 * Append {"command", "status", "kind", "error"} and a line end; with "file", "line" and "column"
 * where the sentence begins with a place in a file that is there, with "found" and "expected"
 * where it says so.  kind is the name of err->code.
 */
void failure_report_json(struct buf *out, const char *command, int status, const struct error *err);

#endif
