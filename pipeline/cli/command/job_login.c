#include "job_login.h"

#include "options.h"

bool logs_in_by_job(const struct command *c)
{
	return word_in(
		"load replay map reduce unite plan drift stream get scan watch agree design rekey",
		c->name);
}

static void prefer(const char **option, const char *of_job)
{
	if (!*option)
		*option = of_job;
}

int job_login(const struct arguments *a, const struct job *job, struct error *err)
{
	struct login l = a->login;

	if (job) {
		prefer(&l.principal, job->login.principal);
		prefer(&l.keytab, job->login.keytab);
		prefer(&l.server, job->login.server);
		prefer(&l.ca_file, job->login.ca_file);
		prefer(&l.cert_file, job->login.cert_file);
		prefer(&l.key_file, job->login.key_file);
		l.protection = l.protection ? l.protection : job->login.protection;
	}
	int rc = login_use(&l, err);
	/* the keytab of a job may be on another machine, if no server demands it here */
	return rc == RC_OK && a->login.keytab ? login_check(err) : rc;
}
