/*
 * region_files.h - write the HFiles of one region, with one writer for each family and a new file
 * at a size limit
 */
#ifndef SALTMILL_REGION_FILES_H
#define SALTMILL_REGION_FILES_H

#include "cut.h"

struct region_files {
	const struct cut_table *table;
	size_t region;
	struct hfile_scratch *scratch;
	struct family_file {
		struct hfile_writer *writer; /* NULL before the first cell */
		char *path;		     /* temporary name of the open file */
		unsigned part;
		size_t first, end; /* range in `qualifiers`, if they are constant */
	} * families;		   /* [nfamilies] */
	struct bytes *qualifiers;  /* qualifiers of the table's cells, in row_cells' order */
	/* for each qualifier, the file; NULL if qualifiers are not constant */
	struct family_file **owners;
	struct family_file *only; /* the file of all qualifiers, NULL if there are several */
	uint64_t limit;		  /* size limit of a file in bytes, 0 if none */
	struct cut_result *result;
};

void region_files_init(struct region_files *f, const struct cut_table *t, size_t region,
		       struct hfile_scratch *scratch, struct cut_result *result);
/* Add the next cell of the region. The order within each family is the order of the file. */
int region_files_add(struct region_files *f, const struct row_cell *c, struct error *err);
/*
 * Return true if the caller may use region_files_add_values. All columns must be constant, and
 * their number must be within the limit.
 */
bool region_files_known(const struct region_files *f);
/*
 * Add all cells of a row as row_values returned them, with columns renumbered by family.
 * CELL_ROOM_BYTES after the row key must be readable.
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
/* Close files that reached the size limit. Call this function only between rows. */
static inline int region_files_row_end(struct region_files *f, struct error *err)
{
	return f->limit ? region_files_roll(f, err) : RC_OK;
}
int region_files_finish(struct region_files *f, struct error *err);
/* Drop open files and free the memory. The call is valid even after region_files_finish. */
void region_files_release(struct region_files *f);

#endif
