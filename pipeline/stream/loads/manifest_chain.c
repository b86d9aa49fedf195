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
		return mem_format("its manifest follows a load %s that this state did not make",
				  link->load);
	if (link->known && memcmp(link->digest, l->before_manifest, sizeof link->digest) == 0)
		return NULL;
	return mem_format("its manifest does not follow load %s as this state made it", l->before);
}

/* The manifest itself; what is read lives in the arena. */
static char *check_content(const struct state_load *l, const char *path, struct manifest *m,
			   struct arena *arena)
{
	struct error err;
	uint8_t digest[16];
	uint64_t size;

	if (io_digest_file(path, digest, &size, &err))
		return mem_strdup(err.msg);
	if (l->manifest_known && memcmp(digest, l->manifest, sizeof digest) != 0)
		return mem_format("%s is not what was published: it has another digest", path);
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

/* What stands in no folder can be in HBase, or be lost. */
static char *say_gone(const struct state_load *l)
{
	return mem_format("%s is gone, and nobody has said that it was loaded; if it was: "
			  "`--loaded`, else its events are in no load any more",
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
	/* of one that was moved before it was recorded nothing is known */
	if (*gone && !l->handed && l->manifest_known)
		wrong = say_gone(l);
	mem_free(path);
	return wrong;
}
