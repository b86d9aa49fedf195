/*
 * fuzz_codes.c - reads a file of codes; the error names the line, or each name leads to its code
 * and back
 */
#include "memory_file.h"

#include "encoding.h"
#include "job.h"
#include "mem.h"

/* %s: the file of codes */
static const char job_text[] = "source: {csv: {files: [x.csv]}}\n"
			       "fields: {c: {codes: %s}}\n"
			       "tables:\n"
			       "  - name: t\n"
			       "    rowkey: [{field: c, as: u32}]\n"
			       "    timestamp: 1\n"
			       "    families: {f: {}}\n"
			       "    cells: [{family: f, qualifier: v, value: c}]\n";

static void check(const struct codes *c)
{
	if (c->n == 0)
		abort();
	for (uint32_t code = 0; code < 300; code++) {
		struct bytes name = codes_name(c, code);
		uint32_t back;

		if (name.ptr && (!codes_find(c, name, &back) || back != code))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct job job;
	struct error err;
	char path[64], job_path[64];
	int fd = memory_file(bytes_of(data, size), path);
	char *text = mem_format(job_text, path);
	int job_fd = memory_file(bytes_str(text), job_path);
	int rc = job_load(&job, job_path, &err);

	expect_sentence(rc, &err);
	for (size_t i = 0; rc == RC_OK && i < job.nfields; i++)
		if (job.fields[i].codes)
			check(job.fields[i].codes);
	job_release(&job);
	mem_free(text);
	close(job_fd);
	close(fd);
	return 0;
}
