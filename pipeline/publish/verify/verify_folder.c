/*
 * verify_folder.c - check that DIR has no files or folders that the manifest does not list
 *
 * The walk reports an unknown folder and does not enter it. So the walk is never deeper than a
 * load. The walk uses descriptors and does not follow links. The walk does not report missing
 * files, because other checks report them. A family without cells needs no folder.
 */
#include "publish.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"

enum { DEEPEST = 8 }; /* namespace, table, hfiles, family and file, with some reserve */

struct names {
	char **item;
	size_t count;
};

struct walk {
	const struct manifest *manifest;
	struct names files, folders; /* expected in DIR, sorted */
	struct findings *out;
};

/* Add `name`. The list then owns the name. */
static void add_name(struct names *n, char *name)
{
	n->item = mem_grow(n->item, n->count, sizeof *n->item);
	n->item[n->count++] = name;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_names(struct names *n)
{
	if (n->count)
		qsort(n->item, n->count, sizeof *n->item, by_text);
}

static bool has_name(const struct names *n, const char *name)
{
	return n->count && bsearch(&name, n->item, n->count, sizeof *n->item, by_text);
}

static void names_release(struct names *n)
{
	for (size_t i = 0; i < n->count; i++)
		mem_free(n->item[i]);
	mem_free(n->item);
}

/* Add the folders above a file. */
static void add_folders_of(struct walk *w, const char *path)
{
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++)
		add_name(&w->folders, mem_format("%.*s", (int)(slash - path), path));
}

static void add_file(struct walk *w, char *path)
{
	add_folders_of(w, path);
	add_name(&w->files, path);
}

static void expect(struct walk *w)
{
	const struct manifest *m = w->manifest;

	add_file(w, mem_strdup("manifest.json"));
	add_file(w, manifest_rejects_path(m));
	for (size_t i = 0; i < m->ntables; i++) {
		const struct manifest_table *t = &m->tables[i];

		add_file(w, mem_format("%s/splits.txt", t->dir));
		add_file(w, mem_format("%s/create.rb", t->dir));
		add_name(&w->folders, mem_format("%s/hfiles", t->dir));
		for (size_t k = 0; k < t->nfamilies; k++)
			add_name(&w->folders,
				 mem_format("%s/hfiles/%s", t->dir, t->families[k].name));
		for (size_t k = 0; k < t->nfiles; k++)
			add_file(w, mem_strdup(t->files[k].path));
	}
	sort_names(&w->files);
	sort_names(&w->folders);
	for (size_t i = 1; i < w->files.count; i++)
		if (strcmp(w->files.item[i - 1], w->files.item[i]) == 0)
			findings_add(w->out, true, w->files.item[i],
				     "the manifest lists this file twice");
}

/*
 * Return true if the folder may belong to a family. A manifest of an old version does not list the
 * families.
 */
static bool may_be_family(const struct manifest *m, const char *path)
{
	for (size_t i = 0; i < m->ntables; i++) {
		const struct manifest_table *t = &m->tables[i];
		size_t n = strlen(t->dir);

		if (t->nfamilies == 0 && strncmp(path, t->dir, n) == 0 &&
		    strncmp(path + n, "/hfiles/", 8) == 0 && !strchr(path + n + 8, '/'))
			return true;
	}
	return false;
}

/*
 * Read the names in an open folder, and close the folder. Return false with errno set on failure.
 */
static bool read_names(int fd, struct names *out)
{
	const struct dirent *e;

	DIR *d = fdopendir(fd);
	if (!d) {
		int why = errno;

		close(fd);
		errno = why;
		return false;
	}
	while ((errno = 0, e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			add_name(out, mem_strdup(e->d_name));
	int why = errno;
	closedir(d);
	errno = why;
	sort_names(out);
	return why == 0;
}

static void walk_folder(struct walk *w, int above, const char *name, const char *path, int depth);

static void look_at(struct walk *w, int folder, const char *name, const char *path, int depth)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		findings_add(w->out, true, path, "cannot be read: %s", strerror(errno));
	else if (!S_ISDIR(st.st_mode) && !has_name(&w->files, path))
		findings_add(w->out, true, path, "not listed in the manifest");
	else if (!S_ISDIR(st.st_mode))
		return;
	else if (depth < DEEPEST &&
		 (has_name(&w->folders, path) || may_be_family(w->manifest, path)))
		walk_folder(w, folder, name, path, depth + 1);
	else
		findings_add(w->out, true, path, "a folder that the manifest does not list");
}

static void walk_folder(struct walk *w, int above, const char *name, const char *path, int depth)
{
	struct names names = {0};
	int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
	int list = fd < 0 ? -1 : openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (list < 0 || !read_names(list, &names))
		findings_add(w->out, true, depth ? path : ".", "cannot be read: %s",
			     strerror(errno));
	for (size_t i = 0; i < names.count; i++) {
		char *below = depth ? mem_format("%s/%s", path, names.item[i])
				    : mem_strdup(names.item[i]);

		look_at(w, fd, names.item[i], below, depth);
		mem_free(below);
	}
	if (fd >= 0)
		close(fd);
	names_release(&names);
}

void verify_folder(struct findings *out, const char *dir, const struct manifest *m)
{
	struct walk w = {.manifest = m, .out = out};
	size_t before = out->problems;

	expect(&w);
	walk_folder(&w, AT_FDCWD, dir, "", 0);
	if (out->problems == before)
		findings_add(out, false, ".", "no other files or folders");
	names_release(&w.files);
	names_release(&w.folders);
}
