/* fuzz_sniff.c - of any file init makes a job that can be read, the same each time, or says why not
 */
#include "memory_file.h"

#include "job.h"
#include "mem.h"
#include "sniff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf yaml = {0}, again = {0};
	struct error err;
	struct job job;
	char path[64], job_path[64];
	int fd = memory_file(bytes_of(data, size), path);
	int rc = sniff_file(path, "in.csv", &yaml, &err);

	expect_sentence(rc, &err);
	if (sniff_file(path, "in.csv", &again, &err) != rc)
		abort();
	if (rc == RC_OK) {
		int job_fd = memory_file(buf_bytes(&yaml), job_path);

		expect_same(buf_bytes(&yaml), buf_bytes(&again));
		if (job_load(&job, job_path, &err)) {
			fprintf(stderr, "%s\n%.*s", err.msg, (int)yaml.len, (char *)yaml.ptr);
			abort();
		}
		job_release(&job);
		close(job_fd);
	}
	buf_release(&yaml);
	buf_release(&again);
	close(fd);
	return 0;
}
