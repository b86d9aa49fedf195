#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "mem.h"

#define TEXT_BYTES 256

/*
 * Parse the note. A power failure may interrupt the note's write, and leave a line that begins with
 * the new note and continues with the old one. So ignore a line without its end, and a count that
 * the line does not contain twice. Notes of old versions contain the count once.
 */
static void read_note(struct lock *l, const char *line)
{
	unsigned long long records = 0, again = 0;
	char word[16] = "";
	int n = sscanf(line, "at %llu %15s %llu", &records, word, &again);
	bool publishing = strcmp(word, "publishing") == 0;
	bool whole = strchr(line, '\n') &&
		     (n == 1 || (n == 2 && publishing) ||
		      (n == 3 && again == records && (publishing || strcmp(word, "-") == 0)));
	l->records = whole ? records : 0;
	l->publishing = whole && publishing;
}

static void read_text(struct lock *l, char *text)
{
	ssize_t n = pread(l->fd, text, TEXT_BYTES - 1, 0);

	text[n > 0 ? n : 0] = 0;
	const char *line = strchr(text, '\n');
	read_note(l, line ? line + 1 : "");
	text[strcspn(text, "\n")] = 0;
}

static int refuse(const char *dir, const char *owner, struct error *err)
{
	return error_set(
		err, RC_BUSY,
		"%s is in use by process %s; only one process at a time can use a state folder; "
		"to share a topic, write `share: true`, or give each process its own "
		"`partitions:` and folder",
		dir, owner);
}

int lock_take(struct lock *l, const char *dir, struct error *err)
{
	char text[TEXT_BYTES];
	struct error unsaid;
	char *path = mem_format("%s/lock", dir);

	*l = (struct lock){.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666)};
	mem_free(path);
	if (l->fd < 0)
		return error_set(err, RC_CONFIG, "cannot lock %s: %s", dir, strerror(errno));
	/* retry, because state_in_use of another process may hold the lock for a moment */
	for (int tries = 5; flock(l->fd, LOCK_EX | LOCK_NB) < 0; clock_sleep_ms(20)) {
		if (--tries)
			continue;
		read_text(l, text);
		return refuse(dir, text, err);
	}
	read_text(l, text);
	lock_note(l, l->records, l->publishing, &unsaid);
	return RC_OK;
}

void lock_release(struct lock *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

int lock_check(const struct lock *l, const char *dir, unsigned long long records, bool publishing,
	       struct error *err)
{
	if (records > l->records || (records == l->records && publishing >= l->publishing))
		return RC_OK;
	return error_set(
		err, RC_BUSY,
		"%s contains %llu records%s, but its lock counts %llu%s; this machine sees an "
		"old version of the folder for a moment, or the folder is an old copy; to use "
		"the copy, remove %s/lock",
		dir, records, publishing ? " and a load that may be published" : "", l->records,
		l->publishing ? " and a load that may be published" : "", dir);
}

static bool write_note(int fd, const char *text, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t some = pwrite(fd, text + done, n - done, (off_t)done);

		if (some < 0 && errno != EINTR)
			return false;
		done += some > 0 ? (size_t)some : 0;
	}
	return ftruncate(fd, (off_t)n) == 0;
}

int lock_note(struct lock *l, unsigned long long records, bool publishing, struct error *err)
{
	char host[64] = "", text[TEXT_BYTES];

	if (l->fd < 0)
		return RC_OK;
	gethostname(host, sizeof host - 1);
	int n = snprintf(text, sizeof text, "%ld on %s\nat %llu %s %llu\n", (long)getpid(), host,
			 records, publishing ? "publishing" : "-", records);
	bool less = records < l->records || (records == l->records && publishing < l->publishing);
	bool good = write_note(l->fd, text, (size_t)n);
	/* sync the note before the next owner can open the folder */
	if (less && (!good || fdatasync(l->fd) < 0))
		return error_errno(err, "cannot write the lock of the state folder");
	l->records = records;
	l->publishing = publishing;
	return RC_OK;
}
