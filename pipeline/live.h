/*
 * live.h - `--existing FILE` or `--existing TABLE=FILE`: regions that tables of the job have today
 *
 *   live_add (while options are parsed), live_read, live_release
 */
#ifndef SALTMILL_LIVE_H
#define SALTMILL_LIVE_H

#include "job.h"
#include "splits.h"

struct live {
	const char **specs;      /* borrowed texts */
	size_t nspecs;
	struct existing *tables; /* [ntables of the job], after live_read */
	bool *given;             /* [ntables] */
	size_t ntables;
};

void live_add(struct live *l, const char *spec);
/*
 * Read the files.  A FILE without TABLE is the job's only table's, or says in list_regions' form
 * which table's it is.  RC_CONFIG: no such table, two files for one, another table's regions.
 */
int live_read(struct live *l, const struct job *job, struct error *err);
/* NULL: not given for this table. */
const struct existing *live_table(const struct live *l, size_t table);
void live_release(struct live *l);

#endif
