/* describe_file.h - describe inputs and files for manifests and reports */
#ifndef SALTMILL_DESCRIBE_FILE_H
#define SALTMILL_DESCRIBE_FILE_H

#include "cut.h"
#include "publish.h"

/*
 * Describe file `f` in `*m`. Strings are in the arena. The path is relative to the folder that
 * contains the tables' folders.
 */
void describe_file(struct arena *a, const struct table *schema, size_t region,
		   const struct cut_file *f, struct manifest_file *m);

struct source;
/*
 * Return the columns of the first input's schema, in the arena. Set `*n` to 0 if there is no
 * schema, or if this process has not opened the input.
 */
struct manifest_column *schema_columns(struct arena *a, struct source *s, size_t *n);

#endif
