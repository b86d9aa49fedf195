/*
 * lock.h - a state folder's lock, and how far the state was when it was written last
 *
 *   4711 on host
 *   at 12 publishing 12  records so far, and whether a load may be published that has none; "-" if
 *                        not; the number once more, as power may go while it is written
 *
 * The lock itself is the kernel's (flock); who holds it is for people.  The second line is for file
 * systems that several machines share: a directory may be shown as it was some time ago (NFS keeps
 * entries for up to a minute), but a file that is opened has its last content.  So who takes over
 * can tell that a record is not to be seen yet.  The line is never ahead of the folder.
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

/* RC_BUSY when another process has it; how far it was is in *l then, too. */
int lock_take(struct lock *l, const char *dir, struct error *err);
void lock_release(struct lock *l);
/* RC_BUSY: what is seen of the folder is older than the lock says. */
int lock_check(const struct lock *l, const char *dir, unsigned long long records, bool publishing,
	       struct error *err);
/* Write down how far the state is now.  Failing is no harm. */
void lock_note(struct lock *l, unsigned long long records, bool publishing);

#endif
