/* proposed_job.h - a job from its text, and the proposal of `init` for a file */
#ifndef SALTMILL_CMD_PROPOSED_JOB_H
#define SALTMILL_CMD_PROPOSED_JOB_H

#include "bytes.h"
#include "error.h"
#include "job.h"

/*
 * Load a job from its text, through a temporary file in `temp_dir` (NULL means /tmp). Paths in the
 * text must be absolute, or the input of the command must replace them. Call job_release whatever
 * the result.
 */
int job_of_text(struct job *job, struct bytes yaml, const char *temp_dir, struct error *err);
/* Inspect a file, append the proposed job to `yaml`, and load it. */
int propose_job(struct job *job, struct buf *yaml, const char *file, const char *temp_dir,
		struct error *err);

#endif
