/*
 * extras.h - reads phase times and findings of lint from the JSON that commands printed, because
 * the folder does not contain them
 */
#ifndef SALTMILL_PAGE_EXTRAS_H
#define SALTMILL_PAGE_EXTRAS_H

#include "cli/page.h"
#include "lint.h"
#include "mem.h"
#include "publish.h"

struct timing {
	const char *phase;
	double seconds;
};

struct extras {
	struct timing timings[4];
	size_t ntimings;
	uint64_t spilled_bytes;
	bool linted;
	const struct lint_finding *findings;
	size_t nfindings;
};

/*
 * Reads the files that `f` names into *a. Returns RC_DATA if the times do not belong to the load
 * `m`. Returns RC_CONFIG if there are times but `m` is NULL.
 */
int extras_read(struct extras *e, const struct page_files *f, const struct manifest *m,
		struct arena *a, struct error *err);

#endif
