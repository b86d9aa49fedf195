/* file_storage.c - read and write local folders, for file:///PATH and plain paths */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "backend.h"
#include "io.h"
#include "pool.h"

#define PIECE ((size_t)1 << 20)

static int open_place(struct storage *s, const char *scheme, const char *rest,
		      const struct storage_options *opt, struct error *err)
{
	(void)opt;
	if (*scheme && strncmp(rest, "//", 2) == 0)
		rest += 2;
	if (*scheme && *rest != '/')
		return error_set(
			err, RC_CONFIG,
			"found path file://%.200s, expected file:///PATH, because saltmill "
			"cannot access files of other hosts",
			rest);
	s->prefix = mem_strdup(*scheme ? "file://" : "");
	s->path = mem_strdup(rest);
	return RC_OK;
}

static void close_place(struct storage *s)
{
	(void)s;
}

static int look(int folder, const char *name, struct storage_info *out)
{
	struct stat st;

	*out = (struct storage_info){0};
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno;
	*out = (struct storage_info){.kind = S_ISDIR(st.st_mode) ? STORAGE_FOLDER : STORAGE_FILE,
				     .bytes = S_ISDIR(st.st_mode) ? 0 : (uint64_t)st.st_size,
				     .file_id = st.st_ino,
				     .mode = st.st_mode & 07777,
				     .modified_ms = (int64_t)st.st_mtim.tv_sec * 1000 +
						    st.st_mtim.tv_nsec / 1000000};
	return 0;
}

static int stat_path(struct storage *s, const char *path, struct storage_info *out,
		     struct error *err)
{
	(void)s;
	errno = look(AT_FDCWD, path, out);
	return errno && errno != ENOENT && errno != ENOTDIR
		       ? error_errno(err, "cannot look at %s", path)
		       : RC_OK;
}

static int list_folder(struct storage *s, const char *path, struct arena *a,
		       struct storage_entry **out, size_t *n, struct error *err)
{
	(void)s;
	struct buf all = {0};
	const struct dirent *e;
	DIR *d = opendir(path);
	if (!d)
		return error_errno(err, "cannot list %s", path);
	while ((errno = 0, e = readdir(d))) {
		struct storage_entry entry = {0};

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		int why = look(dirfd(d), e->d_name, &entry.info);
		if (why == ENOENT)
			continue; /* another process removed the entry after the listing */
		if ((errno = why))
			break;
		entry.name = arena_strdup(a, e->d_name);
		buf_append(&all, &entry, sizeof entry);
	}
	int rc = errno ? error_errno(err, "cannot list %s", path) : RC_OK;
	closedir(d);
	if (rc == RC_OK && all.len) {
		*n = all.len / sizeof **out;
		*out = arena_alloc(a, all.len);
		memcpy(*out, all.ptr, all.len);
	}
	buf_release(&all);
	return rc;
}

static int set_mode(struct storage *s, const char *path, unsigned mode, struct error *err)
{
	(void)s;
	return chmod(path, mode) < 0 ? error_errno(err, "cannot set the mode of %s", path) : RC_OK;
}

static int free_bytes(struct storage *s, const char *path, uint64_t *bytes, struct error *err)
{
	struct statvfs st;

	(void)s, (void)err;
	/* an unknown free space is no error */
	if (statvfs(path, &st) == 0)
		*bytes = (uint64_t)st.f_bavail * st.f_frsize;
	return RC_OK;
}

static int touch(struct storage *s, const char *path, struct error *err)
{
	(void)s;
	return utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) < 0
		       ? error_errno(err, "cannot set the time of %s", path)
		       : RC_OK;
}

static int make_dirs(struct storage *s, const char *path, unsigned mode, struct error *err)
{
	struct storage_info there = {0};
	bool made = false;
	int rc = RC_OK;
	char *dir = mem_strdup(path);

	for (char *slash = dir; rc == RC_OK && slash;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = 0;
		made = *dir && mkdir(dir, 0777) == 0;
		if (!made && *dir && errno != EEXIST)
			rc = error_errno(err, "cannot create folder %s", dir);
		if (slash)
			*slash = '/';
	}
	mem_free(dir);
	if (rc == RC_OK && made)
		return mode ? set_mode(s, path, mode, err) : RC_OK;
	if (rc == RC_OK && (look(AT_FDCWD, path, &there) || there.kind != STORAGE_FOLDER))
		rc = error_set(
			err, RC_IO,
			"cannot create folder %s: found a file of that name; move the file away",
			path);
	return rc;
}

static int move(struct storage *s, const char *from, const char *to, struct error *err)
{
	(void)s;
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return RC_OK;
	if (errno != EINVAL && errno != ENOSYS)
		return error_errno(err, "cannot rename %s to %s", from, to);
	struct stat st; /* the file system (NFS) needs a check before the rename */
	if (lstat(to, &st) == 0)
		errno = EEXIST;
	else if (errno == ENOENT && rename(from, to) == 0)
		return RC_OK;
	return error_errno(err, "cannot rename %s to %s", from, to);
}

static int remove_all(struct storage *s, const char *path, struct error *err)
{
	(void)s;
	return io_remove_tree(path, err);
}

static int read_whole(struct storage *s, const char *path, size_t most, struct buf *out,
		      struct error *err)
{
	(void)s;
	return io_read_file_upto(path, most, out, err);
}

static int read_part(struct storage *s, const char *path, uint64_t offset, void *to, size_t len,
		     struct error *err)
{
	(void)s;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, "cannot open %s", path);
	int rc = io_pread(fd, to, len, offset, path, err);
	close(fd);
	return rc;
}

/* --- files to write --- */

struct local_file {
	struct out_file out;
};

static int begin(struct storage *s, void **file, const char *path, unsigned mode, struct error *err)
{
	(void)s;
	struct local_file *f = mem_calloc(1, sizeof *f);
	int rc = out_open(&f->out, path, 0, err);
	if (rc == RC_OK && mode && fchmod(f->out.fd, mode) < 0) {
		rc = error_errno(err, "cannot set the mode of %s", path);
		out_abort(&f->out);
	}
	if (rc) {
		mem_free(f);
		return rc;
	}
	*file = f;
	return RC_OK;
}

static int add(void *file, const void *ptr, size_t len, struct error *err)
{
	struct local_file *f = file;

	(void)err; /* out_finish reports the error */
	out_write(&f->out, ptr, len);
	return RC_OK;
}

static int end(void *file, uint8_t digest[16], struct error *err)
{
	struct local_file *f = file;

	out_digest(&f->out, digest);
	int rc = out_finish(&f->out, err);
	if (rc == RC_OK)
		mem_free(f);
	return rc;
}

static void abort_file(void *file)
{
	struct local_file *f = file;

	out_abort(&f->out);
	mem_free(f);
}

/* --- files to copy --- */

static int same_bytes(const char *a, const char *b, bool *same, struct error *err)
{
	uint8_t digest[2][16];
	uint64_t size[2];
	int rc = io_digest_file(a, digest[0], &size[0], err);

	if (rc == RC_OK)
		rc = io_digest_file(b, digest[1], &size[1], err);
	*same = rc == RC_OK && size[0] == size[1] && memcmp(digest[0], digest[1], 16) == 0;
	return rc;
}

static int copy_bytes(struct storage *s, int from, const char *local, void *to, struct error *err)
{
	int rc = RC_OK;
	uint8_t *piece = mem_alloc(PIECE);
	ssize_t n = 1;

	while (n && rc == RC_OK) {
		n = read(from, piece, PIECE);
		if (n < 0 && errno != EINTR)
			rc = error_errno(err, "cannot read %s", local);
		else if (n > 0)
			rc = throttle_wait(&s->throttle, (size_t)n, err);
		if (rc == RC_OK && n > 0)
			rc = add(to, piece, (size_t)n, err);
		if (rc == RC_OK)
			rc = stop_check(err);
	}
	mem_free(piece);
	return rc;
}

static int copy(struct storage *s, const char *local, const char *path, unsigned mode,
		struct error *err)
{
	void *to = NULL;
	uint8_t digest[16];
	int from = io_open_input(local, err);

	if (from < 0)
		return from;
	int rc = begin(s, &to, path, mode, err);
	if (rc == RC_OK) {
		rc = copy_bytes(s, from, local, to, err);
		if (rc == RC_OK)
			rc = end(to, digest, err);
		if (rc)
			abort_file(to);
	}
	close(from);
	return rc;
}

static int put(struct storage *s, const char *local, const char *path, unsigned mode,
	       struct storage_info *out, bool *kept, struct error *err)
{
	int rc = stat_path(s, path, out, err);

	if (rc == RC_OK && out->kind == STORAGE_FILE)
		rc = same_bytes(local, path, kept, err);
	if (rc == RC_OK && *kept && mode)
		rc = set_mode(s, path, mode, err);
	if (rc == RC_OK && !*kept && out->kind == STORAGE_FILE && unlink(path) < 0)
		rc = error_errno(err, "cannot replace %s", path);
	if (rc == RC_OK && !*kept)
		rc = copy(s, local, path, mode, err);
	return rc ? rc : stat_path(s, path, out, err);
}

static const char *const schemes[] = {"", "file", NULL};

const struct storage_backend file_storage = {.schemes = schemes,
					     .open = open_place,
					     .close = close_place,
					     .stat = stat_path,
					     .list = list_folder,
					     .make_dirs = make_dirs,
					     .set_mode = set_mode,
					     .free = free_bytes,
					     .touch = touch,
					     .move = move,
					     .remove = remove_all,
					     .read = read_whole,
					     .read_at = read_part,
					     .put = put,
					     .begin = begin,
					     .add = add,
					     .end = end,
					     .abort = abort_file};
