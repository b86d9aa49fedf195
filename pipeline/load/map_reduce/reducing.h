/* reducing.h - what the files of a reduce share */
#ifndef SALTMILL_HALVES_REDUCING_H
#define SALTMILL_HALVES_REDUCING_H

#include "arrivals.h"
#include "cut.h"
#include "half_reports.h"
#include "load.h"
#include "pass.h"

/* Regions [first, end) of a table. */
struct wanted_piece {
	size_t first, end;
};

struct reducing {
	const struct job *job;
	const struct reduce_options *opt;
	struct progress *progress;
	struct pass pass;
	struct staging *staging;
	struct maps maps; /* empty if pieces come from standard input */
	/* [nbases], the bytes of all inputs before each input, as maps report them */
	uint64_t *bases;
	size_t nbases; /* 0 if pieces come from standard input */
	int64_t created_ms;
	struct wanted_piece *wanted; /* [ntables] */
	struct arrivals *sources; /* [nsources], one for each map's folder, or for standard input */
	size_t nsources;
	struct cut_table *cuts;	     /* [ntables] */
	struct cut_result **results; /* [ntables][regions of the table] */
};

static inline size_t regions_of(const struct reducing *r, size_t table)
{
	return r->opt->plan->tables[table].splits.count + 1;
}

/* Pass the records of all wanted pieces to the sorters, and put the arrivals of all sources in
 * order. Return RC_DATA or RC_IO if a piece is not from this plan, is damaged or comes twice. */
int reducing_read(struct reducing *r, struct error *err);
/* Describe what the reduce read and wrote. The report is in `a`. */
void reducing_describe(const struct reducing *r, struct reduce_report *out, struct arena *a);

#endif
