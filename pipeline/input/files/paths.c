#include "source.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input/object.h"

struct list {
	struct arena *arena;
	const char **paths;
	bool *meant; /* for each path, true if a folder or a pattern added it */
	size_t n;
};

static void add(struct list *l, const char *path, bool meant)
{
	l->paths = mem_grow(l->paths, l->n, sizeof *l->paths);
	l->meant = mem_grow(l->meant, l->n, sizeof *l->meant);
	l->paths[l->n] = arena_strdup(l->arena, path);
	l->meant[l->n++] = meant;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool hidden(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return name[0] == '.' || name[0] == '_';
}

/* Add a file, unless the file's name begins with . or _. */
static int add_found(struct list *l, const char *path, struct error *err)
{
	struct stat st;

	if (hidden(path))
		return RC_OK;
	/*
	 * another process has deleted the file, or it is a dangling link, so its rows would be
	 * missing
	 */
	if (stat(path, &st) != 0)
		return error_errno(err, "%s", path);
	if (!S_ISDIR(st.st_mode))
		add(l, path, true);
	return RC_OK;
}

static int add_folder(struct list *l, const char *name, struct error *err)
{
	DIR *folder = opendir(name);
	const struct dirent *entry;
	size_t from = l->n;

	if (!folder)
		return error_errno(err, "%s", name);
	bool slash = name[strlen(name) - 1] == '/';
	int rc = RC_OK;
	while (rc == RC_OK && (errno = 0, entry = readdir(folder)) != NULL) {
		char *path = mem_format("%s%s%s", name, slash ? "" : "/", entry->d_name);

		rc = add_found(l, path, err);
		mem_free(path);
	}
	if (rc == RC_OK && errno)
		rc = error_errno(err, "%s", name);
	closedir(folder);
	if (rc == RC_OK && l->n == from)
		rc = error_set(err, RC_IO,
			       "%s: found no files in this folder, expected at least one", name);
	if (rc == RC_OK)
		qsort(l->paths + from, l->n - from, sizeof *l->paths, by_bytes);
	return rc;
}

static int add_pattern(struct list *l, const char *name, struct error *err)
{
	glob_t found = {0};
	size_t from = l->n;
	int rc = glob(name, GLOB_NOSORT | GLOB_ERR, NULL, &found);

	if (rc != RC_OK && rc != GLOB_NOMATCH) {
		globfree(&found);
		return error_set(err, RC_IO, "%s: cannot search for files that match this pattern",
				 name);
	}
	rc = RC_OK;
	for (size_t i = 0; rc == RC_OK && i < found.gl_pathc; i++)
		rc = add_found(l, found.gl_pathv[i], err);
	globfree(&found);
	if (rc)
		return rc;
	if (l->n == from)
		return error_set(err, RC_IO,
				 "%s: found no file that matches this pattern, "
				 "expected at least one",
				 name);
	qsort(l->paths + from, l->n - from, sizeof *l->paths, by_bytes);
	return RC_OK;
}

static int add_objects(struct list *l, const char *name, struct error *err)
{
	const char **found;
	size_t n;
	int rc = object_list(name, l->arena, &found, &n, err);

	for (size_t i = 0; rc == RC_OK && i < n; i++)
		add(l, found[i], true);
	return rc;
}

static int add_name(struct list *l, const char *name, struct error *err)
{
	struct stat st;

	bool several = strpbrk(name, "*?[") || (*name && name[strlen(name) - 1] == '/');

	if (object_is_remote(name) && several)
		return add_objects(l, name, err);
	if (strncmp(name, "http://", 7) == 0 || strncmp(name, "https://", 8) == 0)
		return error_set(
			err, RC_CONFIG,
			"%s: found a URL, expected a file; write `curl -fsS URL | saltmill load JOB - -o "
			"DIR`",
			name);
	if (strncmp(name, "file://", 7) == 0)
		return error_set(err, RC_CONFIG, "%s: found a URL, expected a file; write `%s`",
				 name, name + 7);
	if (strncmp(name, "“", 3) == 0 || strncmp(name, "„", 3) == 0 || strncmp(name, "‘", 3) == 0)
		return error_set(err, RC_CONFIG,
				 "%s: found typographic quotes, expected ' or \" around the name",
				 name);
	if (isalpha((unsigned char)name[0]) && strncmp(name + 1, ":\\", 2) == 0 &&
	    stat(name, &st) != 0)
		return error_set(
			err, RC_CONFIG,
			"%s: found a path of Windows, expected one of this system; WSL has "
			"the drive in `/mnt/%c`",
			name, tolower((unsigned char)name[0]));
	if (object_is_remote(name)) {
		add(l, name, false);
		return RC_OK;
	}
	if (strcmp(name, "-") != 0 && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
		return add_folder(l, name, err);
	if (strcmp(name, "-") != 0 && strpbrk(name, "*?[") && lstat(name, &st) != 0)
		return add_pattern(l, name, err);
	add(l, name, false);
	return RC_OK;
}

/*
 * Fail if the list has a file twice. A user may name a file twice on purpose. A file that a name
 * and a pattern both match is a mistake.
 */
static int check_twice(const struct list *l, struct error *err)
{
	const char **sorted = mem_alloc((l->n + 1) * sizeof *sorted);
	const char *twice = NULL;
	bool meant = false;

	memcpy(sorted, l->paths, l->n * sizeof *sorted);
	qsort(sorted, l->n, sizeof *sorted, by_bytes);
	for (size_t i = 1; i < l->n && !meant; i++) {
		if (strcmp(sorted[i - 1], sorted[i]) != 0)
			continue;
		twice = sorted[i];
		for (size_t k = 0; k < l->n; k++)
			meant = meant || (l->meant[k] && strcmp(l->paths[k], twice) == 0);
	}
	mem_free(sorted);
	if (!meant)
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "%s: found this file twice, at least once by a pattern or a folder, "
			 "expected each file once; remove one of the two from the command or the "
			 "job",
			 twice);
}

int paths_expand(struct arena *a, const char *const *names, size_t n, const char ***paths,
		 size_t *npaths, struct error *err)
{
	struct list l = {.arena = a};
	int rc = RC_OK;

	for (size_t i = 0; i < n && rc == RC_OK; i++)
		rc = add_name(&l, names[i], err);
	if (rc == RC_OK)
		rc = check_twice(&l, err);
	*npaths = l.n;
	*paths = arena_alloc(a, (l.n + 1) * sizeof **paths);
	if (l.n)
		memcpy(*paths, l.paths, l.n * sizeof **paths);
	mem_free(l.paths);
	mem_free(l.meant);
	return rc;
}
