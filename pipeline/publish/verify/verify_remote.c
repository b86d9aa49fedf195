/*
 * verify_remote.c - check a load in HDFS or S3
 *
 * The small files are copied to a temporary folder, and each HFile while it is checked. So the check
 * needs the space of a few HFiles, and reads each byte once.
 */
#include "verify_remote.h"

#include <string.h>

#include "io.h"
#include "mem.h"

/* Copy a file. A failure is a finding about the file. */
static void bring(struct findings *out, struct storage *s, const char *name, const char *root)
{
	struct error bad;

	if (load_fetch_file(s, name, root, NULL, NULL, &bad))
		findings_add(out, true, name, "%s", bad.msg);
}

void verify_bring(struct findings *out, struct storage *s, const struct manifest *m,
		  const char *root)
{
	char *rejects = manifest_rejects_path(m);

	bring(out, s, rejects, root);
	mem_free(rejects);
	for (size_t i = 0; i < m->ntables; i++) {
		char *splits = mem_format("%s/splits.txt", m->tables[i].dir);
		char *create = mem_format("%s/create.rb", m->tables[i].dir);

		bring(out, s, splits, root);
		bring(out, s, create, root);
		mem_free(splits);
		mem_free(create);
	}
}

/* Return true if the manifest lists the file, or if an interrupted run may have left it. */
static bool is_known(const struct manifest *m, const char *name)
{
	char *rejects = manifest_rejects_path(m);
	bool known = strcmp(name, rejects) == 0 || strcmp(name, "manifest.json") == 0;

	mem_free(rejects);
	if (m->folder && strncmp(name, m->folder, strlen(m->folder)) == 0)
		known = known || strcmp(name + strlen(m->folder), "/manifest.json") == 0;
	for (size_t i = 0; !known && i < m->ntables; i++) {
		const struct manifest_table *t = &m->tables[i];
		size_t n = strlen(t->dir);

		if (strncmp(name, t->dir, n) == 0)
			known = strcmp(name + n, "/splits.txt") == 0 ||
				strcmp(name + n, "/create.rb") == 0;
		for (size_t k = 0; !known && k < t->nfiles; k++)
			known = strcmp(name, t->files[k].path) == 0;
	}
	return known;
}

/* Look at a folder of the load; `name` is its name within the load, "" for the load itself. */
static int look_into(struct findings *out, struct storage *s, const struct manifest *m,
		     const char *name, struct error *err)
{
	struct arena a = {0};
	struct storage_entry *e;
	size_t n;
	char *path = mem_format("%s%s%s", storage_path(s), *name ? "/" : "", name);
	int rc = storage_list(s, path, &a, &e, &n, err);

	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		char *below = mem_format("%s%s%s", name, *name ? "/" : "", e[i].name);

		/* a load in S3 has all files in its folder; others belong to other runs */
		if (m->folder && !*name && strcmp(below, m->folder) != 0)
			rc = RC_OK;
		else if (e[i].info.kind == STORAGE_FOLDER)
			rc = look_into(out, s, m, below, err);
		else if (!is_known(m, below))
			findings_add(out, true, below, "not listed in the manifest");
		mem_free(below);
	}
	mem_free(path);
	arena_release(&a);
	return rc;
}

void verify_objects(struct findings *out, struct storage *s, const struct manifest *m)
{
	struct error bad;
	size_t before = out->problems;

	if (look_into(out, s, m, "", &bad))
		findings_add(out, true, ".", "%s", bad.msg);
	if (out->problems == before)
		findings_add(out, false, ".", "no other files or folders");
}
