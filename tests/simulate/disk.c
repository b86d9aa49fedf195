/*
 * disk.c - simulates a tree of files, of which a power loss keeps the synced data and some other
 * data
 *
 * A file's content is safe after an fsync of the file. A name is safe after an fsync of its folder.
 * A power loss keeps any of the later changes. The disk may keep or lose each rename, creation and
 * removal, and each block of a file. If a write replaces bytes, the disk may have neither the
 * old nor the new ones. Bytes beside the written ones stay (SQLite's "powersafe overwrite").
 */
#include "disk.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

enum { BLOCK = 64, FIRST_ROOM = 256, SMALL_FILE = 1024 };

void (*disk_watch)(const char *what, const char *path, const char *to);

struct inode *disk_make(bool folder)
{
	struct inode *n = sim_new(sizeof *n);

	n->number = ++W->disk->next_number;
	n->folder = folder;
	n->mode = folder ? 0755 : 0644;
	n->modified = n->born = W->now;
	n->last_change = &n->changes;
	return n;
}

struct entry *disk_entry(struct inode *folder, const char *name)
{
	struct entry *e = folder->entries;

	while (e && strcmp(e->name, name) != 0)
		e = e->next;
	return e;
}

static void apply_entry(struct entry **list, const struct entry *change)
{
	struct entry **p = list;

	while (*p && strcmp((*p)->name, change->name) != 0)
		p = &(*p)->next;
	/* a reader of the folder may hold the old entry, so change nothing in place */
	if (*p)
		*p = (*p)->next;
	if (!change->node)
		return;
	struct entry *e = sim_new(sizeof *e);
	*e = (struct entry){.name = change->name, .node = change->node};
	/* the order of names differs from the order of their creation */
	for (p = list; *p && strcmp((*p)->name, e->name) < 0;)
		p = &(*p)->next;
	e->next = *p;
	*p = e;
}

static void apply_change(struct entry **list, const struct folder_change *c)
{
	if (c->from.name)
		apply_entry(list, &c->from);
	apply_entry(list, &c->to);
}

/* Set a name of a folder. `old` is a name to remove from the folder at the same time, or NULL. */
void disk_set(struct inode *folder, const char *name, struct inode *node, const char *old)
{
	struct folder_change *c = sim_new(sizeof *c);

	*c = (struct folder_change){.to = {.name = sim_text(name), .node = node},
				    .from = {.name = old ? sim_text(old) : NULL}};
	apply_change(&folder->entries, c);
	*folder->last_change = c;
	folder->last_change = &c->next;
	folder->modified = W->now;
	if (node) {
		node->up = folder;
		node->name = c->to.name;
	}
}

static struct inode *step_into(struct inode *at, const char *name)
{
	if (!at->folder) {
		errno = ENOTDIR;
		return NULL;
	}
	if (strcmp(name, ".") == 0 || !*name)
		return at;
	if (strcmp(name, "..") == 0)
		return at->up ? at->up : at;
	struct entry *e = disk_entry(at, name);
	if (!e)
		errno = ENOENT;
	return e ? e->node : NULL;
}

struct inode *disk_folder_of(struct inode *from, const char *path, char last[DISK_NAME])
{
	struct inode *at = *path == '/' ? W->disk->root : from;
	const char *end = path + strlen(path);

	while (end > path + 1 && end[-1] == '/')
		end--;
	for (const char *p = path; at;) {
		while (p < end && *p == '/')
			p++;
		size_t n = 0;
		while (p + n < end && p[n] != '/')
			n++;
		if (n >= DISK_NAME) {
			errno = ENAMETOOLONG;
			return NULL;
		}
		memcpy(last, p, n);
		last[n] = 0;
		p += n;
		if (p >= end)
			break;
		at = step_into(at, last);
	}
	if (at && !at->folder) {
		errno = ENOTDIR;
		return NULL;
	}
	return at;
}

struct inode *disk_find(struct inode *from, const char *path)
{
	char last[DISK_NAME];

	if (!*path) {
		errno = ENOENT;
		return NULL;
	}
	struct inode *folder = disk_folder_of(from, path, last);
	return folder ? step_into(folder, last) : NULL;
}

void disk_resize(struct inode *n, size_t size)
{
	if (size > n->room) {
		size_t room = n->room ? n->room : FIRST_ROOM;

		while (room < size)
			room *= 2;
		uint8_t *data = sim_new(room);
		if (n->size)
			memcpy(data, n->data, n->size);
		n->data = data;
		n->room = room;
	}
	if (size < n->size) {
		memset(n->data + size, 0, n->size - size);
		if (n->nlost > (size + BLOCK - 1) / BLOCK)
			n->nlost = (size + BLOCK - 1) / BLOCK;
	}
	n->size = size;
	n->changed = true;
	n->modified = W->now;
}

static size_t shorter(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Replace the lost blocks of `data` by what the disk has instead. */
static void put_lost(const struct inode *n, uint8_t *data, size_t size)
{
	for (size_t i = 0; i < n->nlost && i * BLOCK < size; i++) {
		size_t at = i * BLOCK, len = shorter(BLOCK, size - at);

		if (!n->lost[i])
			continue;
		memset(data + at, 0, len);
		if (at < n->synced_size)
			memcpy(data + at, n->synced + at, shorter(len, n->synced_size - at));
	}
}

void disk_wrote(struct inode *n, uint64_t at, size_t len)
{
	size_t end = shorter(at + len, n->synced_size);

	if (at < end) {
		n->over_from = n->over_end ? shorter(n->over_from, at) : at;
		n->over_end = end > n->over_end ? end : n->over_end;
	}
	for (size_t i = at / BLOCK; i < n->nlost && i * BLOCK < at + len; i++)
		n->lost[i] = false;
}

/* Linux marks the pages as clean after a failed write, and reports the failure once. */
void disk_sync_fails(struct inode *n)
{
	size_t blocks = (n->size + BLOCK - 1) / BLOCK;

	if (n->folder || !n->changed || !sim_below(2))
		return;
	sim_note("the kernel forgets", n->number, 0);
	bool *lost = sim_new(blocks + 1);
	for (size_t i = 0; i < blocks; i++) {
		size_t at = i * BLOCK, len = shorter(BLOCK, n->size - at);

		lost[i] =
			at + len > n->synced_size || memcmp(n->synced + at, n->data + at, len) != 0;
	}
	n->lost = lost;
	n->nlost = blocks;
}

void disk_sync(struct inode *n)
{
	if (n->folder) {
		struct entry **to = &n->synced_entries;

		*to = NULL;
		for (const struct entry *e = n->entries; e; e = e->next) {
			*to = sim_new(sizeof **to);
			**to = (struct entry){.name = e->name, .node = e->node};
			to = &(*to)->next;
		}
		n->changes = NULL;
		n->last_change = &n->changes;
		return;
	}
	if (!n->changed)
		return;
	uint8_t *synced = sim_new(n->size + 1);
	if (n->size)
		memcpy(synced, n->data, n->size);
	put_lost(n, synced, n->size);
	n->synced = synced;
	n->synced_size = n->size;
	n->changed = false;
	n->over_from = n->over_end = 0;
	n->versions = NULL;
	n->nversions = 0;
}

void disk_keep_version(struct inode *n)
{
	if (!n->changed || !n->size || n->size > SMALL_FILE)
		return;
	struct version *v = sim_new(sizeof *v);
	*v = (struct version){.data = sim_new(n->size), .size = n->size, .next = n->versions};
	memcpy(v->data, n->data, n->size);
	n->versions = v;
	n->nversions++;
}

void disk_path(const struct inode *n, char out[DISK_PATH])
{
	char path[DISK_PATH];
	size_t at = sizeof path - 1;

	path[at] = 0;
	for (; n && n->up && n->name; n = n->up) {
		size_t len = strlen(n->name);

		if (len + 1 > at)
			break;
		at -= len;
		memcpy(path + at, n->name, len);
		path[--at] = '/';
	}
	snprintf(out, DISK_PATH, "%s", path[at] ? path + at : "/");
}

/* --- power --- */

/* Return the end of a word of the text after its first `least` bytes, chosen by chance. */
static size_t some_word_end(const uint8_t *text, size_t least, size_t size)
{
	size_t at = least + sim_below(size - least + 1);

	while (at < size && isalnum(text[at]))
		at++;
	return at;
}

/*
 * The disk has the first bytes of a small file and, from the first difference or from any byte, the
 * bytes of an earlier state. Its size is that of either, or ends after a word between them: an
 * append loses none of the bytes that were there before it.
 */
static void tear(struct inode *n, const uint8_t *old, size_t old_size)
{
	size_t least = shorter(n->size, old_size), at = 0;

	while (at < least && n->data[at] == old[at])
		at++;
	at = sim_below(2) ? at + 1 : sim_below(n->size + 1);
	if (old_size > n->size)
		disk_resize(n, old_size);
	if (at < old_size)
		memcpy(n->data + at, old + at, old_size - at);
	uint64_t draw = sim_below(3);
	disk_resize(n, draw == 0   ? old_size
		       : draw == 1 ? n->size
				   : some_word_end(n->data, least, n->size));
}

/* Lose the overwritten bytes of a block, the old ones and the new ones. */
static void lose_over(struct inode *n, size_t at, size_t len)
{
	size_t from = at > n->over_from ? at : n->over_from, end = shorter(at + len, n->over_end);

	if (from < end)
		memset(n->data + from, 0, end - from);
}

static void lose_bytes(struct inode *n)
{
	put_lost(n, n->data, n->size);
	n->nlost = 0;
	if (!n->changed)
		return;
	uint64_t draw = sim_below(100);
	uint8_t *old = n->synced;
	size_t old_size = n->synced_size;

	if (draw < W->odds.keep) {
		/* the disk has all changes */
	} else if (n->versions && draw % 3 == 0) { /* the disk has an earlier state */
		const struct version *v = n->versions;

		for (uint64_t back = sim_below((uint64_t)n->nversions); back; back--)
			v = v->next;
		if (draw % 2) {
			tear(n, v->data, v->size);
		} else {
			disk_resize(n, v->size);
			memcpy(n->data, v->data, v->size);
		}
	} else if (draw & 1) { /* nothing did */
		disk_resize(n, old_size);
		if (old_size)
			memcpy(n->data, old, old_size);
	} else { /* the disk has some blocks, and perhaps the size without the bytes */
		size_t least = n->size < old_size ? n->size : old_size;
		size_t most = n->size < old_size ? old_size : n->size;
		size_t size = sim_below(2) ? n->size : least + sim_below(most - least + 1);

		for (size_t at = 0; at < n->size; at += BLOCK) {
			size_t len = n->size - at < BLOCK ? n->size - at : BLOCK;

			if (sim_below(100) < W->odds.keep)
				continue;
			memset(n->data + at, 0, len);
			if (at < old_size)
				memcpy(n->data + at, old + at, shorter(len, old_size - at));
			if (draw & 2)
				lose_over(n, at, len);
		}
		disk_resize(n, size);
	}
	n->changed = true;
	disk_sync(n);
}

static void lose(struct inode *n, struct inode *up)
{
	if (!n->folder) {
		lose_bytes(n);
		return;
	}
	struct entry *kept = n->synced_entries;
	for (const struct folder_change *c = n->changes; c; c = c->next)
		if (sim_below(100) < W->odds.keep)
			apply_change(&kept, c);
	n->entries = kept;
	disk_sync(n);
	n->up = up;
	for (const struct entry *e = n->entries; e; e = e->next) {
		e->node->name = e->name;
		lose(e->node, n);
		e->node->up = n;
	}
}

/* The disks of some histories drop all unsynced data, and other disks drop almost nothing. */
void disk_power_loss(void)
{
	static const unsigned keeps[] = {0, 100, 50, 80, 20, 95};

	W->odds.keep = keeps[sim_below(sizeof keeps / sizeof *keeps)];
	sim_note("power loss", W->odds.keep, 0);
	lose(W->disk->root, NULL);
	/* another boot */
	char id[40];
	snprintf(id, sizeof id, "%036llx", (unsigned long long)sim_random());
	disk_put("/proc/sys/kernel/random/boot_id", id);
}

/* --- for the director --- */

void disk_begin(void)
{
	W->disk = sim_new(sizeof *W->disk);
	W->disk->root = disk_make(true);
	disk_put("/proc/sys/kernel/random/boot_id", "000000000000000000000000000000000001");
	disk_put("/proc/self/ns/pid", "pid");
	disk_put("/tmp/here", "");
}

static void sync_up(struct inode *n)
{
	for (; n; n = n->up)
		disk_sync(n);
}

void disk_put(const char *path, const char *text)
{
	char part[DISK_PATH], last[DISK_NAME];

	for (const char *p = path + 1; (p = strchr(p, '/')); p++) {
		snprintf(part, sizeof part, "%.*s", (int)(p - path), path);
		struct inode *up = disk_folder_of(W->disk->root, part, last);
		if (!disk_entry(up, last))
			disk_set(up, last, disk_make(true), NULL);
	}
	struct inode *up = disk_folder_of(W->disk->root, path, last);
	struct inode *n = disk_make(false);
	disk_resize(n, strlen(text));
	memcpy(n->data, text, n->size);
	disk_set(up, last, n, NULL);
	sync_up(n);
}

void disk_drop(const char *path)
{
	char last[DISK_NAME];
	struct inode *up = disk_folder_of(W->disk->root, path, last);

	if (up && disk_entry(up, last)) {
		disk_set(up, last, NULL, NULL);
		disk_sync(up);
	}
}

static void see_each(struct inode *n, const char *path,
		     void (*see)(void *ctx, const char *path, const uint8_t *data, size_t size),
		     void *ctx)
{
	char below[DISK_PATH];

	if (!n->folder) {
		see(ctx, path, n->data, n->size);
		return;
	}
	for (const struct entry *e = n->entries; e; e = e->next) {
		snprintf(below, sizeof below, "%.700s/%.250s", path, e->name);
		see_each(e->node, below, see, ctx);
	}
}

void disk_each(const char *path,
	       void (*see)(void *ctx, const char *path, const uint8_t *data, size_t size),
	       void *ctx)
{
	struct inode *n = disk_find(W->disk->root, path);

	if (n)
		see_each(n, path, see, ctx);
}

bool disk_is_there(const char *path)
{
	return disk_find(W->disk->root, path) != NULL;
}

bool disk_is_kept(const char *path)
{
	char last[DISK_NAME];
	struct inode *up = disk_folder_of(W->disk->root, path, last);
	struct entry *e = up ? disk_entry(up, last) : NULL;

	if (!e || e->node->changed)
		return false;
	for (size_t i = 0; i < e->node->nlost; i++)
		if (e->node->lost[i])
			return false;
	for (const struct entry *k = up->synced_entries; k; k = k->next)
		if (strcmp(k->name, last) == 0)
			return k->node == e->node;
	return false;
}

size_t disk_text(const char *path, char *out, size_t room)
{
	struct inode *n = disk_find(W->disk->root, path);
	size_t size = !n || n->folder ? 0 : n->size < room - 1 ? n->size : room - 1;

	if (size)
		memcpy(out, n->data, size);
	out[size] = 0;
	return size;
}

void disk_unlock(struct opened *f)
{
	if (f->lock == LOCK_EX)
		f->node->writer = 0;
	else if (f->lock == LOCK_SH)
		f->node->readers--;
	f->lock = 0;
}

void disk_proc_ended(int proc)
{
	for (int i = 0; i < DISK_FILES; i++) {
		struct opened *f = &W->disk->file[i];

		if (f->used && f->proc == proc) {
			disk_unlock(f);
			f->used = false;
		}
	}
}
