#include "deliver/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hash.h"
#include "io.h"
#include "mem.h"

#define HASH_TEXT 10 /* length of " #" and 8 digits */

void journal_line(struct buf *out, const char *line)
{
	buf_printf(out, "%s #%08x\n", line, murmur3_32(bytes_str(line), 0));
}

/*
 * Removes the hash from a line and ends the line there. Returns false if the hash is missing or
 * wrong.
 */
static bool unseal(char *line)
{
	size_t n = strlen(line);
	char expected[HASH_TEXT + 1];

	if (n < HASH_TEXT)
		return false;
	char *hash = line + n - HASH_TEXT;
	snprintf(expected, sizeof expected, " #%08x", murmur3_32(bytes_of(line, n - HASH_TEXT), 0));
	if (strcmp(hash, expected) != 0)
		return false;
	*hash = 0;
	return true;
}

static int take_line(char *line, size_t number, const char *path, const char *first,
		     journal_replay *replay, void *ctx, struct error *err)
{
	if (!unseal(line))
		return error_set(
			err, RC_DATA,
			"%s, line %zu: found another hash than the line's; the line has damage "
			"or a change by hand; restore the journal from a backup",
			path, number);
	if (number > 1) {
		int rc = replay(ctx, line, err);

		return rc ? error_prefix(err, "%s, line %zu: ", path, number) : RC_OK;
	}
	if (strcmp(line, first) != 0)
		return error_set(
			err, RC_CONFIG,
			"%s is the journal of another load or cluster: found `%.200s`, expected "
			"`%.200s`; name another file with --journal",
			path, line, first);
	return RC_OK;
}

/*
 * Returns true if a power failure interrupted the write of this last line. A disk may keep the size
 * of a file without its bytes, which are zeros in this case. The line was never on disk, so apply
 * has not begun the step of the line.
 */
static bool is_torn(const uint8_t *line, const uint8_t *end, struct bytes text)
{
	return end + 1 == text.ptr + text.len && memchr(line, 0, (size_t)(end - line));
}

int journal_read(struct bytes text, const char *path, const char *first, journal_replay *replay,
		 void *ctx, size_t *good, struct error *err)
{
	size_t number = 0;
	int rc = RC_OK;

	*good = 0;
	while (rc == RC_OK) {
		const uint8_t *at = text.len > *good ? text.ptr + *good : NULL;
		const uint8_t *end = at ? memchr(at, '\n', text.len - *good) : NULL;

		if (!end || is_torn(at, end, text))
			return RC_OK;
		char *line = mem_format("%.*s", (int)(end - at), (const char *)at);
		rc = take_line(line, ++number, path, first, replay, ctx, err);
		mem_free(line);
		*good += (size_t)(end - at) + 1;
	}
	return rc;
}

/* Writes at the position of the file, and returns when the bytes are on disk. */
static int write_durably(struct journal *j, struct bytes text, struct error *err)
{
	size_t done = 0;

	while (done < text.len) {
		ssize_t n = write(j->fd, text.ptr + done, text.len - done);

		if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	bool good = done == text.len && fdatasync(j->fd) == 0;
	return good ? RC_OK : error_errno(err, "%s: cannot write", j->path);
}

static int append(struct journal *j, const char *line, struct error *err)
{
	struct buf b = {0};

	journal_line(&b, line);
	int rc = write_durably(j, buf_bytes(&b), err);
	buf_release(&b);
	return rc;
}

int journal_note(struct journal *j, const char *line, struct error *err)
{
	pthread_mutex_lock(&j->lock);
	/* after an earlier failure, the file may end in an incomplete line, so do not append */
	int rc = j->failure.code ? j->failure.code : append(j, line, &j->failure);
	if (rc)
		*err = j->failure;
	pthread_mutex_unlock(&j->lock);
	return rc;
}

/* Returns true if `path` names the open file. Another process may have replaced it (settle). */
static bool is_named(int fd, const char *path)
{
	struct stat file, there;

	return fstat(fd, &file) == 0 && stat(path, &there) == 0 && file.st_dev == there.st_dev &&
	       file.st_ino == there.st_ino;
}

static int busy(const struct journal *j, struct error *err)
{
	return error_set(err, RC_BUSY,
			 "%s: another process applies this load; wait for it, or stop it", j->path);
}

static int open_and_lock(struct journal *j, struct error *err)
{
	for (;;) {
		j->fd = open(j->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
		if (j->fd < 0)
			return error_errno(err, "cannot open %s", j->path);
		if (flock(j->fd, LOCK_EX | LOCK_NB) < 0)
			return errno == EWOULDBLOCK ? busy(j, err)
						    : error_errno(err, "cannot lock %s", j->path);
		if (is_named(j->fd, j->path))
			return RC_OK;
		close(j->fd);
	}
}

/*
 * Checks a file without a complete line. Such a file is a new journal, or its first line is
 * incomplete because the process died or the power failed. After a power failure, a file may have
 * its size but zeros instead of its bytes. apply must not truncate any other file.
 */
static int check_begun(struct bytes text, const char *path, const char *first, struct error *err)
{
	struct buf line = {0};

	journal_line(&line, first);
	bool ours = text.len <= line.len;
	for (size_t i = 0; ours && i < text.len; i++)
		ours = text.ptr[i] == line.ptr[i] || text.ptr[i] == 0;
	buf_release(&line);
	return ours ? RC_OK
		    : error_set(err, RC_CONFIG,
				"%s: found another file, expected a journal of apply; choose "
				"another file with --journal",
				path);
}

/* --- the load of a journal --- */

int journal_load(char line[JOURNAL_LOAD], const char *dir, struct error *err)
{
	char *manifest = mem_format("%s/manifest.json", dir);
	struct statx folder, file;
	int rc = RC_OK;

	if (statx(AT_FDCWD, dir, 0, STATX_INO, &folder) < 0)
		rc = error_errno(err, "cannot read %s", dir);
	else if (statx(AT_FDCWD, manifest, 0, STATX_BTIME | STATX_CTIME, &file) < 0)
		rc = error_errno(err, "cannot read %s", manifest);
	mem_free(manifest);
	if (rc)
		return rc;
	bool born = (file.stx_mask & STATX_BTIME) && file.stx_btime.tv_sec;
	const struct statx_timestamp *made = born ? &file.stx_btime : &file.stx_ctime;
	snprintf(line, JOURNAL_LOAD, "load %llu %lld.%09u", (unsigned long long)folder.stx_ino,
		 (long long)made->tv_sec, made->tv_nsec);
	return RC_OK;
}

bool journal_same_time(const char *a, const char *b)
{
	const char *x = strrchr(a, ' '), *y = strrchr(b, ' ');

	return x && y && strcmp(x, y) == 0;
}

static bool begins_with(const char *path, struct bytes text)
{
	struct buf head = {0};
	struct error unsaid;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool same =
		fd >= 0 &&
		io_pread(fd, buf_reserve(&head, text.len), text.len, 0, path, &unsaid) == RC_OK &&
		memcmp(head.ptr, text.ptr, text.len) == 0;

	if (fd >= 0)
		close(fd);
	buf_release(&head);
	return same;
}

struct journal_search {
	const char *suffix;
	/* first line of any journal with this manifest; first two lines of this load's journal */
	struct bytes first, both;
	struct journal_found *out;
};

/* Checks one entry of the folder, and takes ownership of `path`. */
static int judge(const struct journal_search *s, char *path, struct error *err)
{
	struct journal_found *f = s->out;
	bool there = true;
	int rc = RC_OK;

	if (begins_with(path, s->both)) {
		f->path = path;
		f->other = true;
		return RC_OK;
	}
	if (!f->alike && begins_with(path, s->first)) {
		char *dir = mem_format("%.*s", (int)(strlen(path) - strlen(s->suffix)), path);

		rc = io_exists(dir, &there, err);
		mem_free(dir);
	}
	if (there)
		mem_free(path);
	else
		f->alike = path;
	return rc;
}

static int search(const struct journal_search *s, const char *parent, struct error *err)
{
	DIR *d = opendir(parent);
	const struct dirent *e;
	size_t n = strlen(s->suffix);
	int rc = RC_OK;

	if (!d)
		return error_errno(err, "cannot look into %s", parent);
	while (rc == RC_OK && !s->out->path && (errno = 0, e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (len > n && strcmp(e->d_name + len - n, s->suffix) == 0)
			rc = judge(s, mem_format("%s%s", parent, e->d_name), err);
	}
	if (rc == RC_OK && !s->out->path && errno)
		rc = error_errno(err, "cannot read %s", parent);
	closedir(d);
	return rc;
}

int journal_find(const char *path, const char *suffix, const char *first, const char *load,
		 struct journal_found *out, struct error *err)
{
	struct buf lines = {0};
	bool there = false;
	const char *slash = strrchr(path, '/');
	char *parent = slash ? mem_format("%.*s", (int)(slash - path + 1), path) : mem_strdup("./");
	int rc = io_exists(path, &there, err);

	*out = (struct journal_found){0};
	journal_line(&lines, first);
	size_t one = lines.len;
	journal_line(&lines, load);
	if (rc == RC_OK && !there) {
		const struct journal_search s = {suffix, bytes_of(lines.ptr, one),
						 buf_bytes(&lines), out};

		rc = search(&s, parent, err);
	}
	if (!out->path)
		out->path = mem_strdup(path);
	buf_release(&lines);
	mem_free(parent);
	return rc;
}

/* Gives the file that replaced another one the other's owner and mode, as far as the user may. */
static void keep_owner(int fd, int old)
{
	struct stat was, is;

	if (fstat(old, &was) < 0 || fstat(fd, &is) < 0 ||
	    (was.st_uid == is.st_uid && was.st_gid == is.st_gid && was.st_mode == is.st_mode))
		return;
	if (fchown(fd, was.st_uid, was.st_gid) == 0 || was.st_uid == is.st_uid)
		(void)!fchmod(fd, was.st_mode & 07777);
}

/*
 * Replaces the file by its complete lines, which are then on disk. The last process may have died
 * before it synced them. After a sync that failed, the kernel shows bytes that the disk does not
 * have, and the next sync omits them. Therefore write the lines again, but never over the old ones:
 * a power failure in the middle may destroy lines that are on disk. The old file stays locked until
 * the new one is.
 */
static int settle(struct journal *j, struct bytes lines, struct error *err)
{
	struct buf now = {0};
	int old = j->fd, rc = io_replace_file(j->path, lines, NULL, err);

	if (rc)
		return rc;
	j->fd = -1;
	rc = open_and_lock(j, err);
	if (rc == RC_OK)
		rc = io_read_file(j->path, &now, err);
	/* another process may have locked the new file first, and may be at its end already */
	if (rc == RC_OK && !bytes_eq(buf_bytes(&now), lines))
		rc = busy(j, err);
	if (rc == RC_OK)
		keep_owner(j->fd, old);
	close(old);
	buf_release(&now);
	return rc;
}

/* Empties a file without a complete line. */
static int begin_again(const struct journal *j, struct bytes text, struct error *err)
{
	return text.len && ftruncate(j->fd, 0) < 0 ? error_errno(err, "%s: cannot cut", j->path)
						   : RC_OK;
}

int journal_open(struct journal *j, const char *path, const char *first, journal_replay *replay,
		 void *ctx, struct error *err)
{
	struct buf text = {0};
	size_t good = 0;

	*j = (struct journal){.fd = -1, .path = mem_strdup(path)};
	pthread_mutex_init(&j->lock, NULL);
	int rc = open_and_lock(j, err);
	if (rc == RC_OK)
		rc = io_read_file(path, &text, err);
	if (rc == RC_OK)
		rc = journal_read(buf_bytes(&text), path, first, replay, ctx, &good, err);
	if (rc == RC_OK && good == 0)
		rc = check_begun(buf_bytes(&text), path, first, err);
	if (rc == RC_OK && good)
		rc = settle(j, bytes_of(text.ptr, good), err);
	else if (rc == RC_OK)
		rc = begin_again(j, buf_bytes(&text), err);
	if (rc == RC_OK && good == 0)
		rc = journal_note(j, first, err);
	if (rc == RC_OK)
		rc = io_sync_parent(path, err);
	buf_release(&text);
	if (rc)
		journal_close(j);
	return rc;
}

void journal_close(struct journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	if (j->path)
		pthread_mutex_destroy(&j->lock);
	mem_free(j->path);
	*j = (struct journal){.fd = -1};
}
