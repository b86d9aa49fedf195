/*
 * staging.c - publish a folder by one rename
 *
 * saltmill writes all files into the sibling DIR.saltmill-partial, and locks it. A sibling without
 * a running owner is a leftover, which the next run empties. staging_local.c and staging_remote.c
 * have the steps for local and remote folders. This file calls them in this order
 * (stream/loads/README.md 3): make all files durable, remove the lock, rename without replacing,
 * make the rename durable.
 */
#include "staging.h"

#include <string.h>

#include "mem.h"

static void staging_free(struct staging *s)
{
	s->kind->release(s);
	storage_close(s->storage);
	mem_free(s->dir);
	mem_free(s->partial);
	mem_free(s->parent);
	mem_free(s);
}

static int staging_names(struct staging *s, const char *dir, struct error *err)
{
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	const char *slash = memrchr(dir, '/', n);
	const char *base = slash ? slash + 1 : dir;
	size_t base_len = (size_t)(dir + n - base);
	if (base_len == 0 || (base_len == 1 && base[0] == '.') ||
	    (base_len == 2 && base[0] == '.' && base[1] == '.'))
		return error_set(err, RC_CONFIG,
				 "found `%s` as output folder, expected the name of a new folder",
				 dir);
	s->dir = mem_format("%.*s", (int)n, dir);
	s->partial = mem_format("%s" STAGING_SUFFIX, s->dir);
	s->name = s->partial + (base - dir);
	if (!slash)
		s->parent = mem_strdup(".");
	else
		s->parent = slash == dir ? mem_strdup("/")
					 : mem_format("%.*s", (int)(slash - dir), dir);
	return RC_OK;
}

int staging_open_at(struct staging **out, const char *dir, const struct storage_options *place,
		    const struct staging_rescue *rescue, bool *removed, struct error *err)
{
	*out = NULL;
	*removed = false;
	bool found = false;
	struct staging *s = mem_calloc(1, sizeof *s);
	s->kind = &staging_local;
	s->parent_fd = s->fd = s->lock_fd = -1;
	s->rescue = rescue ? *rescue : (struct staging_rescue){0};
	mem_outcome(NULL);
	int rc = *dir ? storage_open(&s->storage, dir, place, err) : RC_OK;
	if (rc == RC_OK && s->storage && !storage_is_here(s->storage))
		s->kind = storage_renames(s->storage) ? &staging_remote : &staging_objects;
	if (rc == RC_OK)
		rc = staging_names(s, s->storage ? storage_path(s->storage) : dir, err);
	if (rc == RC_OK)
		rc = s->kind->take(s, &found, err);
	if (rc) {
		staging_free(s);
		return rc;
	}
	*removed = found;
	*out = s;
	return RC_OK;
}

int staging_open(struct staging **out, const char *dir, bool *removed, struct error *err)
{
	*out = NULL;
	if (storage_is_remote(dir))
		return error_set(
			err, RC_CONFIG,
			"found output %s, expected a folder of this machine; only `load` and "
			"`unite` write elsewhere",
			dir);
	return staging_open_at(out, dir, NULL, NULL, removed, err);
}

const char *staging_path(const struct staging *s)
{
	return s->partial;
}

struct storage *staging_storage(const struct staging *s)
{
	return s->storage;
}

bool staging_is_remote(const struct staging *s)
{
	return s->kind != &staging_local;
}

const char *staging_folder(const struct staging *s)
{
	return s->kind == &staging_objects ? s->name : NULL;
}

int staging_keep(struct staging *s, struct error *err)
{
	return s->kind->keep ? s->kind->keep(s, err) : RC_OK;
}

int staging_publish(struct staging *s, struct error *err)
{
	int rc = s->kind->seal(s, err);

	if (rc == RC_OK)
		rc = s->kind->rename(s, err);
	if (rc == RC_OK)
		staging_free(s);
	return rc;
}

bool staging_was_visible(const struct staging *s)
{
	return s->renamed;
}

void staging_leave(struct staging *s)
{
	staging_free(s);
}

void staging_abort(struct staging *s)
{
	if (!s)
		return;
	/* a power loss may make DIR visible again, so its files must stay */
	if (!s->renamed)
		s->kind->drop(s);
	staging_free(s);
}
