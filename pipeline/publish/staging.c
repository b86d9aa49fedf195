/*
 * staging.c - a folder that becomes visible by one rename
 *
 * All is written into the sibling DIR.saltmill-partial.  Its file `lock` is held by flock, which
 * the kernel drops when the owner dies, so a sibling whose lock can be had is a leftover and is
 * emptied in place (the lock stays held meanwhile: two runs can never both think it theirs).
 *
 * Order of publishing (topic/README.md 3): folders bottom up, lock away, sibling synced, rename
 * without replacing, parent synced.  Between the moments when the lock file and the sibling
 * itself appear and disappear there is a short window without a lock file; who meets it waits a
 * second before the sibling counts as left behind.
 */
#include "publish.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "mem.h"

enum { LOCK_TRIES = 20, LOCK_PAUSE_MS = 50 };

struct staging {
	char *dir, *partial, *parent, *lock;
	int lock_fd;
};

static void staging_free(struct staging *s)
{
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	mem_free(s->dir);
	mem_free(s->partial);
	mem_free(s->parent);
	mem_free(s->lock);
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
		return error_set(err, RC_CONFIG, "\"%s\" cannot be the name of a new folder", dir);
	s->dir = mem_format("%.*s", (int)n, dir);
	s->partial = mem_format("%s" STAGING_SUFFIX, s->dir);
	s->lock = mem_format("%s/lock", s->partial);
	if (!slash)
		s->parent = mem_strdup(".");
	else
		s->parent = slash == dir ? mem_strdup("/")
					 : mem_format("%.*s", (int)(slash - dir), dir);
	return RC_OK;
}

static int refuse_existing(const struct staging *s, struct error *err)
{
	struct stat st;
	if (lstat(s->dir, &st) == 0)
		return error_set(err, RC_CONFIG,
				 "%s exists already; remove it or name another folder", s->dir);
	if (errno != ENOENT)
		return error_set(err, RC_CONFIG, "cannot create %s: %s", s->dir, strerror(errno));
	return RC_OK;
}

static int check_parent(const struct staging *s, struct error *err)
{
	struct stat st;
	if (stat(s->parent, &st) < 0)
		return error_set(err, RC_CONFIG, "cannot create %s: its parent folder %s: %s",
				 s->dir, s->parent, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return error_set(err, RC_CONFIG, "cannot create %s: %s is not a folder", s->dir,
				 s->parent);
	if (access(s->parent, W_OK | X_OK) < 0)
		return error_set(err, RC_CONFIG, "cannot create %s: its parent folder %s: %s",
				 s->dir, s->parent, strerror(errno));
	return RC_OK;
}

/* The sibling exists behind this; *found says that it was there before. */
static int make_partial(const struct staging *s, bool *found, struct error *err)
{
	if (mkdir(s->partial, 0777) == 0)
		return RC_OK;
	if (errno != EEXIST)
		return error_set(err, RC_CONFIG, "cannot create %s: %s", s->partial,
				 strerror(errno));
	struct stat st;
	if (lstat(s->partial, &st) == 0 && !S_ISDIR(st.st_mode))
		return error_set(err, RC_CONFIG, "%s is in the way and is not a folder",
				 s->partial);
	*found = true;
	return RC_OK;
}

/* The locked file is still the one at its path, not one of a sibling that went meanwhile. */
static bool lock_in_place(const struct staging *s)
{
	struct stat mine, there;
	return fstat(s->lock_fd, &mine) == 0 && stat(s->lock, &there) == 0 &&
	       mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

enum lock_result { LOCK_HELD, LOCK_RETRY, LOCK_FAILED };

static enum lock_result try_lock(struct staging *s, bool create, struct error *err)
{
	s->lock_fd = open(s->lock, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0666);
	if (s->lock_fd < 0 && errno == ENOENT)
		return LOCK_RETRY;
	if (s->lock_fd < 0) {
		error_set(err, RC_CONFIG, "cannot lock %s: %s", s->lock, strerror(errno));
		return LOCK_FAILED;
	}
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			error_set(err, RC_CONFIG,
				  "another run is writing %s (it holds %s); wait for it or name "
				  "another folder",
				  s->dir, s->lock);
		else
			error_set(err, RC_CONFIG, "cannot lock %s: %s", s->lock, strerror(errno));
		return LOCK_FAILED;
	}
	if (lock_in_place(s))
		return LOCK_HELD;
	close(s->lock_fd);
	s->lock_fd = -1;
	return LOCK_RETRY;
}

/* Hold the sibling and its lock.  *found: it was there before. */
static int acquire(struct staging *s, bool *found, struct error *err)
{
	for (int try = 0; try < LOCK_TRIES; try++) {
		*found = false;
		int rc = refuse_existing(s, err);
		if (!rc)
			rc = make_partial(s, found, err);
		if (rc)
			return rc;
		/* a sibling of another run without a lock may be about to be renamed: no lock
		 * file must get into it until it has been seen to stay */
		bool create = !*found || try == LOCK_TRIES - 1;
		switch (try_lock(s, create, err)) {
		case LOCK_HELD: return RC_OK;
		case LOCK_FAILED: return err->code;
		case LOCK_RETRY: clock_sleep_ms(LOCK_PAUSE_MS);
		}
	}
	return error_set(err, RC_CONFIG,
			 "cannot lock %s: it comes and goes; another run is busy there",
			 s->partial);
}

/* Remove all that is in the sibling, except the lock. */
static int empty_partial(const struct staging *s, struct error *err)
{
	DIR *d = opendir(s->partial);
	if (!d)
		return error_errno(err, "cannot open folder %s", s->partial);
	int rc = RC_OK;
	struct dirent *e;
	while (!rc && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    !strcmp(e->d_name, "lock"))
			continue;
		char *path = mem_format("%s/%s", s->partial, e->d_name);
		rc = io_remove_tree(path, err);
		mem_free(path);
	}
	closedir(d);
	return rc;
}

int staging_open(struct staging **out, const char *dir, bool *removed, struct error *err)
{
	*out = NULL;
	*removed = false;
	bool found = false;
	struct staging *s = mem_calloc(1, sizeof *s);
	s->lock_fd = -1;
	int rc = staging_names(s, dir, err);
	if (!rc)
		rc = check_parent(s, err);
	if (!rc)
		rc = acquire(s, &found, err);
	if (!rc && found)
		rc = empty_partial(s, err);
	if (rc) {
		staging_free(s);
		return rc;
	}
	*removed = found;
	*out = s;
	return RC_OK;
}

const char *staging_path(const struct staging *s)
{
	return s->partial;
}

static int sync_folders(const char *path, struct error *err)
{
	char *top = mem_strdup(path);
	char *roots[] = {top, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	int rc = walk ? RC_OK : error_errno(err, "cannot walk folder %s", path);
	FTSENT *e = NULL;
	while (!rc && (errno = 0, e = fts_read(walk))) {
		if (e->fts_info == FTS_DP)
			rc = io_sync_dir(e->fts_path, err);
		else if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR ||
			 e->fts_info == FTS_NS) {
			errno = e->fts_errno;
			rc = error_errno(err, "cannot read %s", e->fts_path);
		}
	}
	if (!rc && errno)
		rc = error_errno(err, "cannot walk folder %s", path);
	if (walk)
		fts_close(walk);
	mem_free(top);
	return rc;
}

/* Rename without replacing.  File systems without that (NFS) get a look and a plain rename. */
static int rename_new(const char *from, const char *to, struct error *err)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return RC_OK;
	if (errno == EINVAL || errno == ENOSYS) {
		struct stat st;
		if (lstat(to, &st) == 0)
			errno = EEXIST;
		else if (errno == ENOENT && rename(from, to) == 0)
			return RC_OK;
	}
	return error_errno(err, "cannot rename %s to %s", from, to);
}

int staging_publish(struct staging *s, struct error *err)
{
	int rc = sync_folders(s->partial, err);
	if (rc)
		return rc;
	if (unlink(s->lock) < 0)
		return error_errno(err, "cannot remove %s", s->lock);
	rc = io_sync_dir(s->partial, err);
	if (!rc)
		rc = rename_new(s->partial, s->dir, err);
	if (rc)
		return rc;
	rc = io_sync_dir(s->parent, err);
	if (rc) {
		/* what may not survive a crash is not published: take it back */
		struct error ignored;
		rename_new(s->dir, s->partial, &ignored);
		return rc;
	}
	staging_free(s);
	return RC_OK;
}

void staging_abort(struct staging *s)
{
	if (!s)
		return;
	struct error ignored;
	/* the lock goes last, so that nobody moves in while things are being removed */
	empty_partial(s, &ignored);
	unlink(s->lock);
	rmdir(s->partial);
	staging_free(s);
}
