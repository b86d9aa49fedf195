/* folders.c - lists of folders in options and operands (folders.h) */
#include "folders.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "mem.h"
#include "publish.h"

static void add(struct folders *f, char *path)
{
	f->path = mem_grow(f->path, f->n, sizeof *f->path);
	f->path[f->n++] = path;
}

/*
 * Finds out whether the folder contains a report. Fails if it cannot read the folder, because the
 * folder may contain a report.
 */
static int find_report(const char *folder, bool *there, struct error *err)
{
	char *path = mem_format("%s/report.json", folder);
	int rc = io_exists(path, there, err);

	mem_free(path);
	return rc;
}

static bool is_whole(const char *name)
{
	size_t len = strlen(name), end = strlen(STAGING_SUFFIX);

	return *name != '.' && (len < end || strcmp(name + len - end, STAGING_SUFFIX) != 0);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_inside(struct folders *f, const char *path, struct error *err)
{
	DIR *d = opendir(path);
	if (!d)
		return error_errno(err, "%s", path);
	const struct dirent *e;
	int rc = RC_OK;
	while (rc == RC_OK && (errno = 0, e = readdir(d))) {
		bool there = false;

		if (!is_whole(e->d_name))
			continue;
		char *inside = mem_format("%s/%s", path, e->d_name);
		rc = find_report(inside, &there, err);
		if (there)
			add(f, inside);
		else
			mem_free(inside);
	}
	if (rc == RC_OK && errno)
		rc = error_errno(err, "%s", path);
	closedir(d);
	return rc;
}

int folders_add(struct folders *f, const char *path, struct error *err)
{
	size_t before = f->n;
	bool there = strcmp(path, "-") == 0;
	int rc = there ? RC_OK : find_report(path, &there, err);

	if (rc == RC_OK && there) {
		add(f, mem_strdup(path));
		return RC_OK;
	}
	if (rc == RC_OK)
		rc = add_inside(f, path, err);
	if (rc == RC_OK && f->n == before)
		rc = error_set(err, RC_DATA,
			       "%s: found no report.json in the folder or its subfolders, expected "
			       "the output of a map or reduce",
			       path);
	if (rc)
		return rc;
	qsort(f->path + before, f->n - before, sizeof *f->path, by_name);
	return RC_OK;
}

void folders_add_plainly(struct folders *f, const char *path)
{
	add(f, mem_strdup(path));
}

void folders_release(struct folders *f)
{
	for (size_t i = 0; i < f->n; i++)
		mem_free(f->path[i]);
	mem_free(f->path);
	*f = (struct folders){0};
}
