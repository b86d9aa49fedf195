/* disk.h - the simulated disk, shared by disk.c (the tree) and disk_calls.c (the system calls) */
#ifndef SALTMILL_SIM_DISK_H
#define SALTMILL_SIM_DISK_H

#include <dirent.h>

#include "sim.h"

enum { DISK_FILES = 400, DISK_FD = 1000, DISK_NAME = 200, DISK_PATH = 1000 };

struct entry {
	const char *name;
	struct inode *node; /* in a change, NULL means a removed name */
	struct entry *next;
};

/* A change of a folder since the folder's last sync. A rename makes two changes. */
struct folder_change {
	struct entry to, from; /* from.name is NULL if there is none */
	struct folder_change *next;
};

/* The content of a file before a later write. */
struct version {
	uint8_t *data;
	size_t size;
	struct version *next;
};

struct inode {
	uint64_t number;
	bool folder;
	unsigned mode, links;
	int64_t modified, born;
	uint8_t *data;
	size_t size, room;
	uint8_t *synced;
	size_t synced_size;
	bool changed;
	/* the synced bytes that processes have overwritten since the last sync are between these */
	size_t over_from, over_end;
	/* of each block, true if the kernel believes it synced, and the disk does not have it */
	bool *lost;
	size_t nlost;
	struct version *versions; /* of a small file, since its last sync */
	int nversions;
	struct entry *entries, *synced_entries;
	struct folder_change *changes, **last_change;
	struct inode *up; /* for paths in traces */
	const char *name;
	int readers,
		writer; /* number of open files with a shared lock; the file with the lock, or 0 */
};

struct opened {
	bool used;
	int proc, flags, lock; /* lock: LOCK_SH, LOCK_EX or 0 */
	struct inode *node;
	uint64_t at;
	struct entry *next_entry; /* of a folder, for readers */
	struct dirent found;
};

struct disk {
	struct inode *root;
	uint64_t next_number;
	struct opened file[DISK_FILES];
};

struct inode *disk_make(bool folder);
struct entry *disk_entry(struct inode *folder, const char *name);
void disk_set(struct inode *folder, const char *name, struct inode *node, const char *old);
/* Find the folder of a path, and the path's last part. Return NULL and set errno on failure. */
struct inode *disk_folder_of(struct inode *from, const char *path, char last[DISK_NAME]);
/* Return NULL and set errno on failure. */
struct inode *disk_find(struct inode *from, const char *path);
void disk_resize(struct inode *n, size_t size);
void disk_sync(struct inode *n);
/* A sync of a file fails. The kernel may keep the bytes, and believe from now on that they are on
 * the disk. */
void disk_sync_fails(struct inode *n);
/* Note a write to a file, because the next sync brings its bytes to the disk. */
void disk_wrote(struct inode *n, uint64_t at, size_t len);
/* Keep the content of a file, because the disk may keep it, too. Call this before a write. */
void disk_keep_version(struct inode *n);
void disk_path(const struct inode *n, char out[DISK_PATH]);
void disk_unlock(struct opened *f);

/* --- disk_calls.c, for disk_look.c --- */

int disk_fail(int why); /* sets errno, returns -1 */
struct opened *disk_file(int fd);
/* Let time pass. The disk may refuse the call. */
bool disk_refused(const char *what);
struct inode *disk_base(int folder);
int disk_open_at(struct inode *base, const char *path, int flags, unsigned mode);

int __wrap_close(int fd);
ssize_t __wrap_read(int fd, void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);
off_t __wrap_lseek(int fd, off_t at, int from);

#endif
