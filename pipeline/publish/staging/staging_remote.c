/*
 * staging_remote.c - publish a remote folder by one rename
 *
 * The sibling's lock is a lease (lease.h). A run renames a sibling without a running owner to
 * DIR.saltmill-partial-removed, and then removes it. Only one run can do this rename. The server
 * answers a write only after it has stored the bytes, so this file needs no sync.
 */
#include "staging.h"

#include <string.h>

#include "clock.h"
#include "lease.h"
#include "mem.h"
#include "pool.h"

#define GAP_MS 1000

static char *lock_path(const struct staging *s)
{
	return mem_format("%s/%s", s->partial, STAGING_LOCK);
}

static int look_around(struct staging *s, struct error *err)
{
	struct storage_info parent = {0}, dir = {0};
	int rc = storage_stat(s->storage, s->parent, &parent, err);

	if (rc == RC_OK && parent.kind != STORAGE_FOLDER)
		rc = error_set(err, RC_CONFIG,
			       "cannot create %s: its parent folder %s does not exist", s->dir,
			       s->parent);
	if (rc == RC_OK)
		rc = storage_stat(s->storage, s->dir, &dir, err);
	if (rc == RC_OK && dir.kind != STORAGE_NOTHING)
		rc = error_set(err, RC_CONFIG,
			       "%s exists already; remove it or name another folder", s->dir);
	return rc;
}

static int remove_folder(const struct staging *s, const char *folder, struct error *err)
{
	struct storage_info there;
	int rc = storage_stat(s->storage, folder, &there, err);

	if (rc == RC_OK && there.kind == STORAGE_FOLDER)
		rc = staging_save(s, folder, err);
	return rc ? rc : storage_remove(s->storage, folder, err);
}

/* Rename a leftover sibling, then remove it. */
static int remove_left(struct staging *s, struct error *err)
{
	char *aside = mem_format("%s-removed", s->partial);
	int rc = remove_folder(s, aside, err);

	if (rc == RC_OK)
		rc = storage_move(s->storage, s->partial, aside, err);
	if (rc == RC_OK)
		rc = remove_folder(s, aside, err);
	mem_free(aside);
	return rc;
}

/*
 * Wait for a lock to appear. Directly after its creation and before its rename, a sibling has no
 * lock although its owner is running.
 */
static int wait_for_lock(struct staging *s, const char *lock, struct storage_info *there,
			 struct error *err)
{
	struct storage_info found;
	int rc = storage_stat(s->storage, lock, &found, err);

	if (rc || found.kind != STORAGE_NOTHING || there->kind != STORAGE_FOLDER)
		return rc;
	clock_sleep_ms(GAP_MS);
	return storage_stat(s->storage, s->partial, there, err);
}

static int refuse_owner(struct staging *s, const struct storage_info *there, const char *lock,
			struct error *err)
{
	bool alive = false;
	const char *user = storage_user(s->storage);

	if (user && strcmp(there->owner, user) != 0)
		return error_set(err, RC_CONFIG,
				 "%s already exists: found owner %s, expected %s; remove it as its "
				 "owner, or choose another folder",
				 s->partial, there->owner, user);
	int rc = lease_alive(s->storage, lock, &alive, err);
	if (rc == RC_OK && alive)
		rc = error_set(err, RC_CONFIG,
			       "another run writes %s (it locks %s); wait for it, or choose "
			       "another folder",
			       s->dir, lock);
	return rc;
}

static int clear_way(struct staging *s, bool *found, struct error *err)
{
	struct storage_info there;
	int rc = storage_stat(s->storage, s->partial, &there, err);

	if (rc || there.kind == STORAGE_NOTHING)
		return rc;
	char *lock = lock_path(s);
	rc = wait_for_lock(s, lock, &there, err);
	*found = rc == RC_OK && there.kind != STORAGE_NOTHING;
	if (*found && there.kind != STORAGE_FOLDER)
		rc = error_set(err, RC_CONFIG, "%s: found a file that is not a folder; remove it",
			       s->partial);
	else if (*found)
		rc = refuse_owner(s, &there, lock, err);
	mem_free(lock);
	if (rc)
		return rc;
	return *found ? remove_left(s, err) : look_around(s, err);
}

/*
 * Clean up if the caller did not get the lock. Remove the sibling, unless another run has locked
 * it.
 */
static void leave(struct staging *s, const char *lock)
{
	struct storage_info there;
	struct error ignored;

	if (storage_stat(s->storage, lock, &there, &ignored) == RC_OK &&
	    there.kind == STORAGE_NOTHING)
		storage_remove(s->storage, s->partial, &ignored);
}

/*
 * Set `*ours` if the sibling is still the folder that this run took, not a folder of another run.
 */
static int look_whether_ours(const struct staging *s, bool *ours, struct error *err)
{
	struct storage_info there = {0};
	int rc = storage_stat(s->storage, s->partial, &there, err);

	*ours = rc == RC_OK && there.kind == STORAGE_FOLDER && there.file_id &&
		there.file_id == s->partial_id;
	return rc;
}

static int taken_over(const struct staging *s, struct error *err)
{
	return error_set(
		err, RC_IO,
		"another run took %s, because this run did not touch the lock for too long; "
		"start again",
		s->partial);
}

static int take(struct staging *s, bool *found, struct error *err)
{
	int rc = look_around(s, err);

	if (rc == RC_OK)
		rc = clear_way(s, found, err);
	if (rc == RC_OK)
		rc = storage_make_dirs(s->storage, s->partial, 0, err);
	if (rc)
		return rc;
	char *lock = lock_path(s);
	rc = lease_take(&s->lease, s->storage, lock, err);
	if (rc)
		leave(s, lock);
	mem_free(lock);
	struct storage_info there = {0};
	if (rc == RC_OK)
		rc = storage_stat(s->storage, s->partial, &there, err);
	s->partial_id = there.file_id;
	return rc;
}

static int seal(struct staging *s, struct error *err)
{
	bool held, ours = false;
	int rc = lease_held(s->lease, &held, err);

	if (rc == RC_OK && held)
		rc = look_whether_ours(s, &ours, err);
	if (rc)
		return rc;
	if (!ours)
		return taken_over(s, err);
	lease_end(s->lease);
	s->lease = NULL;
	char *lock = lock_path(s);
	rc = storage_remove(s->storage, lock, err);
	mem_free(lock);
	return rc;
}

static int rename_partial(struct staging *s, struct error *err)
{
	struct storage_info left;
	struct error ignored;
	bool ours;
	int rc = look_whether_ours(s, &ours, err);

	if (rc || !ours)
		return rc ? rc : taken_over(s, err);
	char *published = mem_format("published all the same as %s", s->dir);
	rc = storage_move(s->storage, s->partial, s->dir, err);
	/* the rename has certainly failed only if the sibling still exists */
	s->renamed = rc == RC_OK ||
		     storage_stat(s->storage, s->partial, &left, &ignored) != RC_OK ||
		     left.kind == STORAGE_NOTHING;
	if (rc == RC_OK)
		mem_outcome(published);
	mem_free(published);
	return rc;
}

static void drop(struct staging *s)
{
	struct error ignored;
	bool ours = false;

	if (stop_flag)
		storage_hurry(s->storage);
	/*
	 * without a lease, the sibling belongs to this run only between the lease's removal and the
	 * rename
	 */
	if (s->lease && (lease_held(s->lease, &ours, &ignored) || !ours))
		return;
	if (look_whether_ours(s, &ours, &ignored) == RC_OK && ours)
		remove_folder(s, s->partial, &ignored);
}

static void release(struct staging *s)
{
	lease_end(s->lease);
}

const struct staging_kind staging_remote = {
	.take = take, .seal = seal, .rename = rename_partial, .drop = drop, .release = release};
