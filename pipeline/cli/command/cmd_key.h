/* cmd_key.h - what `saltmill key encode`, `decode` and `ranges` share (inside pipeline/cli/command only) */
#ifndef SALTMILL_CMD_KEY_H
#define SALTMILL_CMD_KEY_H

#include "cmd.h"
#include "field.h"
#include "key.h"

struct key_arguments {
	const char *table, *where, *form; /* --table, --where; --from, --to or --format */
	uint64_t limit;			  /* ranges: --limit, 0: none */
	char **dirs;			  /* ranges: loads or plans of the table */
	int ndirs;
};

/* A job's table, its keys and how its fields are read. */
struct key_desk {
	struct job job;
	const struct job_table *table;
	struct key_table keys;
	struct field_forms forms;
	bool hex, json;
	const struct key_arguments *args;
};

/* cmd_key_ranges.c: the answer to a question; where NULL: there is none, which is an error. */
int key_ranges_print(struct key_desk *d, const char *where, struct buf *out, struct error *err);

#endif
