/*
 * half_reports.h - report.json of a map and of a reduce: what was read and written, for who unites
 * them
 */
#ifndef SALTMILL_HALF_REPORTS_H
#define SALTMILL_HALF_REPORTS_H

#include "publish.h"
#include "source.h"
#include "storage.h"

/* The sorted rows of one region, a row of pieces in the file `runs`. */
struct map_region {
	size_t region;
	uint64_t records, pieces, offset, bytes;
};
struct map_table {
	const char *name;
	uint64_t filtered;	    /* events without a cell for it */
	struct map_region *regions; /* those with records, rising */
	size_t nregions;
};
struct map_report {
	const char *folder;  /* where it was read from; not written */
	const char *program; /* its version */
	uint8_t plan[16];    /* identity of the plan (kept_plan.h) */
	const char *path;    /* of the input */
	/* what was read of it: as struct source_part of source.h */
	uint64_t number, size, head, head_lines, from, to, first, end, lines, seqs, line_base;
	bool head_read, whole, last;
	uint8_t digest[16];
	uint64_t read, rejected, blank_lines; /* events; lines */
	int64_t newest_ms;		      /* cell timestamp; 0: none */
	struct reject_reason *reasons;
	size_t nreasons;
	struct map_table *tables; /* in the order of the job */
	size_t ntables;
	struct manifest_column *columns; /* of the input's schema; none: not written */
	size_t ncolumns;
};

/* What one slice gave to a region. */
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
	struct manifest_file *files; /* paths relative to the folder of the report */
	size_t nfiles;
};
struct reduce_table {
	const char *name;
	struct reduce_region *regions; /* those that were reduced, rising; none: no such table */
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

/* --- inputs that cannot be opened where all is united --- */

extern const struct form digest_form, inputs_form;
/* Append what `saltmill digest` says of one, as JSON. */
void input_digest_format(const struct source_digest *d, struct buf *out);
/*
 * The file of --inputs: {"inputs": [{"path", "size"}...], "digests": [what digest said...]}.  All
 * but the columns, in *a.  RC_DATA when it is no such file.
 */
int input_list_read(struct source_inputs *l, const char *path, struct arena *a, struct error *err);

/* Write folder/report.json durably. */
int map_report_write(const struct map_report *r, const char *folder, struct error *err);
int reduce_report_write(const struct reduce_report *r, const char *folder, struct error *err);
/* Read it; all is in *a.  RC_DATA when it is no such file. */
int map_report_read(struct map_report *r, const char *folder, struct arena *a, struct error *err);
int reduce_report_read(struct reduce_report *r, const char *folder, struct arena *a,
		       struct error *err);

/*
 * --- HFiles of reduces that wait in the place where the load will be
 *
 * Reduces on many machines have no folder in common but there (HDFS): each sends its files to one
 * folder, and who unites moves them from it.  The folder is made before the first reduce and never
 * here: once it is gone, a reduce that is still awake finds no place to write to.  A file's name is
 * that of table, region and digest, so that a second attempt's is the same file.
 */

/*
 * Send all files that the report tells of, which are below dir, to the folder uri.  Each appears
 * under its name only when it is whole and its checksum was compared.  RC_IO: another try may help.
 */
int sent_files_send(const struct reduce_report *r, const char *dir, const char *uri,
		    const struct storage_options *place, struct error *err);
/*
 * Move one from the folder uri, which is in `to`, to path.  RC_DATA: it is not there, or is not as
 * long as it was written.
 */
int sent_files_take(struct storage *to, const char *uri, size_t table, size_t region,
		    const struct manifest_file *f, const char *path, struct error *err);

/*
 * Undo that: the file below folder, at the path that f tells, goes back to where it waited.  RC_OK
 * too when it is not there, or the folder uri is gone.
 */
int sent_files_give_back(struct storage *in, const char *uri, size_t table, size_t region,
			 const struct manifest_file *f, const char *folder, struct error *err);
/* RC_CONFIG: uri is in another place than the load will be, so that nothing can be moved there. */
int sent_files_check_place(const char *uri, const char *output, struct error *err);

#endif
