/* measure_job.h - the designs of jobs with questions, for several commands */
#ifndef SALTMILL_CMD_MEASURE_JOB_H
#define SALTMILL_CMD_MEASURE_JOB_H

#include "arguments.h"
#include "design.h"

/* Run design_run with the options of the command line, and a line of progress. */
int run_design(struct design_result *out, const struct arguments *a, const struct job *job,
	       const struct input *input, double disk_ratio, bool only_job, struct error *err);
/* Read the questions of --queries into the options of the command, as if they were --ask. */
int read_queries(struct queries *q, struct arguments *a, struct error *err);

#endif
