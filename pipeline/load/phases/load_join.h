/* load_join.h - join the loads of slices into one load (private to this folder) */
#ifndef SALTMILL_LOAD_JOIN_H
#define SALTMILL_LOAD_JOIN_H

#include "job.h"
#include "publish.h"
#include "run.h"

/* One of the loads to join. */
struct join_part {
	const char *dir;
	struct manifest m;
	size_t place; /* index of the input's path, in the order of first appearance */
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
 * Read files with overlapping rows in parallel. Return RC_DATA if two files have the same cell,
 * because HBase may then return either cell.
 */
int load_check_store(const struct store_range *s, struct progress *progress, struct error *err);

#endif
