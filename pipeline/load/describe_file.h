/* describe_file.h - describe inputs and files as manifests and reports do */
#ifndef SALTMILL_DESCRIBE_FILE_H
#define SALTMILL_DESCRIBE_FILE_H

#include "cut.h"
#include "publish.h"

/* Fill *m in the arena. Its path is relative to the folder that contains the tables' folders. */
void describe_file(struct arena *a, const struct table *schema, size_t region,
		   const struct cut_file *f, struct manifest_file *m);

struct source;
/*
 * The columns of the first input's schema, in the arena. *n 0: no schema, or the input is not open
 * here.
 */
struct manifest_column *schema_columns(struct arena *a, struct source *s, size_t *n);

#endif
