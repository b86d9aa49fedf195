/*
 * load.h - the conductor: events -> row records -> sorted runs -> regions -> HFiles -> published
 *
 * load_run is the whole path of `saltmill load`; its stages are on one page each in load.c.
 */
#ifndef SALTMILL_LOAD_H
#define SALTMILL_LOAD_H

#include "cmd.h"
#include "job.h"
#include "live.h"
#include "publish/publish.h"
#include "read.h"

struct load_options {
	const struct options *common;
	const char *const *files; /* replace the job's; nfiles 0: the job's */
	size_t nfiles;
	const char *output_dir;
	struct reject_limit limit;
	const struct live *live; /* regions that tables have already, in place of the job's; NULL: none */
};

enum load_phase { PHASE_OPEN, PHASE_READ, PHASE_SPLIT, PHASE_WRITE, PHASE_PUBLISH, PHASES };

/* What the job was promised of a table's regions.  Sizes that were predicted belong here too. */
struct load_promise {
	double tolerance; /* largest region / target that is fine; 0: not asked */
	bool broken;
};

/* What happened, for the summary and the exit status. */
struct load_result {
	struct manifest manifest;
	struct arena arena;       /* what the manifest and the promises point to */
	struct load_promise *promises; /* [manifest.ntables] */
	double seconds[PHASES];
	uint64_t blank_lines, runs, spilled_bytes;
	bool stale_removed;       /* a sibling of a run that died was removed */
};

/* Rejects within the limit are no failure: look at result->manifest.rejected. */
int load_run(const struct job *job, const struct load_options *opt, struct progress *progress,
	     struct load_result *result, struct error *err);
void load_result_release(struct load_result *r);

#endif
