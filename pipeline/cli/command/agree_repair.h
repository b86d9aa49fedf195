/* agree_repair.h - writes the load that `saltmill agree --repair` makes (inside this folder only) */
#ifndef SALTMILL_CMD_AGREE_REPAIR_H
#define SALTMILL_CMD_AGREE_REPAIR_H

#include <stdio.h>

#include "arguments.h"
#include "cell.h"
#include "splits.h"

/* The split points of a table, for the file OUT.TABLE.splits. */
struct repair_splits {
	char *path;
	struct buf text;
};
/*
 * The files OUT.csv, with a line for each cell, OUT.yaml, a job that loads them, and the split points
 * of its tables.
 */
struct agree_repair {
	char *out; /* the folder of the load */
	char *csv, *yaml;
	FILE *lines;
	bool is_partial;   /* this run created the files, and has not completed them */
	const char *table; /* the table of the next cells */
	uint64_t cells;
	struct repair_splits *splits;
	size_t nsplits;
	struct buf line, tables; /* scratch; the tables of the job, as YAML */
};

/*
 * Create OUT.csv. Returns RC_CONFIG if OUT or one of the files exists, or if OUT is not in a folder of
 * this machine.
 */
int agree_repair_open(struct agree_repair *r, const char *out, struct error *err);
/* Begin the cells of a table. Returns RC_CONFIG if the file of its split points exists. */
int agree_repair_table(struct agree_repair *r, const struct job_table *t, const struct splits *s,
		       struct error *err);
/* Write a cell, as agree_options.repair for a struct agree_repair. */
int agree_repair_cell(void *repair, const struct cell *c, struct error *err);
/*
 * Write OUT.yaml, and load it to OUT with the regions of the live tables of --hbase. Without a cell,
 * remove OUT.csv instead.
 */
int agree_repair_load(struct agree_repair *r, const struct arguments *a, struct error *err);
/* Remove the files of a repair that failed. A load that failed has removed OUT. */
void agree_repair_close(struct agree_repair *r);

#endif
