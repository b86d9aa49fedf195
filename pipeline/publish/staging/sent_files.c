#include "half_reports.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "staging.h"

static char *sent_path(const char *folder, size_t table, size_t region,
		       const struct manifest_file *f, uint64_t attempt)
{
	struct buf hex = {0};

	bytes_hex(&hex, bytes_of(f->digest, sizeof f->digest));
	buf_append(&hex, "", 1);
	const char *digest = (const char *)hex.ptr;
	char *path = attempt ? mem_format("%s/.%zu.%zu.%s.%016" PRIx64, folder, table, region,
					  digest, attempt)
			     : mem_format("%s/%zu.%zu.%s", folder, table, region, digest);
	buf_release(&hex);
	return path;
}

/*
 * Rename a finished file to its final name. If a file already has that name, another attempt wrote
 * it with the same bytes.
 */
static int give_name(struct storage *s, const char *part, const char *path, uint64_t bytes,
		     struct error *err)
{
	struct storage_info there;
	struct error ignored;
	int rc = storage_move(s, part, path, err);

	if (rc == RC_OK)
		return rc;
	if (storage_stat(s, path, &there, &ignored) == RC_OK && there.kind == STORAGE_FILE &&
	    there.bytes == bytes)
		rc = RC_OK;
	storage_remove(s, part, &ignored);
	return rc;
}

static int send_file(struct storage *s, const char *local, size_t table, size_t region,
		     const struct manifest_file *f, struct error *err)
{
	uint64_t attempt;
	struct storage_info folder;
	struct error ignored;

	if (getrandom(&attempt, sizeof attempt, 0) != sizeof attempt)
		return error_errno(err, "getrandom");
	int rc = storage_stat(s, storage_path(s), &folder, err);
	if (rc == RC_OK && folder.kind != STORAGE_FOLDER)
		rc = error_set(
			err, RC_IO,
			"%s: found no such folder, because the load of this reduce has already "
			"ended",
			storage_path(s));
	if (rc)
		return rc;
	char *part = sent_path(storage_path(s), table, region, f, attempt | 1);
	char *path = sent_path(storage_path(s), table, region, f, 0);
	rc = storage_put(s, local, part, 0, NULL, NULL, err);
	if (rc)
		storage_remove(s, part, &ignored);
	else
		rc = give_name(s, part, path, f->bytes, err);
	mem_free(part);
	mem_free(path);
	return rc;
}

/* An object gets its place in the load at once. Another attempt writes the same bytes again. */
static int send_object(struct storage *s, const char *local, const struct manifest_file *f,
		       struct error *err)
{
	char *path = mem_format("%s/%s", storage_path(s), f->path);
	int rc = storage_put(s, local, path, 0, NULL, NULL, err);

	mem_free(path);
	return rc;
}

static int send_region(struct storage *s, const struct reduce_region *r, size_t table,
		       const char *dir, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < r->nfiles; i++) {
		char *local = mem_format("%s/%s", dir, r->files[i].path);

		rc = storage_renames(s) ? send_file(s, local, table, r->region, &r->files[i], err)
					: send_object(s, local, &r->files[i], err);
		mem_free(local);
	}
	return rc;
}

/* Check that the folder is DIR/<16 hex digits>, which staging_objects.c uses. */
static int check_run_folder(const struct storage *s, const char *uri, const char **name,
			    struct error *err)
{
	*name = strrchr(storage_path(s), '/') + 1;
	if (*name > storage_path(s) + 1 && staging_is_run(*name))
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "--hfiles: found %s, expected a folder in the later load with a name of "
			 "16 hexadecimal digits, like s3://BUCKET/LOAD/0123456789abcdef, because "
			 "S3 has no rename",
			 uri);
}

/* Mark the folder of the load, unless the load has ended. */
static int begin_objects(struct storage *s, const char *uri, struct error *err)
{
	struct storage_info there = {0};
	const char *name;
	int rc = check_run_folder(s, uri, &name, err);

	if (rc)
		return rc;
	char *manifest =
		mem_format("%.*smanifest.json", (int)(name - storage_path(s)), storage_path(s));
	rc = storage_stat(s, manifest, &there, err);
	if (rc == RC_OK && there.kind != STORAGE_NOTHING)
		rc = error_set(err, RC_IO,
			       "%s: found this object, because the load of this reduce has already "
			       "ended",
			       manifest);
	mem_free(manifest);
	return rc ? rc : staging_mark(s, storage_path(s), err);
}

int sent_files_send(const struct reduce_report *r, const char *dir, const char *uri,
		    const struct storage_options *place, struct error *err)
{
	struct storage *s = NULL;
	int rc = storage_open(&s, uri, place, err);

	if (rc == RC_OK && !storage_renames(s))
		rc = begin_objects(s, uri, err);
	for (size_t t = 0; rc == RC_OK && t < r->ntables; t++)
		for (size_t k = 0; rc == RC_OK && k < r->tables[t].nregions; k++)
			rc = send_region(s, &r->tables[t].regions[k], t, dir, err);
	storage_close(s);
	return rc;
}

int sent_files_take(struct storage *to, const char *uri, size_t table, size_t region,
		    const struct manifest_file *f, const char *path, struct error *err)
{
	struct storage *named = NULL;
	struct storage_info there;
	int rc = storage_open(&named, uri, NULL, err);

	if (rc)
		return rc;
	const bool moves = storage_renames(to);
	char *from = moves ? sent_path(storage_path(named), table, region, f, 0) : mem_strdup(path);
	rc = storage_stat(to, from, &there, err);
	if (rc == RC_OK && (there.kind != STORAGE_FILE || there.bytes != f->bytes))
		rc = error_set(err, RC_DATA,
			       "%s: is %s, expected the file of %" PRIu64
			       " bytes that a reduce has sent; reduce its region again",
			       from, there.kind == STORAGE_FILE ? "of another length" : "not there",
			       f->bytes);
	if (rc == RC_OK && moves)
		rc = storage_move(to, from, path, err);
	mem_free(from);
	storage_close(named);
	return rc;
}

static int compare_paths(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

int sent_files_sweep(struct storage *to, const char *root, const char *folder, const char **paths,
		     size_t n, struct error *err)
{
	struct arena a = {0};
	struct storage_entry *e;
	size_t found = 0;
	char *whole = mem_format("%s/%s", root, folder);
	int rc = storage_list(to, whole, &a, &e, &found, err);

	qsort(paths, n, sizeof *paths, compare_paths);
	for (size_t i = 0; rc == RC_OK && i < found; i++) {
		const char *path = arena_format(&a, "%s/%s", folder, e[i].name);

		if (!bsearch(&path, paths, n, sizeof *paths, compare_paths))
			rc = storage_remove(to, arena_format(&a, "%s/%s", root, path), err);
	}
	mem_free(whole);
	arena_release(&a);
	return rc;
}

static int move_back(struct storage *in, const char *from, const char *folder, const char *to,
		     struct error *err)
{
	struct storage_info waits, there = {0};
	int rc = storage_stat(in, folder, &waits, err);

	if (rc == RC_OK && waits.kind == STORAGE_FOLDER)
		rc = storage_stat(in, to, &there, err);
	if (rc || waits.kind != STORAGE_FOLDER || there.kind != STORAGE_NOTHING)
		return rc;
	return storage_move(in, from, to, err);
}

int sent_files_give_back(struct storage *in, const char *uri, size_t table, size_t region,
			 const struct manifest_file *f, const char *folder, struct error *err)
{
	struct storage *named = NULL;
	struct storage_info there;
	int rc = storage_open(&named, uri, NULL, err);

	if (rc)
		return rc;
	char *from = mem_format("%s/%s", folder, f->path);
	char *to = sent_path(storage_path(named), table, region, f, 0);
	rc = storage_stat(in, from, &there, err);
	if (rc == RC_OK && there.kind == STORAGE_FILE && there.bytes == f->bytes)
		rc = move_back(in, from, storage_path(named), to, err);
	mem_free(to);
	mem_free(from);
	storage_close(named);
	return rc;
}

/* Return true if the path is that of an entry of the folder. */
static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	while (n > 1 && folder[n - 1] == '/')
		n--;
	return strncmp(path, folder, n) == 0 && path[n] == '/' && !strchr(path + n + 1, '/');
}

int sent_files_check_place(const char *uri, const char *output, const char **folder,
			   struct arena *arena, struct error *err)
{
	struct storage *sent = NULL, *out = NULL;
	const char *name = NULL;
	int rc = storage_open(&sent, uri, NULL, err);

	if (rc == RC_OK)
		rc = storage_open(&out, output, NULL, err);
	if (rc == RC_OK && !storage_renames(sent))
		rc = check_run_folder(sent, uri, &name, err);
	*folder = name ? arena_strdup(arena, name) : NULL;
	char *a = rc || !storage_is_remote(uri) ? mem_strdup("") : storage_name(sent, "");
	char *b = rc || !storage_is_remote(output) ? mem_strdup("") : storage_name(out, "");
	if (rc == RC_OK && strcmp(a, b) != 0)
		rc = error_set(err, RC_CONFIG,
			       "--hfiles: found %s, expected a folder in the same storage as %s, "
			       "because saltmill moves sent files and does not copy them",
			       uri, output);
	else if (rc == RC_OK && name && !is_below(storage_path(sent), storage_path(out)))
		rc = error_set(err, RC_CONFIG, "--hfiles: found %s, expected a folder in %s", uri,
			       output);
	mem_free(a);
	mem_free(b);
	storage_close(sent);
	storage_close(out);
	return rc;
}

int sent_files_discard(const char *uri, const char *output, const struct storage_options *place,
		       struct error *err)
{
	struct arena arena = {0};
	struct staging_rescue sent = {0};
	struct staging *s = NULL;
	bool removed;
	int rc = sent_files_check_place(uri, output, &sent.folder, &arena, err);

	if (rc == RC_OK && !sent.folder)
		rc = error_set(
			err, RC_CONFIG,
			"--discard-hfiles: found the folder %s, expected a folder of S3; remove "
			"the folder by another program",
			uri);
	if (rc == RC_OK)
		rc = staging_open_at(&s, output, place, &sent, &removed, err);
	if (rc == RC_OK) {
		rc = storage_remove(staging_storage(s), staging_path(s), err);
		staging_leave(s);
	}
	arena_release(&arena);
	return rc;
}
