/* run.h - the options that commands share, progress of a run, and crash points for tests */
#ifndef SALTMILL_RUN_H
#define SALTMILL_RUN_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Resources of a run. */
struct run_options {
	unsigned threads;	   /* default is the processors that this process may use */
	uint64_t memory_bytes;	   /* default is a quarter of the memory */
	const char *temp_dir;	   /* NULL means the parent folder of the output */
	uint64_t temp_quota_bytes; /* limit of temporary files; UINT64_MAX means no limit */
	bool quiet, json;
	bool allow_code; /* the job may name code to run (job.allow_code) */
};

/* The limit of a kind of events, which is a number or a share of the events. */
struct event_limit {
	uint64_t count;
	double share; /* share of the events, 0..1, used if is_share is true */
	bool is_share;
};

/*
 * Return the limit for `of` events. In floating point, 29% of 100 is 28.99..., so a small factor
 * makes the result 29, and never 30.
 */
static inline uint64_t event_limit_of(const struct event_limit *l, uint64_t of)
{
	return l->is_share ? (uint64_t)(l->share * (double)of * (1 + 1e-13)) : l->count;
}

/* The counts that the progress line shows for a phase. */
enum progress_told {
	PROGRESS_SECONDS, /* the phase has no counts, only its duration */
	PROGRESS_INPUT,	  /* events, and bytes as `done` of `total` */
	PROGRESS_REGIONS, /* regions of regions_total, and cells */
	PROGRESS_FILES,	  /* files as done of total */
	PROGRESS_BYTES,	  /* bytes as done of total */
	PROGRESS_ROWS	  /* `events`, which counts rows of an answer */
};

/*
 * Progress of a run, for the progress line. The stages write the members, and any thread may read
 * them. In a phase, `done` goes from 0 to `total`, in the phase's unit. If `total` is 0, the total
 * is unknown.
 */
struct progress {
	/* name of the current phase, a static string; NULL before the first phase */
	_Atomic(const char *) phase;
	_Atomic unsigned begun; /* number of phases so far; two phases may have the same name */
	_Atomic int told;	/* enum progress_told */
	_Atomic uint64_t done, total;
	_Atomic uint64_t events, bytes;			/* input of all phases */
	_Atomic uint64_t cells, regions, regions_total; /* output */
};

/* Begin a phase. All progress functions do nothing if `p` is NULL. */
static inline void progress_begin(struct progress *p, const char *phase, enum progress_told told,
				  uint64_t total)
{
	if (!p)
		return;
	/* show no counts of the previous phase until all members have their values */
	p->told = PROGRESS_SECONDS;
	p->done = 0;
	p->total = total;
	p->phase = phase;
	p->begun++;
	p->told = (int)told;
}

static inline void progress_add(struct progress *p, uint64_t done)
{
	if (p && done)
		atomic_fetch_add_explicit(&p->done, done, memory_order_relaxed);
}

/*
 * --- crash points: steps at which a test can kill the process ---
 *
 * With SALTMILL_CRASH_AT=STEP in the environment, SIGKILL ends the process at STEP. The steps of
 * publishing a load from Kafka (stream/loads/README.md 2) are, in order:
 *
 *   position-temp position intent-temp intent load-opened load-read load-split
 *   load-written described publishing-temp publishing published record-temp recorded intent-removed
 *   committed
 *
 * Applying a load has the steps apply-before-WORD and apply-WORD for each line of its journal
 * (deliver/apply/journal.h). A state's loads have these further steps before and after them:
 *
 *   follow-applied mark-temp follow-marked follow-aside follow-removed
 */

static inline void crash_at(const char *step)
{
	const char *at = getenv("SALTMILL_CRASH_AT");

	if (at && strcmp(at, step) == 0)
		raise(SIGKILL);
}

#endif
