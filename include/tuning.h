/*
 * tuning.h - `compression: {codec: ZSTD, level: auto}`: settings from the table's own cells
 */
#ifndef SALTMILL_TUNING_H
#define SALTMILL_TUNING_H

#include "cut.h"
#include "publish.h"
#include "sorter.h"

/* Does a family ask for it? */
bool tuning_asked(const struct table *schema);
/*
 * When families ask for it: try settings on cells from evenly spaced places of the key space, and
 * let t->table be a copy (in the arena) with what was found; *tuned has an entry a family, level 0
 * where nothing was asked or there are no cells.  Otherwise *tuned is NULL.  work_dir is a folder
 * that is made and removed.
 */
int tuning_decide(struct cut_table *t, struct sorter *sorter, unsigned threads,
		  const char *work_dir, struct arena *a, struct hfile_tuning **tuned,
		  struct error *err);

/* Let t->table be a copy (in the arena) with these settings, an entry a family, level 0: none. */
void tuning_apply(struct cut_table *t, const struct hfile_tuning *tuned, struct arena *a);
/* The same as the manifest has them, in the arena; tuned NULL: none.  Returns how many. */
size_t tuning_describe(const struct table *schema, const struct hfile_tuning *tuned,
		       struct arena *a, struct manifest_tuning **out);

#endif
