/*
 * lock.h - the lock of a state folder, with a note about the newest record
 *
 * The kernel holds the lock itself (flock). The note in the lock file has two lines, for example
 * "4711 on host" and "at 12 publishing 12".
 *
 * The first line is for people. The second line has the number of records so far, then "publishing"
 * or "-", then the number again. "publishing" means that a load without a record may be in place.
 * The line repeats the number, because power may fail during the write.
 *
 * The second line is for file systems that several machines share. NFS may show an old version of a
 * directory for up to a minute. If a process opens a file, NFS always shows its newest content. So
 * the next owner of the lock notices if a record is not visible yet. The line never counts a record
 * that is not in the folder.
 */
#ifndef SALTMILL_STATE_LOCK_H
#define SALTMILL_STATE_LOCK_H

#include <stdbool.h>

#include "error.h"

struct lock {
	int fd; /* -1 without the lock */
	unsigned long long records;
	bool publishing;
};

/*
 * Take the lock and read the note into *l. Return RC_BUSY if another process holds the lock. In
 * this case, too, *l contains the note.
 */
int lock_take(struct lock *l, const char *dir, struct error *err);
void lock_release(struct lock *l);
/* Compare the folder with the note. Return RC_BUSY if the visible folder is older than the note. */
int lock_check(const struct lock *l, const char *dir, unsigned long long records, bool publishing,
	       struct error *err);
/*
 * Write the note. A failure is an error only if the new note counts less than the old note.
 * lock_check would then refuse the folder, because the old note counts more than the folder has.
 * Write such a note before the folder changes.
 */
int lock_note(struct lock *l, unsigned long long records, bool publishing, struct error *err);

#endif
