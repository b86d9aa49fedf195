/*
 * incarnation.h - check whether a live table is still the table that a load's files went into
 *
 * A table keeps its name and loses its files when a user drops, truncates or recreates it. HBase
 * gives a table no unique id, but it never gives these two marks to another table:
 *
 * - The encoded name of a region.  Splits and merges replace regions one by one, and hbase:meta
 *   lists the parents until nothing refers to their files.
 * - The inode number of the table's folder in HDFS.  Splits, merges, alter and restore_snapshot
 *   keep the folder.  Drop, truncate and truncate_preserve do not.
 *
 * If one mark still matches, the table is the same.
 */
#ifndef SALTMILL_APPLY_INCARNATION_H
#define SALTMILL_APPLY_INCARNATION_H

#include "hbase.h"

#define INCARNATION_NAME 33

struct incarnation {
	bool known;
	uint64_t folder;		   /* inode number of the table's folder, 0 if unknown */
	char (*regions)[INCARNATION_NAME]; /* nregions encoded names, sorted; owned */
	size_t nregions;
};

/*
 * Records the marks of a table. The journal records at most INCARNATION_REGIONS regions, spread
 * over the table.
 */
enum { INCARNATION_REGIONS = 1000 };
void incarnation_take(struct incarnation *i, const struct hbase_regions *r, uint64_t folder);
void incarnation_release(struct incarnation *i);
/* Appends the words of a journal line, which are the folder and the regions, with a space before
 * each word. */
void incarnation_words(struct buf *out, const struct incarnation *i);
/* Parses the words of incarnation_words. Returns false if they have another form. */
bool incarnation_read(struct incarnation *i, const char *words);

/*
 * Returns true if `r` has one of the recorded regions, or a region that HBase split or merged from
 * a recorded region.
 */
bool incarnation_has(const struct incarnation *i, const struct hbase_regions *r);
/* Returns true if the folder has the recorded number. Returns false if either number is unknown. */
bool incarnation_in(const struct incarnation *i, uint64_t folder);

#endif
