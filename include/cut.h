/*
 * cut.h - one region's records become the region's HFiles
 *
 *   cutter_new (one a thread), cut_region*, cutter_free
 *
 * Records of one row key are gathered, their cells put in HBase's order, duplicates (same row,
 * family, qualifier, timestamp) resolved as the job says and counted.
 */
#ifndef SALTMILL_CUT_H
#define SALTMILL_CUT_H

#include "hfile.h"
#include "job.h"
#include "row.h"
#include "run.h"
#include "sorter.h"
#include "storage.h"
#include "splits.h"

/* What all regions of a table share; read-only while cutting. */
struct cut_table {
	const struct row_plan *plan;
	size_t index; /* of the table in the job */
	const struct job_table *table;
	const char *hfiles_dir; /* holds one folder a family, made by the caller */
	struct storage *to;	/* whose folder that is; NULL: this machine's */
	int64_t created_ms;	/* stamped into the files */
	struct sorter *rows;	/* all records of the table, for rows too large to gather */
	struct budget *budget;
	struct helpers *helpers; /* helps to write files; NULL: nobody */
	struct syncer *syncer;	 /* syncs finished files; NULL: at once */
	const char *temp_dir;
	uint64_t gather_bytes;	   /* a row is gathered in memory up to this; 0: 8 MiB */
	size_t file_buffer_bytes;  /* of each open file; 0: 256 KiB */
	bool temporary;		   /* files to be looked at and removed: not synced */
	struct budget *quota;	   /* what temporary files may hold; NULL: no limit */
	struct progress *progress; /* records that were taken are done; NULL: nobody looks */
};

/* What cutting a region of values that are not large may take, read buffers left out. */
uint64_t cut_memory(const struct cut_table *t);

struct cut_file {
	size_t family;
	char name[33]; /* the digest of its bytes, in hex */
	struct hfile_summary sum;
};

/* Two events one of which hides all cells of the other. */
struct cut_collision {
	bool found;
	struct buf row;	     /* their row key */
	uint64_t lost, kept; /* seq */
};

struct cut_result {
	struct cut_file *files;
	size_t nfiles;
	uint64_t rows; /* distinct row keys */
	uint64_t cells, cells_deduplicated;
	uint64_t loaded, deduplicated;	/* events: with a cell stored; with every cell shadowed */
	struct cut_collision collision; /* of those the first that was met */
};
void cut_result_release(struct cut_result *r);

struct cutter;
struct cutter *cutter_new(void);
void cutter_free(struct cutter *c);

/*
 * Write the files of region number `region` from its records in order; rows is closed.  A family
 * without a cell gets no file.  RC_DATA names both events when the job forbids duplicates.
 * RC_BROKEN (storage.h): the same again may do.
 */
int cut_region(struct cutter *c, const struct cut_table *t, size_t region, struct record_iter *rows,
	       struct cut_result *out, struct error *err);

/*
 * --- the second half of a load: regions become files, a task a region
 *
 * Every thread takes whole regions, merges the runs' records of that key range and writes its
 * files; a thread that finds none left helps those that are still at one.  Nothing of the files
 * depends on who did what, or when.
 */

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
