/*
 * staging_objects.c - publish objects of a store without renames (S3) by their manifest
 *
 * A run writes all objects below DIR/<16 random hex digits>, and then DIR/manifest.json, which names
 * this folder. The server creates the manifest only if there is none. So a load is visible exactly
 * if its manifest is, and no other run writes into its folder. Readers ignore all other objects.
 *
 * Nobody can see whether another run still works. So a run removes objects of other runs only after
 * it has published its manifest, because no other run can publish then. It removes only folders that
 * have the mark or the manifest of a run, and no objects of other programs.
 *
 * If reduces on many machines sent HFiles, the run's folder is the folder to which they sent them. An
 * earlier unite may have left its files there, or another one may write them at the same time. All of
 * them write the same bytes and remove nothing, so the load of the first manifest is whole.
 */
#include "staging.h"

#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "mem.h"
#include "pool.h"

#define MANIFEST "manifest.json"
#define DIGITS	 16

static int refuse_existing(const struct staging *s, struct error *err)
{
	char *name = storage_name(s->storage, s->dir);
	int rc = error_set(err, RC_CONFIG, "%s exists already; remove it or name another folder",
			   name);

	mem_free(name);
	return rc;
}

static int refuse_other(const struct staging *s, const char *entry, struct error *err)
{
	char *name = storage_name(s->storage, s->dir);
	int rc = error_set(err, RC_CONFIG,
			   "found %.200s in %s, expected no objects; name a folder that no other "
			   "program uses",
			   entry, name);

	mem_free(name);
	return rc;
}

bool staging_is_run(const char *name)
{
	return strlen(name) == DIGITS && strspn(name, "0123456789abcdef") == DIGITS;
}

static bool is_run(const struct storage_entry *e)
{
	return e->info.kind == STORAGE_FOLDER && staging_is_run(e->name);
}

/* Return true if the folder in DIR has an object that only a run of saltmill writes there. */
static int has_object(const struct staging *s, const char *folder, const char *name, bool *out,
		      struct error *err)
{
	struct storage_info there = {0};
	char *path = mem_format("%s/%s/%s", s->dir, folder, name);
	int rc = storage_stat(s->storage, path, &there, err);

	*out = there.kind == STORAGE_FILE;
	mem_free(path);
	return rc;
}

/* Set `*out` if the entry of DIR is the folder of another run. */
static int is_other_run(const struct staging *s, const struct storage_entry *e, bool *out,
			struct error *err)
{
	int rc = RC_OK;

	*out = false;
	if (!is_run(e) || (s->partial && strcmp(e->name, s->name) == 0))
		return RC_OK;
	rc = has_object(s, e->name, STAGING_LOCK, out, err);
	if (rc == RC_OK && !*out)
		rc = has_object(s, e->name, MANIFEST, out, err);
	return rc;
}

/* Check that DIR has only folders of runs. Set `*found` if it has one. */
static int check_entries(struct staging *s, bool *found, struct error *err)
{
	struct arena a = {0};
	struct storage_entry *e;
	size_t n = 0;
	int rc = storage_list(s->storage, s->dir, &a, &e, &n, err);

	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		bool run = false;

		if (strcmp(e[i].name, MANIFEST) == 0)
			rc = refuse_existing(s, err);
		else if (!is_run(&e[i]))
			rc = refuse_other(s, e[i].name, err);
		else
			rc = is_other_run(s, &e[i], &run, err);
		*found |= run;
	}
	arena_release(&a);
	return rc;
}

static int check_absent(struct staging *s, const char *manifest, bool *found, struct error *err)
{
	struct storage_info there = {0}, dir = {0};
	int rc = storage_stat(s->storage, manifest, &there, err);

	if (rc == RC_OK)
		rc = storage_stat(s->storage, s->dir, &dir, err);
	if (rc == RC_OK && (there.kind != STORAGE_NOTHING || dir.kind == STORAGE_FILE))
		rc = refuse_existing(s, err);
	if (rc == RC_OK && dir.kind == STORAGE_FOLDER)
		rc = check_entries(s, found, err);
	return rc;
}

int staging_mark(struct storage *s, const char *folder, struct error *err)
{
	static const char text[] = "an unfinished load of saltmill\n";
	struct storage_info there = {0};
	struct error ignored;
	char *mark = mem_format("%s/" STAGING_LOCK, folder);
	int rc = storage_stat(s, mark, &there, err);

	if (rc == RC_OK && there.kind == STORAGE_NOTHING) {
		rc = storage_write(s, mark, bytes_of(text, sizeof text - 1), NULL, err);
		if (rc && storage_stat(s, mark, &there, &ignored) == RC_OK &&
		    there.kind == STORAGE_FILE)
			rc = RC_OK; /* another process wrote it at the same time */
	}
	mem_free(mark);
	return rc;
}

static int choose_name(struct staging *s, struct error *err)
{
	const char *given = s->rescue.folder;
	uint64_t number = 0;

	if (!given && getrandom(&number, sizeof number, 0) != sizeof number)
		return error_errno(err, "getrandom");
	mem_free(s->partial);
	s->partial = given ? mem_format("%s/%s", s->dir, given)
			   : mem_format("%s/%016" PRIx64, s->dir, number);
	s->name = s->partial + strlen(s->dir) + 1;
	return RC_OK;
}

/* The mark lets a later run find this one, even if it dies during its first upload. */
static int take(struct staging *s, bool *found, struct error *err)
{
	char *manifest = mem_format("%s/" MANIFEST, s->dir);
	int rc = choose_name(s, err);

	if (rc == RC_OK)
		rc = check_absent(s, manifest, found, err);
	mem_free(manifest);
	if (rc == RC_OK)
		rc = staging_mark(s->storage, s->partial, err);
	return rc;
}

static int seal(struct staging *s, struct error *err)
{
	char *mark = mem_format("%s/" STAGING_LOCK, s->partial);
	int rc = storage_remove(s->storage, mark, err);

	mem_free(mark);
	return rc;
}

/* Remove what other runs left. A failure leaves objects that no reader uses. */
static void clear_others(struct staging *s)
{
	struct arena a = {0};
	struct storage_entry *e;
	struct error ignored;
	size_t n = 0;

	if (storage_list(s->storage, s->dir, &a, &e, &n, &ignored))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		char *path = mem_format("%s/%s", s->dir, e[i].name);
		bool run;

		if (is_other_run(s, &e[i], &run, &ignored) == RC_OK && run)
			storage_remove(s->storage, path, &ignored);
		mem_free(path);
	}
	arena_release(&a);
	storage_tidy(s->storage, s->partial); /* a lost answer leaves an upload of this run */
}

/*
 * Return true if the load is certainly not visible: the server has refused the manifest, or another
 * run's manifest is there. Without an answer, the server may still create it.
 */
static bool certainly_absent(struct staging *s, const char *own, const char *manifest, int rc)
{
	struct buf mine = {0}, there = {0};
	struct error ignored;
	bool other =
		storage_read(s->storage, own, STORAGE_MOVE_MOST, &mine, &ignored) == RC_OK &&
		storage_read(s->storage, manifest, STORAGE_MOVE_MOST, &there, &ignored) == RC_OK &&
		!bytes_eq(buf_bytes(&mine), buf_bytes(&there));

	buf_release(&mine);
	buf_release(&there);
	return rc == RC_CONFIG || other;
}

/*
 * Handle a refused manifest. Another unite with our folder may have published, and removed the
 * manifest there, which both have written.
 */
static int lose(struct staging *s, const char *own, const char *manifest, int rc, struct error *err)
{
	struct storage_info mine = {0}, there = {0};
	struct error ignored;

	if (!s->rescue.folder)
		return rc;
	if (rc == RC_IO && storage_stat(s->storage, own, &mine, &ignored) == RC_OK &&
	    mine.kind == STORAGE_NOTHING &&
	    storage_stat(s->storage, manifest, &there, &ignored) == RC_OK &&
	    there.kind == STORAGE_FILE)
		rc = refuse_existing(s, err);
	if (rc == RC_CONFIG)
		storage_remove(s->storage, own, &ignored);
	return rc;
}

static int publish_manifest(struct staging *s, struct error *err)
{
	char *own = mem_format("%s/" MANIFEST, s->partial);
	char *manifest = mem_format("%s/" MANIFEST, s->dir);
	char *name = storage_name(s->storage, s->dir);
	char *published = mem_format("published all the same as %s", name);
	int rc = storage_move(s->storage, own, manifest, err);

	if (rc)
		rc = lose(s, own, manifest, rc, err);
	s->renamed = rc == RC_OK || !certainly_absent(s, own, manifest, rc);
	if (rc == RC_OK) {
		mem_outcome(published);
		clear_others(s);
	}
	mem_free(name);
	mem_free(published);
	mem_free(manifest);
	mem_free(own);
	return rc;
}

static void drop(struct staging *s)
{
	struct error ignored;

	if (s->rescue.folder)
		return; /* it has the only copy of the HFiles, and the next unite uses them */
	if (stop_flag)
		storage_hurry(s->storage);
	storage_remove(s->storage, s->partial, &ignored);
}

static void release(struct staging *s)
{
	(void)s;
}

const struct staging_kind staging_objects = {
	.take = take, .seal = seal, .rename = publish_manifest, .drop = drop, .release = release};
