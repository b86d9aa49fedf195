/*
 * cut.h - turn the records of regions into HFiles
 *
 *   write_regions                                  all regions of a load, with threads
 *   cutter_new (one a thread), cut_region*, cutter_free   region by region
 *
 * The cutter gathers the records of a row key and puts their cells in HBase's order. Duplicates
 * (same row, family, qualifier, timestamp) are resolved as the job specifies, and counted.
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

/* The options that all regions of a table share; read-only while cutting. */
struct cut_table {
	const struct row_plan *plan;
	size_t index; /* index of the table in the job */
	const struct job_table *table;
	const char *hfiles_dir; /* contains one folder a family, made by the caller */
	struct storage *to;	/* the storage of hfiles_dir; NULL: this machine */
	int64_t created_ms;	/* written into the files */
	struct sorter *rows;	/* all records of the table, for rows too large to gather */
	struct budget *budget;
	struct helpers *helpers; /* threads that help to write files; NULL: none */
	struct syncer *syncer;	 /* syncs finished files; NULL: sync at once */
	const char *temp_dir;
	uint64_t gather_bytes;	   /* a row up to this size is gathered in memory; 0: 8 MiB */
	size_t file_buffer_bytes;  /* of each open file; 0: 256 KiB */
	bool temporary;		   /* the files are removed after inspection: do not sync */
	struct budget *quota;	   /* the limit of temporary files; NULL: no limit */
	struct progress *progress; /* counts records that were taken; NULL: not counted */
};

/* Return the most memory that cutting a region needs, without read buffers and large values. */
uint64_t cut_memory(const struct cut_table *t);

struct cut_file {
	size_t family;
	char name[33]; /* digest of the file's bytes, in hex */
	struct hfile_summary sum;
};

/* Two events; all cells of one are overwritten by the other. */
struct cut_collision {
	bool found;
	struct buf row;	     /* row key of both */
	uint64_t lost, kept; /* seq */
};

struct cut_result {
	struct cut_file *files;
	size_t nfiles;
	uint64_t rows; /* distinct row keys */
	uint64_t cells, cells_deduplicated;
	/* events with a stored cell; events with every cell overwritten */
	uint64_t loaded, deduplicated;
	struct cut_collision collision; /* the first collision that was found */
};
void cut_result_release(struct cut_result *r);

struct cutter;
struct cutter *cutter_new(void);
void cutter_free(struct cutter *c);

/*
 * Write the files of region number `region` from its sorted records; closes rows. A family without
 * cells gets no file. RC_DATA: duplicates, which the job forbids; the message names both events.
 * RC_BROKEN (storage.h): a retry may succeed.
 */
int cut_region(struct cutter *c, const struct cut_table *t, size_t region, struct record_iter *rows,
	       struct cut_result *out, struct error *err);

/*
 * --- write_regions: the second half of a load ---
 *
 * Each thread takes whole regions, merges the runs' records of that key range and writes its files.
 * A thread that finds no region left helps the threads that still write. The files do not depend on
 * which thread did what, or when.
 */

/* A table's regions [first, end), in key order. */
struct write_table {
	struct cut_table *cut; /* write_regions sets its helpers and syncer */
	const struct splits *splits;
	size_t first, end;
	struct cut_result *results; /* [splits->count + 1]; the caller releases them */
};

/*
 * Return the most memory of a thread that writes a region of the table, after all rows were read.
 */
uint64_t write_memory(const struct cut_table *t);
/* Write all regions; after RC_OK the files are on disk. progress counts cells and regions. */
int write_regions(const struct write_table *tables, size_t ntables, unsigned threads,
		  struct progress *progress, struct error *err);

#endif
