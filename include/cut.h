/*
 * cut.h - write the sorted records of regions as HFiles
 *
 *   write_regions                                  all regions of a load, with threads
 *   cutter_new (for each thread), cut_region*, cutter_free   region by region
 *
 * The cutter gathers the records of a row key and puts their cells in HBase's order. Cells with the
 * same row, family, qualifier and timestamp are duplicates. The cutter counts duplicates and
 * resolves them as the job specifies.
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

/*
 * The options that all regions of a table share. These options do not change during the cut of
 * regions.
 */
struct cut_table {
	const struct row_plan *plan;
	size_t index; /* index of the table in the job */
	const struct job_table *table;
	/* contains one folder for each family; the caller makes these folders */
	const char *hfiles_dir;
	struct storage *to; /* the storage of hfiles_dir; NULL means this machine */
	/* a folder of this machine for files before their upload to `to`; NULL: write in `to` */
	const char *local_dir;
	int64_t created_ms; /* creation time in the files, in ms */
	/* all records of the table, needed for rows that are too large to gather */
	struct sorter *rows;
	struct budget *budget;
	struct helpers *helpers; /* threads that help to write files; NULL means no help */
	struct syncer *syncer;	 /* syncs finished files; NULL means sync at once */
	const char *temp_dir;
	uint64_t gather_bytes; /* the cut gathers rows up to this size in memory; 0 means 8 MiB */
	size_t file_buffer_bytes; /* buffer of each open file; 0 means 256 KiB */
	/* the caller removes the files after inspection, so they need no sync */
	bool temporary;
	struct budget *quota;	   /* the limit of temporary files; NULL means no limit */
	struct progress *progress; /* counts the records; NULL means no counting */
};

/*
 * Return the bytes of memory that cutting a region needs at most, without read buffers and large
 * values.
 */
uint64_t cut_memory(const struct cut_table *t);

struct cut_file {
	size_t family;
	char name[HFILE_NAME_BYTES]; /* digest of the file's bytes, in hex */
	struct hfile_summary sum;
};

#define CUT_EXAMPLES 2
/*
 * A pair of events. One event overwrites all cells of the other, or its delete marker hides a cell
 * of the other.
 */
struct cut_collision {
	bool found;
	struct buf row;	     /* row key of both events */
	uint64_t lost, kept; /* seq of the overwritten event and of the kept event */
};

struct cut_result {
	struct cut_file *files;
	size_t nfiles;
	uint64_t rows; /* distinct row keys */
	uint64_t cells, cells_deduplicated;
	/*
	 * `loaded` counts events with a stored cell; `deduplicated` counts events if other cells
	 * overwrite all of their cells
	 */
	uint64_t loaded, deduplicated;
	struct cut_collision collision; /* the first collision */
	uint64_t cells_hidden;		/* stored Puts that delete markers of the load hide */
	struct cut_collision hidden[CUT_EXAMPLES]; /* events with such Puts */
};
void cut_result_release(struct cut_result *r);

struct cutter;
struct cutter *cutter_new(void);
void cutter_free(struct cutter *c);

/*
 * Write the files of region number `region` from its sorted records, and close `rows`. A family
 * without cells gets no file. Returns RC_DATA if the job forbids duplicates and the region has
 * some. The message names both events. Returns RC_BROKEN (storage.h) if a retry may succeed.
 */
int cut_region(struct cutter *c, const struct cut_table *t, size_t region, struct record_iter *rows,
	       struct cut_result *out, struct error *err);

/*
 * --- write_regions: the second half of a load ---
 *
 * Each thread takes whole regions. The thread merges the runs' records of the region's key range
 * and writes the region's files. When no region remains, the thread helps the threads that still
 * write. The files do not depend on the number of threads or on their timing.
 */

/* A table's regions [first, end), in key order. */
struct write_table {
	struct cut_table *cut; /* write_regions sets its helpers and syncer */
	const struct splits *splits;
	size_t first, end;
	struct cut_result *results; /* [splits->count + 1]; the caller releases them */
};

/*
 * Return the bytes of memory that a thread needs at most to write a region of the table, after the
 * last row.
 */
uint64_t write_memory(const struct cut_table *t);
/* Write all regions. After RC_OK the files are on disk. `progress` counts cells and regions. */
int write_regions(const struct write_table *tables, size_t ntables, unsigned threads,
		  struct progress *progress, struct error *err);

#endif
