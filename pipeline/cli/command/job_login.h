/* job_login.h - log in as the options and the job demand (inside this folder only) */
#ifndef SALTMILL_CMD_JOB_LOGIN_H
#define SALTMILL_CMD_JOB_LOGIN_H

#include "arguments.h"
#include "job.h"

/* Return true if the command calls job_login after it has read its job. */
bool logs_in_by_job(const struct command *c);
/*
 * Set the login of the process from the options and, for options that are not given, from the key
 * `security` of the job, which may be NULL. The job must outlive all connections.
 */
int job_login(const struct arguments *a, const struct job *job, struct error *err);

#endif
