/*
 * run.h - what every run is told, and what it shows while it goes on
 */
#ifndef SALTMILL_RUN_H
#define SALTMILL_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

/* What is going on, for the progress line; written by the stages, read by any thread. */
struct progress {
	_Atomic int phase;				/* of the command */
	_Atomic uint64_t events, bytes, bytes_total;	/* input; bytes_total 0: unknown */
	_Atomic uint64_t cells, regions, regions_total; /* output */
};

#endif
