/* fuzz_plan_file.c - merges the file of `plan --save`, also with itself, or gets an error */
#include "memory_file.h"

#include "mem.h"
#include "mend_frames.h"
#include "planning.h"

static const char job_text[] = "source: {csv: {files: [x.csv]}}\n"
			       "tables:\n"
			       "  - name: t\n"
			       "    rowkey: [{field: id}]\n"
			       "    timestamp: 1\n"
			       "    families: {f: {}}\n"
			       "    cells: [{family: f, qualifier: v, value: {field: v}}]\n";

static const struct job *only_job(void)
{
	static struct job job;
	struct error err;
	char path[64];

	if (job.ntables)
		return &job;
	int fd = memory_file(bytes_str(job_text), path);
	if (job_load(&job, path, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	close(fd);
	return &job;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct table_sample sample = {0};
	struct buf file = {0};
	struct error err;
	char path[64];
	const struct job *job = only_job();

	buf_append(&file, data, size);
	mend_frames(file.ptr, file.len);
	int fd = memory_file(buf_bytes(&file), path);
	struct planning_counts counts = {0};
	struct arena arena = {0};
	int rc = samples_merge(job, &sample, &counts, &arena, path, &err);
	expect_sentence(rc, &err);
	if (rc == RC_OK &&
	    (samples_merge(job, &sample, &counts, &arena, path, &err) || !sample.sample))
		abort();
	sample_free(sample.sample);
	arena_release(&arena);
	buf_release(&file);
	close(fd);
	return 0;
}
