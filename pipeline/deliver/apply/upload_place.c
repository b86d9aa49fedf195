/*
 * upload_place.c - find the storage of the upload folder, and the paths of the files in it
 *
 *   UPLOAD/saltmill-9f8e7d6c5b4a3921/TABLE/FAMILY/FILE    where files wait for their region
 *   TOKEN/FAMILY/FILE                                     where a region server puts them first
 */
#include <stdlib.h>

#include "applying.h"
#include "io.h"

#define LOOK_S	      3 /* seconds to wait with --dry-run, which only reports */
#define PATH_OF_STORE 2 /* scheme:// */

const char *token_path(const char *token)
{
	const char *colon = strchr(token, ':');

	if (!colon)
		return token[0] == '/' ? token : NULL;
	if (strncmp(colon + 1, "//", PATH_OF_STORE) != 0)
		return colon[1] == '/' ? colon + 1 : NULL;
	return strchr(colon + 1 + PATH_OF_STORE, '/');
}

bool token_is_local(const char *token)
{
	return strncmp(token, "file:", 5) == 0;
}

bool token_is_object(const char *token)
{
	return strncmp(token, "s3a:", 4) == 0 || strncmp(token, "s3:", 3) == 0;
}

static char *default_upload(const struct applying *a, const char *token)
{
	const char *path = token_path(token), *dir = a->opt->dir;

	if (!token_is_local(token))
		return mem_format("%.*s/user/%s", (int)(path - token), token, hbase_user(a->hbase));
	char *real = realpath(dir, NULL);
	char *slash = real ? strrchr(real, '/') : NULL;
	if (slash)
		*slash = 0;
	char *out = mem_format("file://%s", real && real[0] ? real : "/");
	free(real);
	return out;
}

/* Returns the authority of "hdfs://AUTHORITY/PATH", without the default port. */
static struct bytes authority(const char *uri)
{
	static const char port[] = ":8020";
	const char *at = strstr(uri, "://");
	size_t n = at ? strcspn(at + 3, "/") : 0, tail = sizeof port - 1;

	if (n > tail && strncmp(at + 3 + n - tail, port, tail) == 0)
		n -= tail;
	return at ? bytes_of(at + 3, n) : (struct bytes){0};
}

/*
 * Checks that --upload is on the HDFS that has HBase's files, because --webhdfs serves no other
 * HDFS. On another HDFS, the path would be another folder.
 */
static int check_authority(const struct applying *a, const char *token, struct error *err)
{
	const char *said = a->opt->upload;
	struct bytes own = authority(token);

	if (said && token_is_object(token) &&
	    (!token_is_object(said) || !bytes_eq(authority(said), own)))
		return error_set(err, RC_CONFIG,
				 "--upload %s: found HBase's files at %.200s, expected a folder of "
				 "the same bucket, such as s3a://%.*s/bulk",
				 said, token, (int)own.len, (const char *)own.ptr);
	if (!said || !a->opt->http || strncmp(said, "hdfs:", 5) != 0 ||
	    bytes_eq(authority(said), own))
		return RC_OK;
	return error_set(
		err, RC_CONFIG,
		"--upload %s is not on the HDFS of HBase's files, which --webhdfs serves: found "
		"%.*s, expected %.*s",
		said, (int)authority(said).len, (const char *)authority(said).ptr, (int)own.len,
		(const char *)own.ptr);
}

/*
 * Notes the upload folder before its first use. A later run with another folder would not find the
 * files in this folder.
 */
static int choose_upload(struct applying *a, const char *token, struct error *err)
{
	const char *said = a->opt->upload;
	bool relative = said && !storage_is_remote(said) && strncmp(said, "file:", 5) != 0;
	char *uri = !said      ? default_upload(a, token)
		    : relative ? realpath(said, NULL)
			       : mem_strdup(said);
	int rc = check_authority(a, token, err);

	if (!uri)
		return error_errno(err, "--upload %s", said);
	if (rc == RC_OK && storage_is_remote(uri) == token_is_local(token))
		rc = error_set(
			err, RC_CONFIG,
			"--upload %s: found HBase's files at %.200s, expected the upload folder in "
			"the same file system; choose another folder with --upload",
			uri, token);
	else if (rc == RC_OK && a->upload && said && strcmp(a->upload, uri) != 0)
		rc = error_set(
			err, RC_CONFIG,
			"--upload %s: this load began with the upload folder %s; use that folder",
			uri, a->upload);
	else if (rc == RC_OK && !a->upload && !a->probing)
		rc = applying_note(a, err, "upload %s", uri);
	if (rc == RC_OK && !a->upload)
		a->upload = mem_strdup(uri);
	free(uri);
	return rc;
}

int upload_storage(struct applying *a, const char *token, struct error *err)
{
	const struct storage_options o = {.user = hbase_user(a->hbase),
					  .http = a->opt->http,
					  .rate = a->opt->rate,
					  .patience_s = a->opt->dry_run ? LOOK_S : 0};

	if (a->storage)
		return RC_OK;
	if (!token_path(token) ||
	    (!token_is_local(token) && !token_is_object(token) && strncmp(token, "hdfs:", 5) != 0))
		return error_set(err, RC_CONFIG,
				 "HBase keeps its files at %.200s, expected HDFS, s3a:// or "
				 "file://: use completebulkload for this cluster",
				 token);
	int rc = choose_upload(a, token, err);
	if (rc == RC_OK)
		rc = kept_storage(a->kept, a->upload, &o, err);
	a->storage = rc == RC_OK ? a->kept->storage : NULL;
	if (rc == RC_OK && token_is_local(token) && hbase_is_secured(a->hbase)) {
		struct storage_token none;

		rc = storage_token(a->storage, a->upload, &none, err); /* before the upload */
	}
	return rc;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void upload_place(struct applied *t, struct hand_file *f, size_t i)
{
	struct arena *kept = &t->run->result->arena;
	const struct applied_file *s = &t->sources[i];
	const char *name = last_part(s->path);
	char *up = mem_format("%s/%s/%s", t->upload_dir, s->family, name);
	char *staged = mem_format("%s/%s/%s", token_path(t->token), s->family, name);

	f->upload = arena_strdup(kept, up);
	f->staged = arena_strdup(kept, staged);
	mem_free(up);
	mem_free(staged);
}

int source_prove(struct applying *a, const struct applied_file *s, struct error *err)
{
	uint8_t digest[16];
	uint64_t bytes;
	int rc = origin_fetch(a, s, err);

	if (rc == RC_OK)
		rc = io_digest_file(s->path, digest, &bytes, err);
	if (rc == RC_OK && (bytes != s->bytes || memcmp(digest, s->digest, sizeof digest) != 0))
		rc = error_set(
			err, RC_DATA,
			"%s: found other bytes than those that the load published; run `saltmill "
			"verify` for details",
			s->path);
	return rc;
}
