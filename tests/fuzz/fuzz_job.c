/* fuzz_job.c - reads any job file, or gets an error that names the file */
#include "memory_file.h"

#include "job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct job job;
	struct error err;
	char path[64];
	int fd = memory_file(bytes_of(data, size), path);
	int rc = job_load(&job, path, &err);

	expect_sentence(rc, &err);
	if (rc && !strstr(err.msg, path))
		abort();
	if (rc == RC_OK && (job.ntables == 0 || job.tables[0].schema.nfamilies == 0))
		abort();
	job_release(&job);
	close(fd);
	return 0;
}
