/* folders.c - the folders of maps and reduces that a command is given */
#include "folders.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"
#include "publish.h"

static void add(struct folders *f, char *path)
{
	f->path = mem_realloc(f->path, (f->n + 1) * sizeof *f->path);
	f->path[f->n++] = path;
}

static bool has_report(const char *folder)
{
	char *path = mem_format("%s/report.json", folder);
	bool there = access(path, F_OK) == 0;
	mem_free(path);
	return there;
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

int folders_add(struct folders *f, const char *path, struct error *err)
{
	size_t before = f->n;
	if (has_report(path) || strcmp(path, "-") == 0) {
		add(f, mem_strdup(path));
		return RC_OK;
	}
	DIR *d = opendir(path);
	if (!d)
		return error_errno(err, "%s", path);
	const struct dirent *e;
	while ((e = readdir(d))) {
		char *inside = is_whole(e->d_name) ? mem_format("%s/%s", path, e->d_name) : NULL;
		if (inside && has_report(inside))
			add(f, inside);
		else
			mem_free(inside);
	}
	closedir(d);
	if (f->n == before)
		return error_set(
			err, RC_DATA,
			"%s: has no report.json, nor a folder with one: expected what a map "
			"or reduce has left",
			path);
	qsort(f->path + before, f->n - before, sizeof *f->path, by_name);
	return RC_OK;
}

void folders_release(struct folders *f)
{
	for (size_t i = 0; i < f->n; i++)
		mem_free(f->path[i]);
	mem_free(f->path);
	*f = (struct folders){0};
}
