/* job_files.c - files that a job names, and the digest of the job with them (sections.h) */
#include <string.h>
#include <xxhash.h>

#include "sections.h"

/* Return true for a URI such as "s3://b/in.csv". */
static bool is_uri(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");

	return n && strncmp(name + n, "://", 3) == 0;
}

const char *job_path(struct job *job, const char *name)
{
	char *full;

	if (name[0] == '/' || is_uri(name) || strcmp(name, "-") == 0 || strcmp(job->dir, ".") == 0)
		return name;
	full = mem_format("%s/%s", job->dir, name);
	const char *kept = arena_strdup(&job->arena, full);
	mem_free(full);
	return kept;
}

void job_digest_set(struct job *job, struct bytes text)
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits(text.ptr, text.len));
	memcpy(job->digest, canonical.digest, sizeof job->digest);
}

void job_digest_add(struct job *job, struct bytes file)
{
	uint8_t both[2 * sizeof job->digest];

	memcpy(both, job->digest, sizeof job->digest);
	job_digest_set(job, file);
	memcpy(both + sizeof job->digest, job->digest, sizeof job->digest);
	job_digest_set(job, bytes_of(both, sizeof both));
}
