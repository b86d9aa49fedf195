/*
 * lease.h - a lock in a place where the system knows of none: a file that its owner keeps touching
 *
 * Who meets such a file of this very machine looks whether the process lives; of another one he
 * watches it: an owner touches it every few seconds, one that does not for half a minute has died.
 */
#ifndef SALTMILL_LEASE_H
#define SALTMILL_LEASE_H

#include "storage.h"

struct lease;
/*
 * Create the file, which must not exist, and keep touching it; path is copied.  RC_CONFIG: the
 * place does not tell by what the file could be known again.
 */
int lease_take(struct lease **out, struct storage *s, const char *path, struct error *err);
/* Is the file still the one that was created? */
int lease_held(struct lease *l, bool *held, struct error *err);
/* Touch no more; free l.  The file stays.  NULL is fine. */
void lease_end(struct lease *l);
/* Does the owner of the file at path live?  This may watch for half a minute. */
int lease_alive(struct storage *s, const char *path, bool *alive, struct error *err);

#endif
