/*
 * progress_text.h - where a run stands, in a line
 */
#ifndef SALTMILL_PROGRESS_TEXT_H
#define SALTMILL_PROGRESS_TEXT_H

#include "bytes.h"
#include "run.h"

/*
 * Append "reading: 1,200 events, 64 KB of 1.2 MB, 45000 events/s, 3 s left" for a run that has gone
 * on for so many seconds; without counts the phase's name alone.
 */
void progress_text(struct buf *out, const struct progress *p, double seconds, bool counts);

#endif
