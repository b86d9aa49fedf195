/*
 * incarnation.h - is a live table still the one that a load's files went into?
 *
 * A table that is dropped, truncated or created anew keeps its name and loses its files.  HBase
 * gives a table no identity of its own, but two marks of it are never given to another table:
 *
 * - The encoded name of a region.  Splits and merges replace regions one by one, and hbase:meta
 *   lists the parents until nothing refers to their files.
 * - The inode number of the table's folder in HDFS.  Splits, merges, alter and restore_snapshot
 *   keep the folder.  Drop, truncate and truncate_preserve do not.
 *
 * If one mark is still there, the table is the same.
 */
#ifndef SALTMILL_APPLY_INCARNATION_H
#define SALTMILL_APPLY_INCARNATION_H

#include "hbase.h"

#define INCARNATION_NAME 33

struct incarnation {
	bool known;
	uint64_t folder;		   /* inode number; 0: not known */
	char (*regions)[INCARNATION_NAME]; /* encoded names, sorted, nregions of them; owned */
	size_t nregions;
};

/* Records a table as it is.  At most INCARNATION_REGIONS regions, spread over the table. */
enum { INCARNATION_REGIONS = 1000 };
void incarnation_take(struct incarnation *i, const struct hbase_regions *r, uint64_t folder);
void incarnation_release(struct incarnation *i);
/* Appends the words of a journal line: the folder, then the regions, a blank before each. */
void incarnation_words(struct buf *out, const struct incarnation *i);
/* Reads such words.  False: they are something else. */
bool incarnation_read(struct incarnation *i, const char *words);

/* Is one of the recorded regions, or a region that was made of one, still there? */
bool incarnation_has(const struct incarnation *i, const struct hbase_regions *r);
/* Is it the same folder?  False if one of the two is not known. */
bool incarnation_in(const struct incarnation *i, uint64_t folder);

#endif
