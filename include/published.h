/*
 * published.h - a table of published loads as a query sees it: its families and all their files
 *
 *   published_open, query_open(p.families, ...), published_release
 */
#ifndef SALTMILL_PUBLISHED_H
#define SALTMILL_PUBLISHED_H

#include "job.h"
#include "mem.h"
#include "query.h"

struct published {
	struct query_family *families; /* in the order of their names */
	size_t nfamilies;
	struct query_file *files;
	size_t nfiles;
	struct arena arena; /* all of it */
};

/*
 * The files of a table in loads, oldest load first: the later one wins, as a later bulk load would.
 * Without loads its families alone.
 * RC_DATA when a folder is no load or holds nothing of the table, RC_CONFIG for a family that is
 * not read as HBase does (NEW_VERSION_BEHAVIOR).
 */
int published_open(struct published *out, const struct table *table, const char *const *dirs,
		   size_t ndirs, struct error *err);
void published_release(struct published *p);

#endif
