/* fetch.c - copy remote loads, or some of their files, to this machine */
#include "publish.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"

#define COPYING ".copying" /* end of the name of an incomplete file */

struct copying {
	struct out_file out;
	struct progress *progress;
};

static bool take_bytes(void *ctx, const void *ptr, size_t n)
{
	struct copying *c = ctx;

	out_write(&c->out, ptr, n);
	progress_add(c->progress, n);
	return c->out.errnum == 0;
}

static int copy_to(struct storage *s, const char *from, const struct storage_info *info,
		   const char *to, uint8_t digest[16], struct progress *progress, struct error *err)
{
	struct copying c = {.progress = progress};
	int rc = out_open(&c.out, to, 0, err);

	if (rc)
		return rc;
	rc = storage_pass(s, from, info, 0, take_bytes, &c, err);
	out_digest(&c.out, digest);
	if (rc == RC_OK || rc == RC_END)
		return out_finish(&c.out, err);
	out_abort(&c.out);
	return rc;
}

/* Make the folders above a file. Another thread may make the same ones. */
static int make_folders(const char *root, const char *name, struct error *err)
{
	int rc = RC_OK;

	for (const char *slash = strchr(name, '/'); slash && rc == RC_OK;
	     slash = strchr(slash + 1, '/')) {
		char *folder = mem_format("%s/%.*s", root, (int)(slash - name), name);

		if (mkdir(folder, 0777) < 0 && errno != EEXIST)
			rc = error_errno(err, "cannot create folder %s", folder);
		mem_free(folder);
	}
	return rc;
}

int load_fetch_file(struct storage *s, const char *name, const char *root, const uint8_t *digest,
		    struct progress *progress, struct error *err)
{
	struct storage_info info;
	uint8_t found[16];
	char *from = mem_format("%s/%s", storage_path(s), name),
	     *to = mem_format("%s/%s", root, name), *temp = mem_format("%s" COPYING, to);
	int rc = make_folders(root, name, err);

	if (rc == RC_OK)
		rc = storage_stat(s, from, &info, err);
	if (rc == RC_OK && info.kind != STORAGE_FILE)
		rc = error_set(err, RC_DATA, "%s: missing", name);
	unlink(temp); /* a run that died may have left this file */
	if (rc == RC_OK)
		rc = copy_to(s, from, &info, temp, found, progress, err);
	if (rc == RC_OK && digest && memcmp(found, digest, sizeof found) != 0)
		rc = error_set(err, RC_DATA,
			       "%s: found other bytes than those that the load published; run "
			       "`saltmill verify` for details",
			       name);
	if (rc == RC_OK && rename(temp, to) < 0)
		rc = error_errno(err, "cannot rename %s", temp);
	if (rc)
		unlink(temp);
	mem_free(temp);
	mem_free(from);
	mem_free(to);
	return rc;
}

char *manifest_rejects_path(const struct manifest *m)
{
	return mem_format("%s%srejects.jsonl", m->folder ? m->folder : "", m->folder ? "/" : "");
}

static int fetch_table(struct storage *s, const struct manifest_table *t, const char *root,
		       bool later, struct progress *progress, struct error *err)
{
	char *splits = mem_format("%s/splits.txt", t->dir);
	char *create = mem_format("%s/create.rb", t->dir);
	int rc = load_fetch_file(s, splits, root, t->splits_digest, NULL, err);

	if (rc == RC_OK)
		rc = load_fetch_file(s, create, root, t->create_digest, NULL, err);
	for (size_t i = 0; rc == RC_OK && !later && i < t->nfiles; i++)
		rc = load_fetch_file(s, t->files[i].path, root, t->files[i].digest, progress, err);
	mem_free(splits);
	mem_free(create);
	return rc;
}

static int fetch_all(struct storage *s, const struct manifest *m, const char *root, bool later,
		     struct progress *progress, struct error *err)
{
	uint64_t bytes = 0;
	char *rejects = manifest_rejects_path(m);

	for (size_t i = 0; i < m->ntables; i++)
		for (size_t k = 0; k < m->tables[i].nfiles; k++)
			bytes += later ? 0 : m->tables[i].files[k].bytes;
	progress_begin(progress, "copying", PROGRESS_BYTES, bytes);
	int rc = load_fetch_file(s, rejects, root, m->digests.known ? m->digests.rejects : NULL,
				 NULL, err);
	for (size_t i = 0; rc == RC_OK && i < m->ntables; i++)
		rc = fetch_table(s, &m->tables[i], root, later, progress, err);
	if (rc == RC_OK)
		rc = load_fetch_file(s, "manifest.json", root, NULL, NULL, err);
	mem_free(rejects);
	return rc;
}

static int check_copy(const struct manifest *m, const char *dir, const char *manifest,
		      struct error *err)
{
	struct arena a = {0};
	struct manifest here;
	int rc = manifest_read(&here, manifest, &a, err);

	if (rc == RC_OK && (!m->digests.known || memcmp(m->digests.manifest, here.digests.manifest,
							sizeof here.digests.manifest) != 0))
		rc = error_set(err, RC_CONFIG, "%s: found another load, expected a new folder",
			       dir);
	arena_release(&a);
	return rc;
}

static int fetch_new(struct storage *s, const struct manifest *m, const char *dir, bool later,
		     struct progress *progress, struct error *err)
{
	struct staging *to;
	bool removed;
	int rc = staging_open(&to, dir, &removed, err);

	if (rc)
		return rc;
	rc = fetch_all(s, m, staging_path(to), later, progress, err);
	if (rc == RC_OK)
		rc = staging_publish(to, err);
	if (rc)
		staging_abort(to);
	return rc;
}

int load_fetch(const char *uri, const char *dir, bool *later, struct progress *progress,
	       struct error *err)
{
	struct arena a = {0};
	struct manifest m;
	struct storage *s = NULL;
	struct stat st;
	char *remote = mem_format("%s/manifest.json", uri);
	char *here = mem_format("%s/manifest.json", dir);
	int rc = manifest_read(&m, remote, &a, err);

	if (rc == RC_OK)
		rc = storage_open(&s, uri, NULL, err);
	*later = rc == RC_OK && !storage_renames(s);
	if (rc == RC_OK && lstat(dir, &st) == 0)
		rc = check_copy(&m, dir, here, err);
	else if (rc == RC_OK)
		rc = fetch_new(s, &m, dir, *later, progress, err);
	storage_close(s);
	mem_free(here);
	mem_free(remote);
	arena_release(&a);
	return rc ? error_prefix(err, "%s: ", uri) : RC_OK;
}
