/*
 * copies.c - identify files in S3, where region servers copy them, and no number survives the copy
 *
 * The proof of a copy is its bytes: it has the length of the file, and the same ETag or digest. It
 * is not older than the upload, because an earlier load may have had a file with the same bytes.
 * Both times are those of the same server.
 */
#include "applying.h"
#include "hash.h"

#define SECOND_MS 1000 /* S3 gives the time of a single object in seconds */

/* ETags are quoted in headers, and may lack the quotes in lists. */
static struct bytes bare(const char *version)
{
	size_t n = strlen(version), quoted = n > 1 && version[0] == '"' && version[n - 1] == '"';

	return bytes_of(version + quoted, n - 2 * quoted);
}

uint64_t place_id(const struct storage_info *info)
{
	struct bytes version = bare(info->version);

	if (info->kind != STORAGE_FILE)
		return 0;
	return info->file_id || !version.len ? info->file_id
					     : XXH3_64bits(version.ptr, version.len) | 1;
}

static bool add_bytes(void *ctx, const void *ptr, size_t n)
{
	return XXH3_128bits_update(ctx, ptr, n) == XXH_OK;
}

static int same_digest(struct storage *s, const char *path, const struct storage_info *info,
		       const uint8_t digest[16], bool *same, struct error *err)
{
	XXH3_state_t sum;
	XXH128_canonical_t c;

	XXH3_128bits_reset(&sum);
	int rc = storage_pass(s, path, info, 0, add_bytes, &sum, err);
	XXH128_canonicalFromHash(&c, XXH3_128bits_digest(&sum));
	*same = rc == RC_OK && memcmp(c.digest, digest, sizeof c.digest) == 0;
	return rc;
}

int copy_is_of(struct applied *t, const struct hand_file *f, const char *folder,
	       const struct storage_entry *e, bool *is, struct error *err)
{
	const struct applied_file *source = &t->sources[f - t->hand.files];
	struct storage *s = t->run->storage;
	struct storage_info upload, copy;
	struct error said;

	*is = false;
	if (e->info.kind != STORAGE_FILE || e->info.bytes != source->bytes)
		return RC_OK;
	int rc = storage_stat(s, f->upload, &upload, err);
	if (rc)
		return rc;
	char *path = mem_format("%s/%s", folder, e->name);
	rc = storage_stat(s, path, &copy, err);
	bool there = rc == RC_OK && copy.kind == STORAGE_FILE &&
		     copy.modified_ms / SECOND_MS >= upload.modified_ms / SECOND_MS;
	struct bytes ours = upload.kind == STORAGE_FILE ? bare(upload.version) : bytes_of(NULL, 0);
	*is = there && ours.len && bytes_eq(ours, bare(copy.version));
	if (there && !*is && same_digest(s, path, &copy, source->digest, is, &said)) {
		/* a compaction may have moved the copy into the archive, where apply looks next */
		rc = storage_stat(s, path, &copy, err);
		if (rc == RC_OK && copy.kind != STORAGE_NOTHING) {
			*err = said;
			rc = said.code;
		}
	}
	mem_free(path);
	return rc;
}
