/* describe_file.h - describe the schema of the inputs for manifests and reports */
#ifndef SALTMILL_DESCRIBE_FILE_H
#define SALTMILL_DESCRIBE_FILE_H

#include "publish.h"

struct source;
/*
 * Return the columns of the first input's schema, in the arena. Set `*n` to 0 if there is no
 * schema, or if this process has not opened the input.
 */
struct manifest_column *schema_columns(struct arena *a, struct source *s, size_t *n);

#endif
