/*
 * extras.h - reads what the page's folder does not contain: phase times and lint findings. Commands
 * print both with --json.
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

/*
 * Reads a JSON file; release *out with json_decref. what: expected content in the message of
 * RC_DATA, for example "a plan".
 */
int extras_json(json_t **out, const char *path, const char *what, struct error *err);
/*
 * Reads the files that f names into *a. m: the load that the times must belong to, else RC_DATA. m
 * NULL: times are refused with RC_CONFIG.
 */
int extras_read(struct extras *e, const struct page_files *f, const struct manifest *m,
		struct arena *a, struct error *err);
/* Adds the findings of a list. Ignores items that are not findings. */
void extras_findings(struct extras *e, json_t *list, struct arena *a);

#endif
