/* files.h - the HFiles of one region: one writer a family, rolled at a size limit */
#ifndef SALTMILL_CUT_FILES_H
#define SALTMILL_CUT_FILES_H

#include "cut.h"

struct region_files {
	const struct cut_table *table;
	size_t region;
	struct hfile_scratch *scratch;
	struct family_file {
		struct hfile_writer *writer; /* NULL: nothing written yet */
		char *path;                  /* temporary name of the open file */
		unsigned part;
	} *families;                         /* [nfamilies] */
	struct cut_result *result;
};

void region_files_init(struct region_files *f, const struct cut_table *t, size_t region,
		       struct hfile_scratch *scratch, struct cut_result *result);
/* Cells of one row, a family's cells together; any number of calls a row. */
int region_files_add(struct region_files *f, const struct cell *cells, size_t count,
		     struct error *err);
/* Between rows: close files that reached the size limit. */
int region_files_row_end(struct region_files *f, struct error *err);
int region_files_finish(struct region_files *f, struct error *err);
/* Drop what is open and release; also after a finish. */
void region_files_release(struct region_files *f);

#endif
