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
	unsigned threads;	   /* default: the processors this process may use */
	uint64_t memory_bytes;	   /* default: a quarter of the memory */
	const char *temp_dir;	   /* NULL: beside the output */
	uint64_t temp_quota_bytes; /* limit of temporary files; UINT64_MAX: none */
	bool quiet, json;
	bool allow_code; /* the job may name code to run: job.allow_code */
};

/* The limit of a kind of events: a number, or a share of the events read. */
struct event_limit {
	uint64_t count;
	double share; /* 0..1; used when is_share */
	bool is_share;
};

/*
 * Return the limit for `of` events. As a double, 29% of 100 is 28.99...; the small factor makes it
 * 29, and never 30.
 */
static inline uint64_t event_limit_of(const struct event_limit *l, uint64_t of)
{
	return l->is_share ? (uint64_t)(l->share * (double)of * (1 + 1e-13)) : l->count;
}

/* The counts that are shown for a phase. */
enum progress_told {
	PROGRESS_SECONDS, /* only the time */
	PROGRESS_INPUT,	  /* events, and done / total bytes */
	PROGRESS_REGIONS, /* regions / regions_total, and cells */
	PROGRESS_FILES,	  /* done / total files */
	PROGRESS_BYTES,	  /* done / total bytes */
	PROGRESS_ROWS	  /* events: rows of an answer */
};

/*
 * Progress of a run, for the progress line; the stages write it, any thread reads it. In a phase,
 * done goes from 0 to total, in the phase's unit; total 0: unknown.
 */
struct progress {
	_Atomic(const char *) phase; /* its name, a static string; NULL: none has begun */
	_Atomic unsigned begun;	     /* number of phases so far; the same name may come twice */
	_Atomic int told;	     /* enum progress_told */
	_Atomic uint64_t done, total;
	_Atomic uint64_t events, bytes;			/* input, over all phases */
	_Atomic uint64_t cells, regions, regions_total; /* output */
};

/* Begin a phase. Here and below, p NULL does nothing. */
static inline void progress_begin(struct progress *p, const char *phase, enum progress_told told,
				  uint64_t total)
{
	if (!p)
		return;
	p->told = PROGRESS_SECONDS; /* do not show the previous phase's counts meanwhile */
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
 * --- crash points: places where a test can kill the process ---
 *
 * With SALTMILL_CRASH_AT=STEP in the environment, the process ends by SIGKILL at STEP. The steps of
 * publishing a load from Kafka (stream/loads/README.md 2) are, in order:
 *
 *   position-temp position intent-temp intent load-opened load-read load-split
 *   load-written described publishing-temp publishing published record-temp recorded intent-removed
 *   committed
 *
 * Handing a load to HBase has apply-before-WORD and apply-WORD for each line of its journal
 * (deliver/apply/journal.h). Around it are the steps of a state's loads:
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
