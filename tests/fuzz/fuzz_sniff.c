/* fuzz_sniff.c - for any file, init makes the same valid job each time, or reports why it cannot
 */
#include "memory_file.h"

#include "job.h"
#include "mem.h"
#include "first_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sniff made = {0}, other = {0};
	struct error err;
	struct job job;
	char path[64], job_path[64];
	int fd = memory_file(bytes_of(data, size), path);
	int rc = sniff_file(path, "in.csv", &made, &err);

	expect_sentence(rc, &err);
	if (sniff_file(path, "in.csv", &other, &err) != rc)
		abort();
	if (rc == RC_OK) {
		int job_fd = memory_file(buf_bytes(&made.yaml), job_path);

		expect_same(buf_bytes(&made.yaml), buf_bytes(&other.yaml));
		if (job_load(&job, job_path, &err)) {
			fprintf(stderr, "%s\n%.*s", err.msg, (int)made.yaml.len,
				(char *)made.yaml.ptr);
			abort();
		}
		job_release(&job);
		close(job_fd);
	}
	sniff_release(&made);
	sniff_release(&other);
	close(fd);
	return 0;
}
