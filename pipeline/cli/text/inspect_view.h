/* inspect_view.h - the contents of an HFile and their JSON forms (inside pipeline/cli/text only) */
#ifndef SALTMILL_SHOW_INSPECT_VIEW_H
#define SALTMILL_SHOW_INSPECT_VIEW_H

#include "cli/inspect.h"
#include "mem.h"

struct trailer_view {
	struct hfile_trailer t;
	const char *version, *compression, *comparator;
};
struct bloom_view {
	struct hfile_bloom b;
	const char *type;
};
/* Contents of an HFile. `lists` contains the arrays of views. */
struct inspection {
	const char *path;
	bool opened, each_block;
	struct trailer_view trailer;
	struct bloom_view bloom;
	const void *file_info, *root_index, *block_types, *blocks;
	size_t nfile_info, nroot_index, nblock_types, nblocks;
	/* always unset here, because the caller writes the cells */
	const void *cells;
	size_t ncells;
	const char *error;
	struct arena arena;
	struct buf lists[4];
};

extern const struct form trailer_form, bloom_form, info_form, index_form, block_type_form,
	block_form;

/* Appends a time such as "2013-01-01T10:15:00.000Z". Appends nothing for years after 9999. */
void put_cell_time(struct buf *b, int64_t ms);

#endif
