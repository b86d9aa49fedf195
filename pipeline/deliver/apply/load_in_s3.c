/*
 * load_in_s3.c - use the files of a load in S3 without a copy on this machine
 *
 * If HBase's root is in S3, too, the server copies each file, and its bytes do not pass this
 * machine. Three facts replace the digest of a file that apply reads: the file has the length in the
 * manifest, it is not newer than the manifest, which a load writes last, and the ETag of the copy is
 * that of the file. Otherwise, apply reads the file and compares its digest.
 */
#include <stdatomic.h>

#include "applying.h"
#include "io.h"

#define SECOND_MS 1000 /* S3 gives the time of a single object in seconds */

static int look(const struct applying *a, const char *name, char **path, struct storage_info *info,
		struct error *err)
{
	*path = mem_format("%s/%s", storage_path(a->origin), name);
	return storage_stat(a->origin, *path, info, err);
}

int origin_open(struct applying *a, struct error *err)
{
	struct storage_info info = {0};
	char *path = NULL;
	int rc = a->opt->origin ? storage_open(&a->origin, a->opt->origin, NULL, err) : RC_OK;

	if (rc == RC_OK && a->origin)
		rc = look(a, "manifest.json", &path, &info, err);
	a->origin_ms = info.modified_ms;
	mem_free(path);
	return rc;
}

int origin_fetch(struct applying *a, const struct applied_file *s, struct error *err)
{
	bool here = false;
	int rc = io_exists(s->path, &here, err);

	if (rc || here || !s->name)
		return rc;
	if (!a->origin)
		return error_set(err, RC_DATA,
				 "%s: missing; if %s is the copy of a load in S3, run `apply` with "
				 "the URI of the load and `--copy-to %s`",
				 s->path, a->opt->dir, a->opt->dir);
	return load_fetch_file(a->origin, s->name, a->opt->dir, s->digest, NULL, err);
}

int origin_copy(struct applied *t, const struct applied_file *s, const char *path, bool *copied,
		struct error *err)
{
	struct applying *a = t->run;
	struct storage_info info;
	char *from = NULL;

	*copied = false;
	if (!a->origin || !s->name || !t->hand.proves)
		return RC_OK;
	int rc = look(a, s->name, &from, &info, err);
	if (rc == RC_OK && (info.kind != STORAGE_FILE || info.bytes != s->bytes ||
			    info.modified_ms / SECOND_MS > a->origin_ms / SECOND_MS)) {
		error_set(err, RC_DATA, "%s/%s has changed since its load was published",
			  a->opt->origin, s->name);
		rc = RC_END;
	}
	if (rc == RC_OK)
		rc = storage_copy(a->storage, a->origin, from, &info, path, err);
	*copied = rc == RC_OK;
	if (rc == RC_END && !atomic_exchange(&a->origin_said, true))
		applying_say(a, "apply reads files of the load, because S3 does not copy them: %s",
			     err->msg);
	mem_free(from);
	return rc == RC_END ? RC_OK : rc;
}
