/*
 * load_join.h - loads of slices, joined side by side (inside pipeline/load/phases only)
 */
#ifndef SALTMILL_LOAD_JOIN_H
#define SALTMILL_LOAD_JOIN_H

#include "job.h"
#include "publish.h"
#include "run.h"

/* One of the loads. */
struct join_part {
	const char *dir;
	struct manifest m;
	size_t place; /* index of the input's path, by first appearance */
};
/* A file of the joined load. */
struct joined_file {
	const struct join_part *part;
	const struct manifest_file *file;
};

/* The files of one region and family. */
struct store_range {
	const struct job_table *table;
	size_t region;
	const char *family;
	struct joined_file *files; /* [n] */
	size_t n;
};

/*
 * Read the files whose rows overlap beside each other.  RC_DATA: two files have the same cell, and
 * HBase would show either.
 */
int load_check_store(const struct store_range *s, struct progress *progress, struct error *err);

#endif
