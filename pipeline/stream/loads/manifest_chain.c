#include "stream.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "publish.h"

static char *check_link(const struct state_load *l, const struct manifest_link *link)
{
	if (!l->before_known && !link->known)
		return NULL;
	if (!l->before_known)
		return mem_format("the manifest of the load follows load %s, which this state did "
				  "not make",
				  link->load);
	if (link->known && memcmp(link->digest, l->before_manifest, sizeof link->digest) == 0)
		return NULL;
	return mem_format(
		"the manifest of the load does not follow load %s in the version that this state "
		"made",
		l->before);
}

/*
 * Check the manifest of one load. The arena owns *m. Return a description of the fault, or NULL if
 * there is none.
 */
static char *check_content(const struct state_load *l, const char *path, struct manifest *m,
			   struct arena *arena)
{
	struct error err;
	uint8_t digest[16];
	uint64_t size;

	if (io_digest_file(path, digest, &size, &err))
		return mem_strdup(err.msg);
	if (l->manifest_known && memcmp(digest, l->manifest, sizeof digest) != 0)
		return mem_format(
			"%s differs from the published manifest, because it has another digest",
			path);
	return manifest_read(m, path, arena, &err) ? mem_strdup(err.msg) : NULL;
}

static char *check_manifest(const struct state_load *l, const char *path)
{
	struct arena arena = {0};
	struct manifest m;
	char *wrong = check_content(l, path, &m, &arena);

	if (!wrong)
		wrong = check_link(l, &m.previous);
	arena_release(&arena);
	return wrong;
}

char *manifest_chain_content(const struct state_load *l)
{
	struct arena arena = {0};
	struct manifest m;

	if (l->phase != STATE_PUBLISHED)
		return NULL;
	char *path = mem_format("%s/manifest.json", l->dir);
	bool gone = access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
	char *wrong = gone ? NULL : check_content(l, path, &m, &arena);
	arena_release(&arena);
	mem_free(path);
	return wrong;
}

/* Describe a load whose folder is missing. The load may be in HBase, or lost. */
static char *say_gone(const struct state_load *l)
{
	return mem_format(
		"%s does not exist, and the load has no mark as loaded; if HBase has it, mark it "
		"with `--loaded`; otherwise its events are in no load",
		l->dir);
}

char *manifest_chain_check(const struct state_load *l, bool *gone)
{
	*gone = false;
	if (l->phase != STATE_PUBLISHED)
		return NULL;
	char *path = mem_format("%s/manifest.json", l->dir), *wrong = NULL;
	if (access(path, F_OK) == 0)
		wrong = l->manifest_known ? check_manifest(l, path) : NULL;
	else if (errno != ENOENT && errno != ENOTDIR)
		wrong = mem_format("%s: %s", path, strerror(errno));
	else
		*gone = true;
	/* if the folder moved before the write of the record, the manifest is unknown */
	if (*gone && !l->handed && l->manifest_known)
		wrong = say_gone(l);
	mem_free(path);
	return wrong;
}
