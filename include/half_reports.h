/*
 * half_reports.h - report.json of map and reduce, and HFiles that reduces sent to the load's
 * storage
 */
#ifndef SALTMILL_HALF_REPORTS_H
#define SALTMILL_HALF_REPORTS_H

#include "publish.h"
#include "source.h"
#include "storage.h"

/* The sorted rows of one region, which are consecutive pieces of the file `runs`. */
struct map_region {
	size_t region;
	uint64_t records, pieces, offset, bytes;
	int64_t digest; /* sum of piece_mark of its pieces */
};
struct map_table {
	const char *name;
	uint64_t filtered;	    /* events without a cell for the table */
	struct map_region *regions; /* regions with records, in rising order */
	size_t nregions;
};
struct map_report {
	const char *folder;  /* folder of the report; not a part of the file */
	const char *program; /* version of the program that wrote it */
	uint8_t plan[16];    /* identity of the plan (kept_plan in pass.h) */
	const char *path;    /* path of the input */
	/* the part of the input, as in struct source_part (source.h) */
	uint64_t number, size, head, head_lines, from, to, first, end, lines, seqs, line_base;
	bool head_read, whole, last, summed;
	const char *quote; /* CSV: the quote character; else NULL */
	uint8_t digest[16], sum[16], before[16], after[16];
	/* numbers of events read, of events rejected, and of blank lines */
	uint64_t read, rejected, blank_lines;
	uint64_t rejected_lines, filtered_lines; /* numbers of line ends, as in struct manifest */
	uint64_t finer_times, finer_seq, finer_field; /* see row.h */
	int64_t newest_ms; /* newest cell timestamp; 0 if there are no cells */
	struct reject_reason *reasons;
	size_t nreasons;
	struct map_table *tables; /* the tables, in the order of the job */
	size_t ntables;
	/* columns of the input's schema; the writer omits an empty list */
	struct manifest_column *columns;
	size_t ncolumns;
};

/* The records of a region that came from one slice. */
struct reduce_slice {
	uint64_t slice; /* seq of the slice's first row */
	uint64_t records;
	int64_t digest; /* sum of piece_mark of its pieces */
};
/* The records of a region that came from all slices together. */
struct region_total {
	bool found; /* false in a report means one without totals, else a region without rows */
	uint64_t records;
	int64_t digest; /* sum of piece_mark of all pieces */
};
/* A collision, as in struct cut_collision. */
struct reduce_collision {
	bool found;
	struct bytes row;
	uint64_t lost, kept; /* seq of the overwritten event and of the kept event */
};
struct reduce_region {
	size_t region;
	uint64_t rows, cells, cells_deduplicated, loaded, deduplicated;
	struct reduce_collision collision;
	uint64_t cells_hidden; /* and examples, as in struct cut_result */
	struct reduce_collision *hidden;
	size_t nhidden;
	struct reduce_slice *slices; /* the slices, in rising order; empty with a `total` */
	size_t nslices;
	struct region_total total;   /* of `reduce --totals` */
	struct manifest_file *files; /* files with paths relative to the folder of the report */
	size_t nfiles;
};
struct reduce_table {
	const char *name;
	/* the reduced regions, in rising order; empty if the reduce skipped the table */
	struct reduce_region *regions;
	size_t nregions;
};
struct reduce_report {
	const char *program;
	uint8_t plan[16];
	int64_t created_ms;
	struct reduce_table *tables; /* the tables, in the order of the job */
	size_t ntables;
};

/* The sums of the regions over all maps, of which `offset` is 0. */
struct map_totals {
	struct map_table *tables; /* the tables, in the order of the job */
	size_t ntables;
};

extern const struct form map_report_form, reduce_report_form, map_totals_form;

/* --- inputs that unite cannot open --- */

extern const struct form digest_form, inputs_form;
/* Append one digest as JSON, in the form of `saltmill digest`. */
void input_digest_format(const struct source_digest *d, struct buf *out);
/*
 * Read the file of `--inputs`, which has the form {"inputs": [{"path", "size"}...], "digests":
 * [output of digest...]}. The function fills all members of *l except the columns, and allocates in
 * *a. Returns RC_DATA if the file has another form.
 */
int input_list_read(struct source_inputs *l, const char *path, struct arena *a, struct error *err);

/* Write folder/report.json durably. */
int map_report_write(const struct map_report *r, const char *folder, struct error *err);
int reduce_report_write(const struct reduce_report *r, const char *folder, struct error *err);
/* Read folder/report.json into *a. Returns RC_DATA if the file has another form. */
int map_report_read(struct map_report *r, const char *folder, struct arena *a, struct error *err);
int reduce_report_read(struct reduce_report *r, const char *folder, struct arena *a,
		       struct error *err);
/* Read the file of `unite --totals` into *a. Returns RC_DATA if the file has another form. */
int map_totals_read(struct map_totals *t, const char *path, struct arena *a, struct error *err);

/*
 * --- sent files: HFiles that reduces sent to the load's storage ---
 *
 * Reduces on many machines have only that storage (HDFS) in common. Each reduce sends its files to
 * one folder, and unite moves the files out of that folder. These functions never create the
 * folder, because a late reduce must fail after the end of the folder. A file's name contains the
 * table, the region and the digest, so a second attempt writes the same file.
 *
 * S3 has no rename. There, the folder is a folder of the later load (DIR/<16 hexadecimal digits>),
 * and each file gets its place in the load at once. The load is visible after its manifest.
 */

/*
 * Send all files of the report, which are below `dir`, to the folder `uri`. A file gets its name
 * only when it is complete and its checksum matches the sent bytes. Returns RC_IO if a retry may
 * help.
 */
int sent_files_send(const struct reduce_report *r, const char *dir, const char *uri,
		    const struct storage_options *place, struct error *err);
/*
 * Move one file from the folder `uri`, which is in `to`, to `path`. In S3, the file is already
 * there. Returns RC_DATA if the file is missing, or if its length differs from the length in the
 * report.
 */
int sent_files_take(struct storage *to, const char *uri, size_t table, size_t region,
		    const struct manifest_file *f, const char *path, struct error *err);

/*
 * Undo sent_files_take. The file at the path of `f` below `folder` moves back to the folder `uri`.
 * Also returns RC_OK if the file or the folder `uri` is missing.
 */
int sent_files_give_back(struct storage *in, const char *uri, size_t table, size_t region,
			 const struct manifest_file *f, const char *folder, struct error *err);
/*
 * Remove files from root/folder that the load does not contain, because HBase loads all files of a
 * folder. `paths` are the paths of the load's files below `root`. The call sorts them.
 */
int sent_files_sweep(struct storage *to, const char *root, const char *folder, const char **paths,
		     size_t n, struct error *err);
/*
 * Check that `uri` is on the storage of the load's output, because no file can move between
 * storages. In S3, set `*folder` to the name of the folder within `output` (staging_rescue), else
 * to NULL. Returns RC_CONFIG if `uri` is on another storage, or not a folder of `output` in S3.
 */
int sent_files_check_place(const char *uri, const char *output, const char **folder,
			   struct arena *arena, struct error *err);
/*
 * Remove the folder `uri` of S3. Returns RC_CONFIG if `output` is a published load, which may use
 * the folder.
 */
int sent_files_discard(const char *uri, const char *output, const struct storage_options *place,
		       struct error *err);

#endif
