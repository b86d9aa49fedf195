/*
 * load_rig.h - a job and its input in the test's own folder, loaded and read back
 *
 * Include it after cmocka.h. The job has row key `id` as text, one family f and one cell v a row.
 */
#ifndef SALTMILL_TEST_LOAD_RIG_H
#define SALTMILL_TEST_LOAD_RIG_H

#include <sys/stat.h>
#include <unistd.h>

#include "hfile.h"
#include "load.h"
#include "tests/unit/temp_dir.h"

#define JOB_HEAD                                                                                   \
	"source:\n  csv: {files: [in.csv]}\nfields:\n  n: {type: u32}\n  at: {type: time, unit: "  \
	"s}\n"
#define JOB_TABLE                                                                                  \
	"tables:\n  - name: t\n    rowkey: [{field: id}]\n    timestamp: at\n    families:\n     " \
	" f: "                                                                                     \
	"{versions: 1, compression: NONE}\n    cells:\n      - {family: f, qualifier: v, value: "  \
	"{field: n, as: text}}\n"
#define JOB JOB_HEAD JOB_TABLE "    regions: {split: sampled, count: 2}\n"

static const struct input rig_input; /* the paths that the job names */
static struct run_options rig_options = {.threads = 2,
					 .memory_bytes = 64 << 20,
					 .temp_quota_bytes = UINT64_MAX};

static inline void write_text(const char *name, const char *text)
{
	struct error err;

	unlink(path_of(name)); /* of the previous test */
	if (io_write_file(path_of(name), bytes_str(text), &err))
		fail_msg("%s", err.msg);
}

/* Writes job.yaml and in.csv, then reads the job. */
static inline void open_job(struct job *job, const char *yaml, const char *csv)
{
	struct error err;

	write_text("job.yaml", yaml);
	if (csv)
		write_text("in.csv", csv);
	if (job_load(job, path_of("job.yaml"), &err))
		fail_msg("%s", err.msg);
}

static inline int load_as(const struct job *job, const char *out, uint64_t rejects,
			  struct load_result *result, struct error *err)
{
	char *folder = mem_format("%s/%s", dir, out);
	struct progress progress = {.phase = NULL};
	struct load_options o = {.common = &rig_options,
				 .input = &rig_input,
				 .output_dir = folder,
				 .limit = {.count = rejects}};
	int rc = load_run(job, &o, &progress, result, err);

	mem_free(folder);
	return rc;
}

static inline bool there(const char *name)
{
	struct stat st;

	return lstat(path_of(name), &st) == 0;
}

/* Appends "row f:v@ts=value" lines from the files of a load's table, in the manifest's order. */
static inline void cells_of(struct buf *out, const char *load, const struct manifest_table *t)
{
	struct error err;

	for (size_t i = 0; i < t->nfiles; i++) {
		char *path = mem_format("%s/%s/%s", dir, load, t->files[i].path);
		struct hfile *f;
		struct cell c;

		if (hfile_open(&f, path, &err))
			fail_msg("%s", err.msg);
		hfile_rewind(f);
		while (hfile_next_cell(f, &c, &err) == RC_OK)
			buf_printf(out, "%zu %.*s %.*s:%.*s@%lld=%.*s\n", t->files[i].region,
				   (int)c.row.len, c.row.ptr, (int)c.family.len, c.family.ptr,
				   (int)c.qualifier.len, c.qualifier.ptr, (long long)c.ts,
				   (int)c.value.len, c.value.ptr);
		hfile_close(f);
		mem_free(path);
	}
	buf_put(out, 0);
}

#endif
