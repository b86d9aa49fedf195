/*
 * state_report.h - a state folder as text: where a topic stands, and its loads
 */
#ifndef SALTMILL_STATE_REPORT_H
#define SALTMILL_STATE_REPORT_H

#include "bytes.h"
#include "seek.h"
#include "state_view.h"

/* `saltmill status`; appended to out. */
void state_report_text(struct buf *out, const struct state_view *v);
/* The same as one JSON object. */
void state_report_json(struct buf *out, const struct state_view *v);
/*
 * One of `saltmill loads`, checked against its folder and the load before it; as text or one line
 * of JSON.  False: something is wrong with it, and the text says what.
 */
bool state_report_load(struct buf *out, const struct state_view_load *l, bool as_json);
/* What `saltmill seek` has done, a line a position. */
void state_report_seek(struct buf *out, const struct seek_result *r, bool as_json);

#endif
