/* disk_calls.c - replaces libc's system calls on files (-Wl,--wrap) */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "disk.h"

int disk_fail(int why)
{
	errno = why;
	return -1;
}

struct opened *disk_file(int fd)
{
	struct opened *f =
		fd < DISK_FD || fd >= DISK_FD + DISK_FILES ? NULL : &W->disk->file[fd - DISK_FD];

	if (f && (!f->used || f->proc != sim_proc_of_self()))
		sim_violate("a process uses descriptor %d, which it has not opened", fd);
	return f;
}

bool disk_refused(const char *what)
{
	sim_step(what);
	if (!sim_fault(W->odds.broken))
		return false;
	sim_note("the disk fails", 0, 0);
	errno = EIO;
	return true;
}

struct inode *disk_base(int folder)
{
	return folder == AT_FDCWD ? disk_find(W->disk->root, "/w") : disk_file(folder)->node;
}

static int new_fd(struct inode *n, int flags)
{
	for (int i = 0; i < DISK_FILES; i++)
		if (!W->disk->file[i].used) {
			W->disk->file[i] = (struct opened){.used = true,
							   .proc = sim_proc_of_self(),
							   .node = n,
							   .flags = flags,
							   .next_entry = n->entries};
			return DISK_FD + i;
		}
	return disk_fail(EMFILE);
}

static void show(const char *what, const struct inode *n)
{
	char path[DISK_PATH];

	if (!W->loud)
		return;
	disk_path(n, path);
	sim_say("  %s %s", what, path);
}

static bool is_aimed_at(const struct inode *n, const char *name)
{
	char path[DISK_PATH];

	if (!*W->aim.word)
		return true;
	disk_path(n, path);
	return strstr(path, W->aim.word) || strstr(name, W->aim.word);
}

/* Note a process's change of a folder's name or of a file. */
static void did(unsigned deed, struct inode *n, const char *name)
{
	/*
	 * the kernel writes changes in any order, so the disk may miss later changes, although it
	 * has this one
	 */
	if (deed != DID_SYNC && sim_fault(W->odds.write_back)) {
		sim_note("write back", n->number, 0);
		disk_sync(n);
	}
	if (W->aim.left && (W->aim.kinds & deed) && is_aimed_at(n, name))
		sim_did(deed);
}

int disk_open_at(struct inode *base, const char *path, int flags, unsigned mode)
{
	char last[DISK_NAME];

	if (disk_refused("open"))
		return -1;
	if ((flags & O_TMPFILE) == O_TMPFILE)
		return disk_find(base, path) ? new_fd(disk_make(false), flags) : -1;
	struct inode *n = disk_find(base, path);
	if (!n) {
		int why = errno;

		if (W->loud)
			sim_say("  no %s", path);
		if (!(flags & O_CREAT) || why != ENOENT)
			return disk_fail(why);
		struct inode *up = disk_folder_of(base, path, last);
		if (!up)
			return -1;
		if (sim_fault(W->odds.full))
			return disk_fail(ENOSPC);
		n = disk_make(false);
		n->mode = mode & 0755;
		n->links = 1;
		disk_set(up, last, n, NULL);
		did(DID_NAME, up, last);
		show("create", n);
	} else if ((flags & O_CREAT) && (flags & O_EXCL)) {
		return disk_fail(EEXIST);
	} else {
		show("open", n);
	}
	if ((flags & O_DIRECTORY) && !n->folder)
		return disk_fail(ENOTDIR);
	if (n->folder && (flags & O_ACCMODE) != O_RDONLY)
		return disk_fail(EISDIR);
	if (flags & O_TRUNC)
		disk_resize(n, 0);
	return new_fd(n, flags);
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;
	va_start(ap, flags);
	unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, unsigned) : 0;
	va_end(ap);
	return disk_open_at(disk_base(AT_FDCWD), path, flags, mode);
}

int __wrap_openat(int folder, const char *path, int flags, ...)
{
	va_list ap;
	va_start(ap, flags);
	unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, unsigned) : 0;
	va_end(ap);
	return disk_open_at(disk_base(folder), path, flags, mode);
}

/* a hardened object calls these if the flags are no constant */
int __wrap___open_2(const char *path, int flags)
{
	return disk_open_at(disk_base(AT_FDCWD), path, flags, 0);
}

int __wrap___openat_2(int folder, const char *path, int flags)
{
	return disk_open_at(disk_base(folder), path, flags, 0);
}

int __real_close(int fd);
int __wrap_close(int fd)
{
	struct opened *f = disk_file(fd);

	if (!f)
		return fd <= STDERR_FILENO ? 0 : __real_close(fd);
	sim_step("close");
	disk_unlock(f);
	f->used = false;
	return 0;
}

static ssize_t put_bytes(struct inode *n, const void *data, size_t len, uint64_t at)
{
	if (disk_refused("write"))
		return -1;
	if (sim_fault(W->odds.full)) {
		sim_note("the disk is full", 0, 0);
		return disk_fail(ENOSPC);
	}
	if (len > 1 && sim_fault(W->odds.short_write))
		len = 1 + sim_below(len - 1);
	disk_keep_version(n);
	if (at + len > n->size)
		disk_resize(n, at + len);
	if (len)
		memcpy(n->data + at, data, len);
	n->changed = true;
	disk_wrote(n, at, len);
	did(DID_WRITE, n, "");
	show("write", n);
	return (ssize_t)len;
}

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	struct opened *f = disk_file(fd);

	if (!f) {
		sim_say("> %.*s", (int)len, (const char *)data);
		return (ssize_t)len;
	}
	uint64_t at = f->flags & O_APPEND ? f->node->size : f->at;
	ssize_t n = put_bytes(f->node, data, len, at);
	if (n > 0)
		f->at = at + (uint64_t)n;
	return n;
}

/* Linux appends to a file that is open with O_APPEND, whatever the place. */
ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t at)
{
	struct opened *f = disk_file(fd);

	return put_bytes(f->node, data, len, f->flags & O_APPEND ? f->node->size : (uint64_t)at);
}

static ssize_t get_bytes(const struct inode *n, void *data, size_t len, uint64_t at)
{
	if (disk_refused("read"))
		return -1;
	if (n->folder)
		return disk_fail(EISDIR);
	size_t left = at < n->size ? n->size - at : 0;
	if (len > left)
		len = left;
	if (len > 1 && sim_fault(W->odds.short_write))
		len = 1 + sim_below(len - 1);
	if (len)
		memcpy(data, n->data + at, len);
	return (ssize_t)len;
}

ssize_t __wrap_read(int fd, void *data, size_t len)
{
	struct opened *f = disk_file(fd);

	if (!f)
		return 0;
	ssize_t n = get_bytes(f->node, data, len, f->at);
	if (n > 0)
		f->at += (uint64_t)n;
	return n;
}

ssize_t __wrap_pread(int fd, void *data, size_t len, off_t at)
{
	return get_bytes(disk_file(fd)->node, data, len, (uint64_t)at);
}

off_t __wrap_lseek(int fd, off_t at, int from)
{
	struct opened *f = disk_file(fd);

	if (!f)
		return disk_fail(ESPIPE);
	f->at = (uint64_t)(at + (from == SEEK_CUR   ? (off_t)f->at
				 : from == SEEK_END ? (off_t)f->node->size
						    : 0));
	return (off_t)f->at;
}

int __wrap_fsync(int fd)
{
	struct opened *f = disk_file(fd);

	if (sim_fault(W->odds.slow_sync))
		sim_sleep((int64_t)sim_below(200) * SIM_MS);
	if (disk_refused("fsync")) {
		disk_sync_fails(f->node);
		return disk_fail(EIO);
	}
	show("sync", f->node);
	disk_sync(f->node);
	did(DID_SYNC, f->node, "");
	return 0;
}

int __wrap_fdatasync(int fd)
{
	return __wrap_fsync(fd);
}

int __wrap_ftruncate(int fd, off_t size)
{
	if (disk_refused("ftruncate"))
		return -1;
	disk_resize(disk_file(fd)->node, (size_t)size);
	return 0;
}

int __wrap_fallocate(int fd, int mode, off_t at, off_t len)
{
	(void)fd, (void)mode, (void)at, (void)len;
	return disk_fail(EOPNOTSUPP);
}

int __wrap_sync_file_range(int fd, off_t at, off_t len, unsigned flags)
{
	(void)fd, (void)at, (void)len, (void)flags;
	return 0;
}

int __wrap_flock(int fd, int how)
{
	struct opened *f = disk_file(fd);
	struct inode *n = f->node;
	int self = fd, want = how & ~LOCK_NB;

	sim_step("flock");
	if (want == LOCK_UN) {
		disk_unlock(f);
		return 0;
	}
	bool free = (!n->writer || n->writer == self) &&
		    (want == LOCK_SH || n->readers - (f->lock == LOCK_SH) == 0);
	if (!free)
		return disk_fail(EWOULDBLOCK);
	disk_unlock(f);
	f->lock = want;
	if (want == LOCK_EX)
		n->writer = self;
	else
		n->readers++;
	return 0;
}

/* --- names --- */

static void watch(const char *what, const struct inode *n, const char *to)
{
	char path[DISK_PATH];

	disk_path(n, path);
	if (W->loud)
		sim_say("  %s %s %s", what, path, to ? to : "");
	if (disk_watch)
		disk_watch(what, path, to);
}

static int rename_at(struct inode *a, const char *from, struct inode *b, const char *to,
		     unsigned flags)
{
	char old[DISK_NAME], new[DISK_NAME];

	if (disk_refused("rename"))
		return -1;
	struct inode *here = disk_folder_of(a, from, old), *there = disk_folder_of(b, to, new);
	if (!here || !there)
		return -1;
	struct entry *e = disk_entry(here, old), *before = disk_entry(there, new);
	if (!e)
		return disk_fail(ENOENT);
	if (before && (flags & RENAME_NOREPLACE))
		return disk_fail(EEXIST);
	if (before && before->node->folder && before->node->entries)
		return disk_fail(ENOTEMPTY);
	if (before && before->node->folder != e->node->folder)
		return disk_fail(before->node->folder ? EISDIR : ENOTDIR);
	if (before && before->node == e->node)
		return 0;
	struct inode *n = e->node;
	watch("rename", n, to);
	if (here == there) {
		disk_set(here, new, n, old);
	} else {
		disk_set(here, old, NULL, NULL);
		disk_set(there, new, n, NULL);
	}
	did(DID_RENAME | DID_NAME, there, to);
	return 0;
}

int __wrap_rename(const char *from, const char *to)
{
	return rename_at(disk_base(AT_FDCWD), from, disk_base(AT_FDCWD), to, 0);
}

int __wrap_renameat(int a, const char *from, int b, const char *to)
{
	return rename_at(disk_base(a), from, disk_base(b), to, 0);
}

int __wrap_renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
	return rename_at(disk_base(a), from, disk_base(b), to, flags);
}

static int remove_at(struct inode *base, const char *path, bool folder)
{
	char last[DISK_NAME];

	if (disk_refused("unlink"))
		return -1;
	struct inode *up = disk_folder_of(base, path, last);
	struct entry *e = up ? disk_entry(up, last) : NULL;
	if (!e)
		return disk_fail(up ? ENOENT : errno);
	if (folder && !e->node->folder)
		return disk_fail(ENOTDIR);
	if (!folder && e->node->folder)
		return disk_fail(EISDIR);
	if (folder && e->node->entries)
		return disk_fail(ENOTEMPTY);
	watch("remove", e->node, NULL);
	disk_set(up, last, NULL, NULL);
	did(DID_NAME, up, last);
	return 0;
}

int __wrap_unlink(const char *path)
{
	return remove_at(disk_base(AT_FDCWD), path, false);
}

int __wrap_rmdir(const char *path)
{
	return remove_at(disk_base(AT_FDCWD), path, true);
}

int __wrap_unlinkat(int folder, const char *path, int flags)
{
	return remove_at(disk_base(folder), path, flags & AT_REMOVEDIR);
}

static int make_dir_at(struct inode *base, const char *path, mode_t mode)
{
	char last[DISK_NAME];

	if (disk_refused("mkdir"))
		return -1;
	struct inode *up = disk_folder_of(base, path, last);
	if (!up)
		return -1;
	if (!*last || disk_entry(up, last))
		return disk_fail(EEXIST);
	struct inode *n = disk_make(true);
	n->mode = mode & 0755;
	disk_set(up, last, n, NULL);
	did(DID_NAME, up, last);
	show("mkdir", n);
	return 0;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	return make_dir_at(disk_base(AT_FDCWD), path, mode);
}

int __wrap_mkdirat(int folder, const char *path, mode_t mode)
{
	return make_dir_at(disk_base(folder), path, mode);
}

static void fill_name(char *pattern)
{
	size_t n = strlen(pattern);

	for (size_t i = n - 6; i < n; i++)
		pattern[i] = (char)('a' + sim_below(26));
}

char *__wrap_mkdtemp(char *pattern)
{
	fill_name(pattern);
	return make_dir_at(disk_base(AT_FDCWD), pattern, 0700) ? NULL : pattern;
}

int __wrap_mkostemp(char *pattern, int flags)
{
	fill_name(pattern);
	return disk_open_at(disk_base(AT_FDCWD), pattern, flags | O_RDWR | O_CREAT | O_EXCL, 0600);
}

int __wrap_link(const char *from, const char *to)
{
	char last[DISK_NAME];

	if (disk_refused("link"))
		return -1;
	struct inode *n = disk_find(disk_base(AT_FDCWD), from);
	struct inode *up = n ? disk_folder_of(disk_base(AT_FDCWD), to, last) : NULL;
	if (!up)
		return -1;
	if (disk_entry(up, last))
		return disk_fail(EEXIST);
	disk_set(up, last, n, NULL);
	did(DID_NAME, up, last);
	return 0;
}
