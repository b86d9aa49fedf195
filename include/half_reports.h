/*
 * half_reports.h - report.json of map and reduce, read by unite; and HFiles that reduces sent ahead
 */
#ifndef SALTMILL_HALF_REPORTS_H
#define SALTMILL_HALF_REPORTS_H

#include "publish.h"
#include "source.h"
#include "storage.h"

/* The sorted rows of one region: a row of pieces in the file `runs`. */
struct map_region {
	size_t region;
	uint64_t records, pieces, offset, bytes;
};
struct map_table {
	const char *name;
	uint64_t filtered;	    /* events without a cell for the table */
	struct map_region *regions; /* regions with records, rising */
	size_t nregions;
};
struct map_report {
	const char *folder;  /* the folder it was read from; not written */
	const char *program; /* its version */
	uint8_t plan[16];    /* identity of the plan (kept_plan in pass.h) */
	const char *path;    /* path of the input */
	/* the part of the input that was read: as struct source_part of source.h */
	uint64_t number, size, head, head_lines, from, to, first, end, lines, seqs, line_base;
	bool head_read, whole, last;
	uint8_t digest[16];
	uint64_t read, rejected, blank_lines; /* events; lines */
	int64_t newest_ms;		      /* newest cell timestamp; 0: none */
	struct reject_reason *reasons;
	size_t nreasons;
	struct map_table *tables; /* in the order of the job */
	size_t ntables;
	struct manifest_column *columns; /* of the input's schema; none: not written */
	size_t ncolumns;
};

/* Records of a region that came from one slice. */
struct reduce_slice {
	uint64_t slice; /* seq of its first row */
	uint64_t records;
};
/* As struct cut_collision. */
struct reduce_collision {
	bool found;
	struct bytes row;
	uint64_t lost, kept; /* seq */
};
struct reduce_region {
	size_t region;
	uint64_t rows, cells, cells_deduplicated, loaded, deduplicated;
	struct reduce_collision collision;
	struct reduce_slice *slices; /* rising */
	size_t nslices;
	struct manifest_file *files; /* their paths are relative to the folder of the report */
	size_t nfiles;
};
struct reduce_table {
	const char *name;
	/* the reduced regions, rising; none: the table was not reduced */
	struct reduce_region *regions;
	size_t nregions;
};
struct reduce_report {
	const char *program;
	uint8_t plan[16];
	int64_t created_ms;
	struct reduce_table *tables; /* in the order of the job */
	size_t ntables;
};

extern const struct form map_report_form, reduce_report_form;

/* --- inputs that unite cannot open itself --- */

extern const struct form digest_form, inputs_form;
/* Append one digest as JSON, in the form of `saltmill digest`. */
void input_digest_format(const struct source_digest *d, struct buf *out);
/*
 * Read the file of --inputs: {"inputs": [{"path", "size"}...], "digests": [output of digest...]}.
 * It fills everything except the columns, in *a. RC_DATA: it is not such a file.
 */
int input_list_read(struct source_inputs *l, const char *path, struct arena *a, struct error *err);

/* Write folder/report.json durably. */
int map_report_write(const struct map_report *r, const char *folder, struct error *err);
int reduce_report_write(const struct reduce_report *r, const char *folder, struct error *err);
/* Read folder/report.json into *a. RC_DATA: it is not such a file. */
int map_report_read(struct map_report *r, const char *folder, struct arena *a, struct error *err);
int reduce_report_read(struct reduce_report *r, const char *folder, struct arena *a,
		       struct error *err);

/*
 * --- sent files: HFiles of reduces that wait at the place of the load ---
 *
 * Reduces on many machines share no folder except there (HDFS). Each sends its files to one folder,
 * and unite moves them out of it. That folder is created before the first reduce, never here: once
 * it is removed, a reduce that still runs cannot write. A file's name contains the table, the
 * region and the digest, so a second attempt writes the same file.
 */

/*
 * Send all files of the report, which are below dir, to the folder uri. A file appears under its
 * name only when it is complete and its checksum was compared. RC_IO: a retry may help.
 */
int sent_files_send(const struct reduce_report *r, const char *dir, const char *uri,
		    const struct storage_options *place, struct error *err);
/*
 * Move one file from the folder uri, which is in `to`, to path. RC_DATA: it is missing, or its
 * length differs from the written one.
 */
int sent_files_take(struct storage *to, const char *uri, size_t table, size_t region,
		    const struct manifest_file *f, const char *path, struct error *err);

/*
 * Undo sent_files_take: move the file at f's path below folder back to the folder uri. RC_OK also
 * if the file or the folder uri is gone.
 */
int sent_files_give_back(struct storage *in, const char *uri, size_t table, size_t region,
			 const struct manifest_file *f, const char *folder, struct error *err);
/* RC_CONFIG: uri is on another storage than the load's output, so files cannot be moved there. */
int sent_files_check_place(const char *uri, const char *output, struct error *err);

#endif
