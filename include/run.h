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
};

/* Rejected events a run tolerates: a number, or a share of what was read. */
struct reject_limit {
	uint64_t count;
	double share; /* 0..1; used when is_share */
	bool is_share;
};

/* What is going on, for the progress line; written by the stages, read by any thread. */
struct progress {
	_Atomic int phase;				/* of the command */
	_Atomic uint64_t events, bytes, bytes_total;	/* input; bytes_total 0: unknown */
	_Atomic uint64_t cells, regions, regions_total; /* output */
};

#endif
