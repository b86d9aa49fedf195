#include "io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"
#include "mem.h"
#include "pool.h"
#define XXH_STATIC_LINKING_ONLY /* allows a state on the stack */
#include "hash.h"

/*
 * The largest file that a function reads whole. Without this limit, an endless device would fill
 * the memory.
 */
#define LARGEST_FILE	((size_t)1 << 30)
#define OUT_BUFFER	(256u << 10)
#define WRITEBACK_BYTES (4u << 20)
#define WAIT_MS		200

static void out_release(struct out_file *o)
{
	mem_free(o->path);
	buf_release(&o->buf);
	XXH3_freeState(o->digest);
	*o = (struct out_file){.fd = -1};
}

int out_open(struct out_file *o, const char *path, size_t buffer_bytes, struct error *err)
{
	*o = (struct out_file){.fd = -1};
	o->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (o->fd < 0)
		return error_errno(err, "cannot create %s", path);
	o->path = mem_try_strdup(path);
	o->buffer_bytes = buffer_bytes ? buffer_bytes : OUT_BUFFER;
	o->digest = XXH3_createState();
	if (!o->path || !o->digest || !buf_try_reserve(&o->buf, o->buffer_bytes)) {
		close(o->fd);
		unlink(path);
		size_t asked = o->buffer_bytes;
		out_release(o);
		return error_memory(err, asked, path);
	}
	XXH3_128bits_reset(o->digest);
	return RC_OK;
}

/* Write all bytes. Returns 0, or errno of the failed call. */
static int write_all(int fd, const uint8_t *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static void out_put(struct out_file *o, const uint8_t *p, size_t len)
{
	if (o->errnum || len == 0)
		return;
	XXH3_128bits_update(o->digest, p, len);
	o->errnum = write_all(o->fd, p, len);
	o->written += len;
	/*
	 * Start writing to disk now, so that the fsync at the end is short. Ignore errors here,
	 * because fsync reports them.
	 */
	if (!o->temporary && o->written - o->started >= WRITEBACK_BYTES) {
		sync_file_range(o->fd, (off_t)o->started, (off_t)(o->written - o->started),
				SYNC_FILE_RANGE_WRITE);
		o->started = o->written;
	}
}

void out_write(struct out_file *o, const void *ptr, size_t len)
{
	o->offset += len;
	if (o->buf.len + len > o->buffer_bytes) {
		out_put(o, o->buf.ptr, o->buf.len);
		o->buf.len = 0;
	}
	if (len >= o->buffer_bytes)
		out_put(o, ptr, len);
	else
		buf_append(&o->buf, ptr, len);
}

void out_digest(const struct out_file *o, uint8_t digest[16])
{
	XXH3_state_t s;

	XXH3_copyState(&s, o->digest);
	if (o->buf.len)
		XXH3_128bits_update(&s, o->buf.ptr, o->buf.len);
	XXH128_canonical_t c;
	XXH128_canonicalFromHash(&c, XXH3_128bits_digest(&s));
	memcpy(digest, c.digest, 16);
}

int out_finish(struct out_file *o, struct error *err)
{
	out_put(o, o->buf.ptr, o->buf.len);
	if (!o->errnum && !o->temporary && fsync(o->fd) < 0)
		o->errnum = errno;
	if (close(o->fd) < 0 && !o->errnum)
		o->errnum = errno;
	int rc = RC_OK;
	if (o->errnum) {
		errno = o->errnum;
		rc = error_errno(err, "cannot write %s (%llu bytes)", o->path,
				 (unsigned long long)o->offset);
		unlink(o->path);
	}
	out_release(o);
	return rc;
}

int out_finish_later(struct out_file *o, struct syncer *s, struct error *err)
{
	out_put(o, o->buf.ptr, o->buf.len);
	o->buf.len = 0;
	if (o->errnum || o->temporary || !syncer_take(s, o->fd, o->path))
		return out_finish(o, err);
	out_release(o);
	return RC_OK;
}

void out_abort(struct out_file *o)
{
	if (o->fd < 0 || !o->path)
		return;
	close(o->fd);
	unlink(o->path);
	out_release(o);
}

/*
 * Open a FIFO for reading. Without O_NONBLOCK, open() waits for a writer, and a signal does not end
 * that wait.
 */
static int open_fifo(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc, n = 0;

	if (fd < 0)
		return error_errno(err, "%s", path);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	while ((rc = stop_check(err)) == RC_OK && n <= 0) {
		n = poll(&p, 1, WAIT_MS);
		if (n < 0 && errno != EINTR) {
			rc = error_errno(err, "%s", path);
			break;
		}
	}
	if (rc == RC_OK && fcntl(fd, F_SETFL, O_RDONLY) < 0)
		rc = error_errno(err, "%s", path);
	if (rc == RC_OK)
		return fd;
	close(fd);
	return rc;
}

int io_open_input(const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
		return open_fifo(path, err);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? error_errno(err, "%s", path) : fd;
}

int io_pread(int fd, void *buf, size_t len, uint64_t offset, const char *path, struct error *err)
{
	uint8_t *p = buf;

	while (len) {
		ssize_t n = pread(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, "cannot read %s at %llu", path,
					   (unsigned long long)offset);
		if (n == 0)
			return error_set(err, RC_IO,
					 "%s: found the end at byte %llu, expected %zu more bytes",
					 path, (unsigned long long)offset, len);
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return RC_OK;
}

int io_read_file_upto(const char *path, size_t most, struct buf *out, struct error *err)
{
	size_t before = out->len;
	int fd = io_open_input(path, err);

	if (fd < 0)
		return fd == RC_STOPPED ? fd : error_prefix(err, "cannot open ");
	for (;;) {
		buf_reserve(out, 65536);
		ssize_t n = read(fd, out->ptr + out->len, out->cap - out->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int rc = error_errno(err, "cannot read %s", path);

			close(fd);
			return rc;
		}
		if (n == 0)
			break;
		out->len += (size_t)n;
		if (out->len - before > most) {
			close(fd);
			return error_set(
				err, RC_LIMIT,
				"%s: found more than %zu bytes, expected at most that many", path,
				most);
		}
	}
	close(fd);
	return RC_OK;
}

int io_read_file(const char *path, struct buf *out, struct error *err)
{
	return io_read_file_upto(path, LARGEST_FILE, out, err);
}

int io_write_file(const char *path, struct bytes content, struct error *err)
{
	struct out_file o;
	int rc = out_open(&o, path, 0, err);

	if (rc)
		return rc;
	out_write(&o, content.ptr, content.len);
	return out_finish(&o, err);
}

static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? mem_format("%.*s", (int)(slash - path) + 1, path) : mem_strdup(".");
}

int io_sync_parent(const char *path, struct error *err)
{
	char *dir = parent_of(path);
	int rc = io_sync_dir(dir, err);

	mem_free(dir);
	return rc;
}

/*
 * The kernel refuses the rename if the name exists (RENAME_NOREPLACE). A file system without this
 * flag gets a second link to the file instead, which also never replaces a file.
 */
static int give_name(const char *temp, const char *path, struct error *err)
{
	if (renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return RC_OK;
	if (errno != EINVAL && errno != ENOSYS)
		return error_errno(err, "cannot rename %s to %s", temp, path);
	if (link(temp, path) < 0)
		return error_errno(err, "cannot link %s to %s", temp, path);
	return unlink(temp) == 0 ? RC_OK : error_errno(err, "cannot remove %s", temp);
}

int io_name_file(const char *temp, const char *path, const char *folder, struct error *err)
{
	int rc = give_name(temp, path, err);

	if (rc) {
		unlink(temp);
		return rc;
	}
	rc = io_sync_dir(folder, err);
	if (rc)
		unlink(path);
	return rc;
}

int io_replace_file(const char *path, struct bytes content, const char *crash, struct error *err)
{
	/*
	 * allocate before the rename, because an allocation that fails later would report the wrong
	 * outcome
	 */
	char *temp = mem_format("%s.temp", path), *dir = parent_of(path);
	int rc = RC_OK;

	if (unlink(temp) < 0 && errno != ENOENT)
		rc = error_errno(err, "cannot remove %s", temp);
	if (rc == RC_OK)
		rc = io_write_file(temp, content, err);
	if (rc == RC_OK && crash)
		crash_at(crash);
	if (rc == RC_OK && rename(temp, path) < 0) {
		rc = error_errno(err, "cannot rename %s to %s", temp, path);
		unlink(temp);
	} else if (rc == RC_OK && (rc = io_sync_dir(dir, err)) != RC_OK) {
		error_prefix(
			err,
			"%s: the new content is in place, but a power loss may bring back the old one: ",
			path);
	}
	mem_free(dir);
	mem_free(temp);
	return rc;
}

int io_digest_file(const char *path, uint8_t digest[16], uint64_t *size, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(err, "cannot open %s", path);
	XXH3_state_t s;
	XXH3_128bits_reset(&s);
	uint8_t *block = mem_alloc(OUT_BUFFER);
	ssize_t n;
	*size = 0;
	while ((n = read(fd, block, OUT_BUFFER)) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		XXH3_128bits_update(&s, block, (size_t)n);
		*size += (uint64_t)n;
	}
	int rc = n < 0 ? error_errno(err, "cannot read %s", path) : RC_OK;
	XXH128_canonical_t c;
	XXH128_canonicalFromHash(&c, XXH3_128bits_digest(&s));
	memcpy(digest, c.digest, 16);
	mem_free(block);
	close(fd);
	return rc;
}

int io_exists(const char *path, bool *there, struct error *err)
{
	*there = access(path, F_OK) == 0;
	return *there || errno == ENOENT || errno == ENOTDIR ? RC_OK : error_errno(err, "%s", path);
}

int io_make_dir(const char *path, struct error *err)
{
	if (mkdir(path, 0777) < 0)
		return error_errno(err, "cannot create folder %s", path);
	return RC_OK;
}

int io_make_temp_dir(char **path, const char *parent, const char *prefix, struct error *err)
{
	const char *tmp = parent ? parent : getenv("TMPDIR");

	*path = mem_format("%s/%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", prefix);
	if (mkdtemp(*path))
		return RC_OK;
	int rc = error_errno(err, "cannot create folder %s", *path);
	mem_free(*path);
	*path = NULL;
	return rc;
}

int io_sync_dir(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(err, "cannot open folder %s", path);
	int rc = fsync(fd) < 0 ? error_errno(err, "cannot sync folder %s", path) : RC_OK;
	close(fd);
	return rc;
}

/*
 * Remove a tree by descriptors and without following links, so that no file outside of the tree
 * disappears.
 */
static bool remove_at(int folder, const char *name)
{
	if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
		return true;
	if (errno != EISDIR && errno != EPERM)
		return false;
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool ok = io_empty_dir(fd, NULL);
	int why = errno;
	close(fd);
	errno = why;
	return ok && (unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT);
}

bool io_empty_dir(int folder, const char *but)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	if (!d) {
		if (copy >= 0)
			close(copy);
		return false;
	}
	bool ok = true;
	const struct dirent *e;
	while (ok && (errno = 0, e = readdir(d)))
		ok = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		     (but && !strcmp(e->d_name, but)) || remove_at(folder, e->d_name);
	int why = errno;
	closedir(d);
	errno = why;
	return ok && !why;
}

int io_remove_tree(const char *path, struct error *err)
{
	return remove_at(AT_FDCWD, path) ? RC_OK : error_errno(err, "cannot remove %s", path);
}

int io_open_temp(const char *dir, struct error *err)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return error_errno(err, "cannot create a temporary file in %s", dir);
	char *name = mem_format("%s/.saltmill-XXXXXX", dir);
	fd = mkostemp(name, O_CLOEXEC);
	int rc = fd < 0 ? error_errno(err, "cannot create a temporary file in %s", dir) : fd;
	if (fd >= 0)
		unlink(name);
	mem_free(name);
	return rc;
}
