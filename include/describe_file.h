/*
 * describe_file.h - what was written, as manifests and reports have it
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

#endif
