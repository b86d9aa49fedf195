/*
 * write_regions.h - the second half of a load: regions become files, a task a region
 *
 * Every thread takes whole regions, merges the runs' records of that key range and writes its
 * files; a thread that finds none left helps those that are still at one.  Nothing of the files
 * depends on who did what, or when.
 */
#ifndef SALTMILL_WRITE_REGIONS_H
#define SALTMILL_WRITE_REGIONS_H

#include "cut.h"
#include "run.h"
#include "splits.h"

/* A table's regions [first, end), in key order. */
struct write_table {
	struct cut_table *cut; /* its helpers and syncer are set meanwhile */
	const struct splits *splits;
	size_t first, end;
	struct cut_result *results; /* [splits->count + 1]; to be released by the caller */
};

/* What a thread may hold that writes a region of the table, all of whose rows are in. */
uint64_t write_memory(const struct cut_table *t);
/*
 * Write all of them; when this returns RC_OK the files are on disk.  progress counts cells and
 * regions.
 */
int write_regions(const struct write_table *tables, size_t ntables, unsigned threads,
		  struct progress *progress, struct error *err);

#endif
