/* disk_look.c - replaces libc's calls that read the properties of files and folders, and stdio */
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

enum { STREAMS = 100 };
#define ROOM_BYTES (UINT64_C(1) << 34)

static int describe(const struct inode *n, struct stat *st)
{
	if (!n)
		return -1;
	*st = (struct stat){.st_dev = 1,
			    .st_ino = n->number,
			    .st_nlink = 1,
			    .st_mode = (n->folder ? S_IFDIR : S_IFREG) | n->mode,
			    .st_size = (off_t)n->size,
			    .st_blksize = 4096,
			    .st_mtim = {n->modified / SIM_S, n->modified % SIM_S},
			    .st_ctim = {n->born / SIM_S, n->born % SIM_S}};
	return 0;
}

int __wrap_fstatat(int folder, const char *path, struct stat *st, int flags)
{
	(void)flags;
	sim_step("stat");
	return describe(disk_find(disk_base(folder), path), st);
}

int __wrap_stat(const char *path, struct stat *st)
{
	return __wrap_fstatat(AT_FDCWD, path, st, 0);
}

int __wrap_lstat(const char *path, struct stat *st)
{
	return __wrap_fstatat(AT_FDCWD, path, st, 0);
}

int __wrap_fstat(int fd, struct stat *st)
{
	return describe(disk_file(fd)->node, st);
}

int __wrap_statx(int folder, const char *path, int flags, unsigned mask, struct statx *st)
{
	(void)flags;
	sim_step("statx");
	const struct inode *n = disk_find(disk_base(folder), path);
	if (!n)
		return -1;
	*st = (struct statx){.stx_mask = mask,
			     .stx_ino = n->number,
			     .stx_btime = {.tv_sec = n->born / SIM_S,
					   .tv_nsec = (uint32_t)(n->born % SIM_S)},
			     .stx_ctime = {.tv_sec = n->born / SIM_S,
					   .tv_nsec = (uint32_t)(n->born % SIM_S)}};
	return 0;
}

int __wrap_access(const char *path, int how)
{
	(void)how;
	sim_step("access");
	return disk_find(disk_base(AT_FDCWD), path) ? 0 : -1;
}

int __wrap_faccessat(int folder, const char *path, int how, int flags)
{
	(void)how, (void)flags;
	sim_step("access");
	return disk_find(disk_base(folder), path) ? 0 : -1;
}

int __wrap_statvfs(const char *path, struct statvfs *st)
{
	(void)path;
	*st = (struct statvfs){.f_bsize = 4096,
			       .f_frsize = 4096,
			       .f_bavail = ROOM_BYTES / 4096,
			       .f_bfree = ROOM_BYTES / 4096,
			       .f_blocks = 2 * ROOM_BYTES / 4096};
	return 0;
}

char *__wrap_realpath(const char *path, char *out)
{
	char found[DISK_PATH];
	struct inode *n = disk_find(disk_base(AT_FDCWD), path);

	sim_step("realpath");
	if (!n)
		return NULL;
	disk_path(n, found);
	return out ? strcpy(out, found) : strdup(found);
}

int __wrap_chmod(const char *path, mode_t mode)
{
	struct inode *n = disk_find(disk_base(AT_FDCWD), path);

	if (!n)
		return -1;
	n->mode = mode & 07777;
	return 0;
}

int __wrap_fchmod(int fd, mode_t mode)
{
	disk_file(fd)->node->mode = mode & 07777;
	return 0;
}

int __wrap_utimensat(int folder, const char *path, const struct timespec t[2], int flags)
{
	struct inode *n = disk_find(disk_base(folder), path);

	(void)t, (void)flags;
	if (!n)
		return -1;
	n->modified = W->now;
	return 0;
}

int __wrap_glob(const char *pattern, int flags, int (*on_error)(const char *, int), glob_t *out)
{
	(void)pattern, (void)flags, (void)on_error, (void)out;
	return GLOB_NOMATCH;
}

/* --- folders --- */

DIR *__wrap_fdopendir(int fd)
{
	struct opened *f = disk_file(fd);

	if (!f->node->folder) {
		errno = ENOTDIR;
		return NULL;
	}
	f->next_entry = f->node->entries;
	return (DIR *)(void *)f;
}

DIR *__wrap_opendir(const char *path)
{
	int fd = disk_open_at(disk_base(AT_FDCWD), path, O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ? NULL : __wrap_fdopendir(fd);
}

struct dirent *__wrap_readdir(DIR *d)
{
	struct opened *f = (struct opened *)(void *)d;

	if (disk_refused("readdir") || !f->next_entry)
		return NULL;
	snprintf(f->found.d_name, sizeof f->found.d_name, "%s", f->next_entry->name);
	f->found.d_ino = f->next_entry->node->number;
	f->found.d_type = f->next_entry->node->folder ? DT_DIR : DT_REG;
	f->next_entry = f->next_entry->next;
	return &f->found;
}

int __wrap_dirfd(DIR *d)
{
	return DISK_FD + (int)((struct opened *)(void *)d - W->disk->file);
}

int __wrap_closedir(DIR *d)
{
	return __wrap_close(__wrap_dirfd(d));
}

int __wrap_scandir(const char *path, struct dirent ***out, int (*wanted)(const struct dirent *),
		   int (*order)(const struct dirent **, const struct dirent **))
{
	struct dirent **list = NULL;
	int n = 0;
	const struct dirent *e;
	DIR *d = __wrap_opendir(path);

	if (!d)
		return -1;
	while ((errno = 0, e = __wrap_readdir(d))) {
		if (wanted && !wanted(e))
			continue;
		list = realloc(list, (size_t)(n + 1) * sizeof *list);
		list[n] = malloc(sizeof **list);
		*list[n++] = *e;
	}
	int why = errno;
	__wrap_closedir(d);
	if (why) {
		while (n)
			free(list[--n]);
		free(list);
		return disk_fail(why);
	}
	if (order && n)
		qsort(list, (size_t)n, sizeof *list,
		      (int (*)(const void *, const void *))(void (*)(void))order);
	*out = list ? list : malloc(1);
	return n;
}

/* --- stdio --- */

struct stream {
	FILE *file; /* NULL if not in use */
	int fd, proc;
	bool dead; /* its process has ended */
};
static struct stream streams[STREAMS];

static ssize_t stream_read(void *ctx, char *to, size_t n)
{
	struct stream *s = ctx;

	return s->dead ? 0 : __wrap_read(s->fd, to, n);
}

static ssize_t stream_write(void *ctx, const char *from, size_t n)
{
	struct stream *s = ctx;
	ssize_t done = s->dead ? (ssize_t)n : __wrap_write(s->fd, from, n);

	return done < 0 ? 0 : done;
}

static int stream_seek(void *ctx, off64_t *at, int from)
{
	struct stream *s = ctx;

	*at = s->dead ? 0 : __wrap_lseek(s->fd, *at, from);
	return *at < 0 ? -1 : 0;
}

static int stream_close(void *ctx)
{
	struct stream *s = ctx;
	int rc = s->dead ? 0 : __wrap_close(s->fd);

	s->file = NULL;
	return rc;
}

FILE *__wrap_fopen(const char *path, const char *how)
{
	int flags = strchr(how, '+') ? O_RDWR : *how == 'r' ? O_RDONLY : O_WRONLY, i = 0;

	flags |= *how == 'r' ? 0 : *how == 'w' ? O_CREAT | O_TRUNC : O_CREAT | O_APPEND;
	int fd = disk_open_at(disk_base(AT_FDCWD), path, flags, 0666);
	if (fd < 0)
		return NULL;
	while (i < STREAMS && streams[i].file)
		i++;
	if (i == STREAMS)
		sim_violate("too many streams");
	streams[i] = (struct stream){.fd = fd, .proc = sim_proc_of_self()};
	streams[i].file = fopencookie(&streams[i], how,
				      (cookie_io_functions_t){stream_read, stream_write,
							      stream_seek, stream_close});
	return streams[i].file;
}

/* libc has a list of all streams, so none may go away with the memory of its process. */
void disk_close_streams(int proc)
{
	for (int i = 0; i < STREAMS; i++)
		if (streams[i].file && streams[i].proc == proc) {
			streams[i].dead = true;
			fclose(streams[i].file);
		}
}

int __wrap_isatty(int fd)
{
	(void)fd;
	return 0;
}
