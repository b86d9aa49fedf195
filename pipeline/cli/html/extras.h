/*
 * extras.h - what a page may show that what it is about does not say: the seconds of the run, and
 * what lint found.  Both stand in what commands print with --json.
 */
#ifndef SALTMILL_PAGE_EXTRAS_H
#define SALTMILL_PAGE_EXTRAS_H

#include <jansson.h>

#include "mem.h"
#include "cli/page.h"
#include "publish.h"

struct timing {
	const char *phase;
	double seconds;
};

struct page_finding {
	const char *rule, *severity, *table, *what, *why, *fix;
	long long line;
};

struct extras {
	struct timing timings[4];
	size_t ntimings;
	uint64_t spilled_bytes;
	bool linted;
	struct page_finding *findings;
	size_t nfindings;
};

/* JSON of a file; release with json_decref.  what: "a plan", for RC_DATA. */
int extras_json(json_t **out, const char *path, const char *what, struct error *err);
/*
 * From the files that f names, in *a.  m: the load that the seconds must be of (RC_DATA), NULL:
 * seconds are refused (RC_CONFIG).
 */
int extras_read(struct extras *e, const struct page_files *f, const struct manifest *m,
		struct arena *a, struct error *err);
/* The findings of such a list; what is no finding is passed over. */
void extras_findings(struct extras *e, json_t *list, struct arena *a);

#endif
