/*
 * describe_file.h - what was read and written, as manifests and reports have it
 */
#ifndef SALTMILL_DESCRIBE_FILE_H
#define SALTMILL_DESCRIBE_FILE_H

#include "cut.h"
#include "publish.h"

/* A copy in the arena. */
struct bytes arena_bytes(struct arena *a, struct bytes b);
/* All of *m is in the arena; its path is relative to the folder that has the tables' folders. */
void describe_file(struct arena *a, const struct table *schema, size_t region,
		   const struct cut_file *f, struct manifest_file *m);

struct source;
/* What the first input's schema has, in the arena; *n 0: it has none, or was not opened here. */
struct manifest_column *schema_columns(struct arena *a, struct source *s, size_t *n);

#endif
