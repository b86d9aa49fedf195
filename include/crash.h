/*
 * crash.h - places where a test may let the process die
 *
 * With SALTMILL_CRASH_AT=STEP in the environment the process ends by SIGKILL when it gets to STEP;
 * the steps are those of publishing a load from Kafka (topic/README.md 2), in order:
 *
 *   position-temp position intent-temp intent load-opened load-read load-split
 *   load-written described publishing-temp publishing published record-temp recorded intent-removed
 * committed
 *
 * and those of handing a load to HBase: apply-before-WORD and apply-WORD, of each line of its
 * journal (apply/journal.h); around it those of a state's loads:
 *
 *   follow-applied mark-temp follow-marked follow-aside follow-removed
 */
#ifndef SALTMILL_CRASH_H
#define SALTMILL_CRASH_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static inline void crash_at(const char *step)
{
	const char *at = getenv("SALTMILL_CRASH_AT");
	if (at && strcmp(at, step) == 0)
		raise(SIGKILL);
}

#endif
