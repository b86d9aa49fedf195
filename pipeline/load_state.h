/*
 * load_state.h - what the phases of one load share; only load.c and load_publish.c see it
 */
#ifndef SALTMILL_LOAD_STATE_H
#define SALTMILL_LOAD_STATE_H

#include "cut/cut.h"
#include "load.h"
#include "sorter.h"
#include "splits.h"

/* One table on its way. */
struct load_table {
	const struct job_table *job;
	struct row_weigher weigher;
	struct sorter *sorter;
	char *dir;                 /* below the staging folder */
	struct cut_table cut;
	struct hfile_tuning *tuned; /* [families] in the result's arena; NULL: none asked */
	struct splits splits;
	size_t wanted;              /* regions; fewer come out when rows are heavier than a region */
	struct cut_result *results; /* [splits.count + 1] */
};

struct load {
	const struct job *job;
	const struct load_options *opt;
	struct progress *progress;
	struct load_result *result;
	struct budget budget;
	struct staging *staging;
	const char *temp_dir;
	struct rejects *rejects;
	struct reading reading;
	struct load_table *tables;
	size_t *task_table;   /* writing: which table and region a task is */
	size_t *task_region;
	size_t ntasks;
	struct cutter **cutters;
};

/* Scripts, counts, manifest; then the one rename that publishes. */
int load_publish(struct load *l, struct error *err);

#endif
