/* cmd_key.h - what `saltmill key encode`, `decode` and `ranges` share (inside this room only) */
#ifndef SALTMILL_CMD_KEY_H
#define SALTMILL_CMD_KEY_H

#include "arguments.h"
#include "field.h"
#include "key.h"

/* A job's table, its keys and how its fields are read. */
struct key_desk {
	struct job job;
	const struct job_table *table;
	struct key_table keys;
	struct field_forms forms;
	bool hex, json;
	const struct arguments *args;
};

/* cmd_key_ranges.c: append the scans that answer a query.  RC_CONFIG: where is NULL or wrong. */
int key_ranges_print(struct key_desk *d, const char *where, struct buf *out, struct error *err);

#endif
