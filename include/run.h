/*
 * run.h - what every run is told, and what it shows while it goes on
 */
#ifndef SALTMILL_RUN_H
#define SALTMILL_RUN_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What a run may use; the options that commands share. */
struct run_options {
	unsigned threads;	   /* default: the processors this process may use */
	uint64_t memory_bytes;	   /* default: a quarter of the memory */
	const char *temp_dir;	   /* NULL: beside the output */
	uint64_t temp_quota_bytes; /* what temporary files may hold; UINT64_MAX: any */
	bool quiet, json;
	bool allow_code; /* the job may name code to run: job.allow_code */
};

/* Events of a kind that a run tolerates: a number, or a share of what was read. */
struct event_limit {
	uint64_t count;
	double share; /* 0..1; used when is_share */
	bool is_share;
};

/*
 * How many of `of` events that are.  29% of 100 is 28.99... as a double: the little more makes it
 * 29, and never 30.
 */
static inline uint64_t event_limit_of(const struct event_limit *l, uint64_t of)
{
	return l->is_share ? (uint64_t)(l->share * (double)of * (1 + 1e-13)) : l->count;
}

/* What is told of a phase besides how much of it is done. */
enum progress_told {
	PROGRESS_SECONDS, /* nothing is counted */
	PROGRESS_INPUT,	  /* events, and done of total bytes */
	PROGRESS_REGIONS, /* regions of regions_total, and cells */
	PROGRESS_FILES,	  /* done of total files */
	PROGRESS_BYTES,	  /* done of total bytes */
	PROGRESS_ROWS	  /* events: rows of an answer */
};

/*
 * What is going on, for the progress line; written by the stages, read by any thread.  A phase
 * goes from done 0 to total, in whatever it counts; total 0: nobody knows.
 */
struct progress {
	_Atomic(const char *) phase; /* its name, which lives on; NULL: none has begun */
	_Atomic unsigned begun;	     /* phases so far: one may follow another of its name */
	_Atomic int told;	     /* enum progress_told */
	_Atomic uint64_t done, total;
	_Atomic uint64_t events, bytes;			/* input, of all phases */
	_Atomic uint64_t cells, regions, regions_total; /* output */
};

/* A phase begins.  p NULL: nobody looks, here and below. */
static inline void progress_begin(struct progress *p, const char *phase, enum progress_told told,
				  uint64_t total)
{
	if (!p)
		return;
	p->told = PROGRESS_SECONDS; /* so that no count is told of the other phase */
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
 * --- places where a test may let the process die
 *
 * With SALTMILL_CRASH_AT=STEP in the environment the process ends by SIGKILL when it gets to STEP;
 * the steps are those of publishing a load from Kafka (stream/loads/README.md 2), in order:
 *
 *   position-temp position intent-temp intent load-opened load-read load-split
 *   load-written described publishing-temp publishing published record-temp recorded intent-removed
 * committed
 *
 * and those of handing a load to HBase: apply-before-WORD and apply-WORD, of each line of its
 * journal (deliver/apply/journal.h); around it those of a state's loads:
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
