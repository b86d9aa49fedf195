/*
 * lock.h - the lock of a state folder, and a note of how far the state was at the last write
 *
 *   4711 on host
 *   at 12 publishing 12  records so far, and "publishing" if a load without a record may be
 *                        published, else "-"; the number again, as power may fail during the write
 *
 * The kernel holds the lock itself (flock); the first line is for people. The second line is for
 * file systems that several machines share. A directory may be shown in an old version (NFS caches
 * entries for up to a minute), but a file that is opened has its last content. So the next owner
 * can detect that a record is not visible yet. The line is never ahead of the folder.
 */
#ifndef SALTMILL_STATE_LOCK_H
#define SALTMILL_STATE_LOCK_H

#include <stdbool.h>

#include "error.h"

struct lock {
	int fd; /* -1: not held */
	unsigned long long records;
	bool publishing;
};

/* Take the lock. RC_BUSY: another process has it; *l then contains the note, too. */
int lock_take(struct lock *l, const char *dir, struct error *err);
void lock_release(struct lock *l);
/* Compare the folder with the note. RC_BUSY: the visible folder is older than the note. */
int lock_check(const struct lock *l, const char *dir, unsigned long long records, bool publishing,
	       struct error *err);
/* Write the note; a failure does no harm. */
void lock_note(struct lock *l, unsigned long long records, bool publishing);

#endif
