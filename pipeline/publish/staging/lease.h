/*
 * lease.h - a lock in a place without locks: a file that its owner touches every few seconds
 *
 * Another run that finds the file checks its owner. On the same machine it checks whether the
 * process lives. On another machine it watches the file: an owner that does not touch it for half a
 * minute is dead.
 */
#ifndef SALTMILL_LEASE_H
#define SALTMILL_LEASE_H

#include "storage.h"

struct lease;
/*
 * Create the file, which must not exist, and keep touching it; path is copied. RC_CONFIG: the place
 * does not identify files.
 */
int lease_take(struct lease **out, struct storage *s, const char *path, struct error *err);
/* Is the file still the one that lease_take created? */
int lease_held(struct lease *l, bool *held, struct error *err);
/* Stop touching and free l. The file stays. NULL is fine. */
void lease_end(struct lease *l);
/* Is the owner of the file at path alive? May watch for half a minute. */
int lease_alive(struct storage *s, const char *path, bool *alive, struct error *err);

#endif
