/*
 * existing_regions.h - `--existing FILE`, `--existing TABLE=FILE` or `--hbase HOST,...`: regions
 * that tables of the job have today
 *
 *   existing_regions_add (while options are parsed), existing_regions_read,
 *   existing_regions_release
 */
#ifndef SALTMILL_EXISTING_REGIONS_H
#define SALTMILL_EXISTING_REGIONS_H

#include "job.h"
#include "splits.h"

struct existing_regions {
	const char **specs; /* borrowed texts */
	size_t nspecs;
	const char *servers; /* of a live HBase to ask (hbase_open); NULL: none */
	/* Told what is not well with the live cluster and does not hinder (precheck.h); NULL: not.
	 */
	void (*say)(void *ctx, const char *sentence);
	void *say_ctx;
	bool any;   /* its tables may have other attributes than the job's */
	bool loads; /* drift: what its regions hold and do is asked for too */
	/* [ntables][regions] then, since the region was opened; EXISTING_UNKNOWN */
	uint64_t **requests;
	struct existing *tables; /* [ntables of the job], after existing_regions_read */
	bool *given;		 /* [ntables] */
	size_t ntables;
};

void existing_regions_add(struct existing_regions *l, const char *spec);
/* Is there anything to be read? */
static inline bool existing_regions_asked(const struct existing_regions *l)
{
	return l->nspecs > 0 || l->servers;
}
/*
 * Read the files.  A FILE without TABLE is the job's only table's, or says in list_regions' form
 * which table's it is.  RC_CONFIG: no such table, two files for one, another table's regions.  Of a
 * live HBase all tables of the job that are there; RC_CONFIG: one has other attributes.
 */
int existing_regions_read(struct existing_regions *l, const struct job *job, struct error *err);
/* NULL: not given for this table. */
const struct existing *existing_regions_table(const struct existing_regions *l, size_t table);
void existing_regions_release(struct existing_regions *l);

#endif
