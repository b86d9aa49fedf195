/*
 * staging_local.c - publish a folder of this machine by one rename
 *
 * The owner locks the sibling's file `.lock` by flock. No table's name begins with a dot. The
 * kernel releases the lock when the owner dies. So a sibling with a free lock is a leftover, which
 * a new run locks and empties. The lock prevents two owners.
 *
 * Order of publishing (stream/loads/README.md 3): sync folders bottom up, remove the lock, sync the
 * sibling, rename without replacing, sync the parent. For a short time after its creation and
 * before its rename, the sibling has no lock file. A run that finds such a sibling waits a second
 * before it treats the sibling as a leftover.
 *
 * A run refuses a sibling of another user, and does not follow links. All calls use descriptors of
 * the folders. So another user who may write beside DIR cannot redirect DIR to another place.
 */
#include "staging.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "mem.h"

enum { LOCK_TRIES = 20, LOCK_PAUSE_MS = 50 };

/* Close `fd` if it is open. Keep errno. */
static void close_if_open(int fd)
{
	int why = errno;

	if (fd >= 0)
		close(fd);
	errno = why;
}

static void release(struct staging *s)
{
	close_if_open(s->lock_fd);
	close_if_open(s->fd);
	close_if_open(s->parent_fd);
}

static const char *final_name(const struct staging *s)
{
	return s->dir + (s->name - s->partial);
}

static int refuse_existing(const struct staging *s, struct error *err)
{
	struct stat st;

	if (fstatat(s->parent_fd, final_name(s), &st, AT_SYMLINK_NOFOLLOW) == 0)
		return error_set(err, RC_CONFIG,
				 "%s exists already; remove it or name another folder", s->dir);
	if (errno != ENOENT)
		return error_set(err, RC_CONFIG, "cannot create %s: %s", s->dir, strerror(errno));
	return RC_OK;
}

static int open_parent(struct staging *s, struct error *err)
{
	s->parent_fd = open(s->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->parent_fd < 0 && errno == ENOTDIR)
		return error_set(
			err, RC_CONFIG,
			"cannot create %s: found %s, expected a folder; choose another place",
			s->dir, s->parent);
	if (s->parent_fd < 0 || faccessat(s->parent_fd, ".", W_OK | X_OK, 0) < 0)
		return error_set(err, RC_CONFIG, "cannot create %s: its parent folder %s: %s",
				 s->dir, s->parent, strerror(errno));
	return RC_OK;
}

/* Refuse a folder of another user, because that user could change the files during the run. */
static int refuse_foreign(const char *path, const struct stat *st, struct error *err)
{
	if (st->st_uid == geteuid())
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "%s already exists: found owner %u, expected user %u; remove it as its "
			 "owner, or choose another folder",
			 path, (unsigned)st->st_uid, (unsigned)geteuid());
}

/* Create or open the sibling. Set `*found` if the sibling existed before. */
static int make_partial(struct staging *s, bool *found, struct error *err)
{
	struct stat st;

	if (mkdirat(s->parent_fd, s->name, 0777) < 0) {
		if (errno != EEXIST)
			return error_set(err, RC_CONFIG, "cannot create %s: %s", s->partial,
					 strerror(errno));
		*found = true;
	}
	close_if_open(s->fd);
	s->fd = openat(s->parent_fd, s->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->fd < 0 && errno == ENOENT)
		return RC_OK; /* another run removed the sibling, which try_lock reports */
	if (s->fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return error_set(err, RC_CONFIG,
				 "%s: found a file that is not a folder; remove "
				 "it",
				 s->partial);
	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return error_set(err, RC_CONFIG, "cannot open %s: %s", s->partial, strerror(errno));
	return *found ? refuse_foreign(s->partial, &st, err) : RC_OK;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Return true if the sibling's path still leads to the open folder. */
static bool partial_in_place(const struct staging *s)
{
	struct stat mine, there;

	return fstat(s->fd, &mine) == 0 &&
	       fstatat(s->parent_fd, s->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       same_file(&mine, &there);
}

/*
 * Return true if the lock's path still leads to the locked file. After the removal of the sibling,
 * the path leads to another file or does not exist.
 */
static bool lock_in_place(const struct staging *s)
{
	struct stat mine, there;

	return partial_in_place(s) && fstat(s->lock_fd, &mine) == 0 &&
	       fstatat(s->fd, STAGING_LOCK, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       same_file(&mine, &there);
}

enum lock_result { LOCK_HELD, LOCK_RETRY, LOCK_FAILED };

static enum lock_result try_lock(struct staging *s, bool create, struct error *err)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (create ? O_CREAT : 0);

	s->lock_fd = s->fd < 0 ? -1 : openat(s->fd, STAGING_LOCK, flags, 0666);
	if (s->lock_fd < 0 && (s->fd < 0 || errno == ENOENT))
		return LOCK_RETRY;
	if (s->lock_fd < 0) {
		error_set(err, RC_CONFIG, "cannot lock %s/%s: %s", s->partial, STAGING_LOCK,
			  errno == ELOOP ? "the lock is a link" : strerror(errno));
		return LOCK_FAILED;
	}
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			error_set(err, RC_CONFIG,
				  "another run writes %s (it locks %s/%s); wait for it, or "
				  "choose another folder",
				  s->dir, s->partial, STAGING_LOCK);
		else
			error_set(err, RC_CONFIG, "cannot lock %s/%s: %s", s->partial, STAGING_LOCK,
				  strerror(errno));
		return LOCK_FAILED;
	}
	if (lock_in_place(s))
		return LOCK_HELD;
	close(s->lock_fd);
	s->lock_fd = -1;
	return LOCK_RETRY;
}

/* Take the sibling and its lock. Set `*found` if the sibling existed before. */
static int acquire(struct staging *s, bool *found, struct error *err)
{
	for (int try = 0; try < LOCK_TRIES; try++) {
		*found = false;
		int rc = refuse_existing(s, err);
		if (rc == RC_OK)
			rc = make_partial(s, found, err);
		if (rc)
			return rc;
		/*
		 * Another run may be about to rename a sibling without a lock. So create a lock
		 * file in an existing sibling only in the last attempt.
		 */
		bool create = !*found || try == LOCK_TRIES - 1;
		switch (try_lock(s, create, err)) {
		case LOCK_HELD: return RC_OK;
		case LOCK_FAILED: return err->code;
		case LOCK_RETRY: clock_sleep_ms(LOCK_PAUSE_MS);
		}
	}
	return error_set(err, RC_CONFIG,
			 "cannot lock %s, because another run creates and removes it; wait for "
			 "that run, or choose another folder",
			 s->partial);
}

/* Remove everything in the sibling except the lock. */
static int empty_partial(const struct staging *s, struct error *err)
{
	int rc = staging_save(s, s->partial, err);

	if (rc == RC_OK && !io_empty_dir(s->fd, STAGING_LOCK))
		rc = error_errno(err, "cannot empty %s", s->partial);
	return rc;
}

static int take(struct staging *s, bool *found, struct error *err)
{
	int rc = open_parent(s, err);

	if (rc == RC_OK)
		rc = acquire(s, found, err);
	return rc == RC_OK && *found ? empty_partial(s, err) : rc;
}

static bool sync_folders(int folder);

/* Sync a folder and all folders in it. The writers have already synced the files. */
static bool sync_entry(int folder, const char *name)
{
	struct stat st;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return true;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (!S_ISDIR(st.st_mode))
		return true;
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool ok = sync_folders(fd);
	close_if_open(fd);
	return ok;
}

/* Sync folders from the bottom up. Return false with errno set on failure. */
static bool sync_folders(int folder)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	if (!d) {
		close_if_open(copy);
		return false;
	}
	bool ok = true;
	const struct dirent *e;
	while (ok && (errno = 0, e = readdir(d)))
		ok = sync_entry(folder, e->d_name);
	int why = errno;
	closedir(d);
	errno = why;
	return ok && !why && fsync(folder) == 0;
}

/* Rename without replacing. If the file system cannot do this (NFS), check first, then rename. */
static bool rename_new(int folder, const char *from, const char *to)
{
	if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0)
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
	struct stat st;
	if (fstatat(folder, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
		errno = EEXIST;
	return errno == ENOENT && renameat(folder, from, folder, to) == 0;
}

/*
 * Handle a failed sync after the rename. A power loss may undo the rename. So rename the folder
 * back, or report that the folder is in place.
 */
static int take_back(struct staging *s, struct error *err)
{
	int rc = error_errno(err, "cannot sync folder %s", s->parent);

	if (rename_new(s->parent_fd, final_name(s), s->name)) {
		/* if this sync succeeds, the load is certainly not published */
		s->renamed = fsync(s->parent_fd) < 0;
		mem_outcome(NULL);
		return rc;
	}
	return error_set(err, rc,
			 "cannot sync folder %s, and cannot rename %s back: published all the "
			 "same as %s, which a power loss may undo",
			 s->parent, s->dir, s->dir);
}

static int keep(struct staging *s, struct error *err)
{
	return fsync(s->parent_fd) < 0 ? error_errno(err, "cannot sync folder %s", s->parent)
				       : RC_OK;
}

static int seal(struct staging *s, struct error *err)
{
	if (!sync_folders(s->fd))
		return error_errno(err, "cannot sync the folders of %s", s->partial);
	if (!partial_in_place(s))
		return error_set(
			err, RC_IO,
			"another program replaced the folder %s during the run; run the load again",
			s->partial);
	if (unlinkat(s->fd, STAGING_LOCK, 0) < 0)
		return error_errno(err, "cannot remove %s/%s", s->partial, STAGING_LOCK);
	if (fsync(s->fd) < 0)
		return error_errno(err, "cannot sync folder %s", s->partial);
	return RC_OK;
}

static int rename_partial(struct staging *s, struct error *err)
{
	int rc = RC_OK;
	char *published = mem_format("published all the same as %s", s->dir);
	bool renamed = rename_new(s->parent_fd, s->name, final_name(s));

	if (renamed)
		mem_outcome(published);
	else
		rc = error_errno(err, "cannot rename %s to %s", s->partial, s->dir);
	mem_free(published);
	/* over a network, a rename may succeed although no answer comes */
	s->renamed = renamed || !partial_in_place(s);
	return renamed && fsync(s->parent_fd) < 0 ? take_back(s, err) : rc;
}

static void drop(struct staging *s)
{
	struct error ignored;

	/* remove the lock last, so that no other run takes the folder before */
	if (s->fd >= 0 && partial_in_place(s)) {
		empty_partial(s, &ignored);
		/* the folder stays if the save of a file in it failed */
		unlinkat(s->fd, STAGING_LOCK, 0);
		unlinkat(s->parent_fd, s->name, AT_REMOVEDIR);
	}
}

const struct staging_kind staging_local = {.take = take,
					   .keep = keep,
					   .seal = seal,
					   .rename = rename_partial,
					   .drop = drop,
					   .release = release};
