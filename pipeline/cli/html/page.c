/* page.c - selects the kind of page for a path (page.h) */
#include "cli/page.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"
#include "pages.h"
#include "storage.h"

static bool holds(const char *dir, const char *name)
{
	char *path = mem_format("%s/%s", dir, name);
	bool there = access(path, F_OK) == 0;

	mem_free(path);
	return there;
}

static int page_folder(struct buf *out, const char *dir, const struct page_files *f,
		       const char **kind, struct error *err)
{
	if (holds(dir, "manifest.json")) {
		*kind = "load";
		return page_load(out, dir, f, err);
	}
	if (holds(dir, "plan.json")) {
		char *json = mem_format("%s/plan.json", dir);

		*kind = "plan";
		int rc = page_plan(out, json, dir, f, err);
		mem_free(json);
		return rc;
	}
	if (holds(dir, "topic.json") || holds(dir, "shared.json")) {
		*kind = "state";
		return page_state(out, dir, f, err);
	}
	return error_set(err, RC_DATA,
			 "%s: found no manifest.json, no plan.json and no topic.json, expected the "
			 "folder of a load, a plan or a state",
			 dir);
}

int page_make(struct buf *out, const char *path, const struct page_files *files, const char **kind,
	      struct error *err)
{
	struct stat st;

	*kind = "load";
	if (storage_is_remote(path))
		return page_load(out, path, files, err);
	*kind = "plan";
	if (stat(path, &st) != 0)
		return error_errno(err, "%s", path);
	if (S_ISDIR(st.st_mode))
		return page_folder(out, path, files, kind, err);
	int rc = page_plan(out, path, NULL, files, err);
	if (rc == RC_DATA) {
		const struct error why = *err;

		error_set(err, RC_DATA,
			  "%s; for a job, run `saltmill load JOB -o DIR`, and then `saltmill "
			  "report DIR`",
			  why.msg);
	}
	return rc;
}
