/* region_files.h - the HFiles of one region: one writer a family, rolled at a size limit */
#ifndef SALTMILL_REGION_FILES_H
#define SALTMILL_REGION_FILES_H

#include "cut.h"

struct region_files {
	const struct cut_table *table;
	size_t region;
	struct hfile_scratch *scratch;
	struct family_file {
		struct hfile_writer *writer; /* NULL: nothing written yet */
		char *path;		     /* temporary name of the open file */
		unsigned part;
		size_t first, end;   /* in qualifiers, when they are constant */
	} * families;		     /* [nfamilies] */
	struct bytes *qualifiers;    /* of the table's cells, in row_cells' order */
	struct family_file **owners; /* theirs, by place; NULL: they are not constant */
	struct family_file *only;    /* of all of them; NULL: of several */
	uint64_t limit;		     /* of a file's bytes; 0: none */
	struct cut_result *result;
};

void region_files_init(struct region_files *f, const struct cut_table *t, size_t region,
		       struct hfile_scratch *scratch, struct cut_result *result);
/* The next cell of its family. */
int region_files_add(struct region_files *f, const struct row_cell *c, struct error *err);
/* Whether region_files_add_values may be used: all columns are constant, and not too many. */
bool region_files_known(const struct region_files *f);
/*
 * All cells of a row as row_values gave them, whose column numbers become those of their family.
 * CELL_ROOM_BYTES from the row key's first on may be read.
 */
int region_files_share_values(struct region_files *f, struct bytes row, int64_t ts,
			      struct cell_value *values, size_t count, struct error *err);
static inline int region_files_add_values(struct region_files *f, struct bytes row, int64_t ts,
					  struct cell_value *values, size_t count,
					  struct error *err)
{
	const struct family_file *only = f->only;

	if (only && only->writer)
		return hfile_add_values(only->writer, row, ts, values, count, err);
	return region_files_share_values(f, row, ts, values, count, err);
}
int region_files_roll(struct region_files *f, struct error *err);
/* Between rows: close files that reached the size limit. */
static inline int region_files_row_end(struct region_files *f, struct error *err)
{
	return f->limit ? region_files_roll(f, err) : RC_OK;
}
int region_files_finish(struct region_files *f, struct error *err);
/* Drop what is open and release; also after a finish. */
void region_files_release(struct region_files *f);

#endif
