/*
 * lease.h - lock a folder with a file that the lock's owner touches every few seconds
 *
 * A lease is for storage that has no locks. Another run that finds the file checks the owner. On
 * the same machine, the run checks whether the process is running. On another machine, the run
 * watches the file. An owner that does not touch the file for 30 s is dead.
 */
#ifndef SALTMILL_LEASE_H
#define SALTMILL_LEASE_H

#include "storage.h"

struct lease;
/*
 * Create the file, which must not exist, and touch it regularly. The lease copies `path`. Return
 * RC_CONFIG if the server does not report file ids.
 */
int lease_take(struct lease **out, struct storage *s, const char *path, struct error *err);
/* Set `*held` to true if the file is still the file that lease_take created. */
int lease_held(struct lease *l, bool *held, struct error *err);
/* Stop touching the file and free `l`, which may be NULL. The file remains. */
void lease_end(struct lease *l);
/* Set `*alive` to true if the owner of the file at `path` is alive. The check may take 30 s. */
int lease_alive(struct storage *s, const char *path, bool *alive, struct error *err);

#endif
