/* cmd_key.h - shared by `saltmill key encode`, `decode` and `ranges` (inside this folder only) */
#ifndef SALTMILL_CMD_KEY_H
#define SALTMILL_CMD_KEY_H

#include "arguments.h"
#include "field.h"
#include "key.h"

/* A table of a job, with the layout of its keys and the forms of its fields. */
struct key_desk {
	struct job job;
	const struct job_table *table;
	struct key_table keys;
	struct field_forms forms;
	bool hex, json;
	const struct arguments *args;
};

/*
 * Append the scans that answer a query (cmd_key_ranges.c). Returns RC_CONFIG if `where` is NULL or
 * invalid.
 */
int key_ranges_print(struct key_desk *d, const char *where, struct buf *out, struct error *err);

#endif
