/*
 * progress_text.h - where a run stands, in a line
 */
#ifndef SALTMILL_PROGRESS_TEXT_H
#define SALTMILL_PROGRESS_TEXT_H

#include "bytes.h"
#include "run.h"

/*
 * Append "reading 5%, 3 s left, 1,200 events, 64 KB of 1.2 MB, 45,000 events/s" for a phase that
 * has gone on for so many seconds, what matters most in front: its share and the time left where
 * the whole is known, then what it tells (run.h); of phases that cannot tell how far they are
 * "publishing, 3 s"; without counts the phase's name alone.
 */
void progress_text(struct buf *out, const struct progress *p, double seconds, bool counts);

#endif
