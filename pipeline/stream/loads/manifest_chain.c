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
		return mem_format("its manifest follows load %s, which this state did not make",
				  link->load);
	if (link->known && memcmp(link->digest, l->before_manifest, sizeof link->digest) == 0)
		return NULL;
	return mem_format(
		"its manifest does not follow load %s in the version that this state made",
		l->before);
}

/* Check the manifest itself; the arena owns what is read. */
static char *check_content(const struct state_load *l, const char *path, struct manifest *m,
			   struct arena *arena)
{
	struct error err;
	uint8_t digest[16];
	uint64_t size;

	if (io_digest_file(path, digest, &size, &err))
		return mem_strdup(err.msg);
	if (l->manifest_known && memcmp(digest, l->manifest, sizeof digest) != 0)
		return mem_format("%s differs from the published manifest: it has another digest",
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

/* A load without a folder may be in HBase, or lost. */
static char *say_gone(const struct state_load *l)
{
	return mem_format("%s is gone, and the load is not marked as loaded; if it was loaded: "
			  "`--loaded`, otherwise its events are in no load",
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
	/* nothing is known about a load that was moved before it was recorded */
	if (*gone && !l->handed && l->manifest_known)
		wrong = say_gone(l);
	mem_free(path);
	return wrong;
}
