/* proposed_job.c - loads a job that is not in a file yet */
#include "proposed_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "first_rows.h"

static int write_all(int fd, struct bytes text, struct error *err)
{
	for (size_t done = 0; done < text.len;) {
		ssize_t n = write(fd, text.ptr + done, text.len - done);

		if (n < 0 && errno != EINTR)
			return error_errno(err, "a temporary file");
		done += n > 0 ? (size_t)n : 0;
	}
	return RC_OK;
}

int job_of_text(struct job *job, struct bytes yaml, const char *temp_dir, struct error *err)
{
	char path[64];
	int fd = io_open_temp(temp_dir ? temp_dir : "/tmp", err);

	*job = (struct job){0};
	if (fd < 0)
		return err->code;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int rc = write_all(fd, yaml, err);
	if (rc == RC_OK)
		rc = job_load(job, path, err);
	close(fd);
	return rc;
}

int propose_job(struct job *job, struct buf *yaml, const char *file, const char *temp_dir,
		struct error *err)
{
	struct sniff s = {0};
	char *whole = realpath(file, NULL);

	*job = (struct job){0};
	if (!whole)
		return error_errno(err, "%s", file);
	int rc = sniff_file(file, whole, &s, err);
	free(whole);
	if (rc == RC_OK)
		rc = job_of_text(job, buf_bytes(&s.yaml), temp_dir, err);
	if (rc == RC_OK) {
		buf_append(yaml, s.yaml.ptr, s.yaml.len);
		job->path = arena_strdup(&job->arena, file); /* for messages */
	}
	sniff_release(&s);
	return rc;
}
