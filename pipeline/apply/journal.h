/*
 * journal.h - what was done of handing a load over, a line an event, on disk before what follows
 *
 *   saltmill-apply 1 MANIFEST-DIGEST CLUSTER-ID #c3d2e1f0
 *   0 create 1f00.. 77ab.. #...          nonces of the table's creation, before it is asked for
 *   0 created #...
 *   0 folder saltmill-9f8e7d6c5b4a3921 #...
 *   0 token hdfs://nn/hbase/staging/... #...
 *   0 put 17 16387 #...                  file 17 of the table is uploaded, with this file id
 *   0 sent 17 18 #...                    before it: the call of a region with these files
 *   0 back 17 18 #...                    behind it: it has ended, and these are not in
 *   0 done 17 18 #...                    or: they are in the table
 *   0 aside 19 #...                      before it is renamed where no call finds it
 *   0 cut 19 24 61:6b:900:7468:68a5.. 6d:7a:124:1022:9b52.. #...   its parts are files 24 and 25
 *   0 cleaned #...
 *   finished #...
 *
 * The first number is the table's, in the manifest's order.  Each line ends with a hash of it. What
 * stands behind the last whole line was being written when the process died, and did not happen.
 */
#ifndef SALTMILL_APPLY_JOURNAL_H
#define SALTMILL_APPLY_JOURNAL_H

#include <pthread.h>

#include "bytes.h"
#include "error.h"

struct journal {
	int fd; /* -1: none */
	char *path;
	pthread_mutex_t lock;
	struct error failure; /* code 0: none; later notes fail with it */
};

/* One line, without the hash: NUL-terminated, valid during the call. */
typedef int journal_replay(void *ctx, char *line, struct error *err);

/*
 * Open it, or begin it with the line `first`, and hold its lock; what stands there is told to
 * replay.  RC_BUSY: another process has it.  RC_CONFIG: it begins otherwise, so it is of something
 * else; it is left as it is.  RC_DATA: a line in it was changed.
 */
int journal_open(struct journal *j, const char *path, const char *first, journal_replay *replay,
		 void *ctx, struct error *err);
/*
 * Where the journal that begins with `first` is: at path, or else, when the load's folder was given
 * another name in its parent, under the name it had there.  The caller's; *other: the latter.
 */
int journal_find(const char *path, const char *suffix, const char *first, char **out, bool *other,
		 struct error *err);
/* Append a line; it is on disk when this is RC_OK.  Any thread. */
int journal_note(struct journal *j, const char *line, struct error *err);
void journal_close(struct journal *j); /* {.fd = -1} is fine */

/*
 * Judge the content of a journal: calls replay for each whole line behind the first, *good is where
 * the last whole line ends.
 */
int journal_read(struct bytes text, const char *path, const char *first, journal_replay *replay,
		 void *ctx, size_t *good, struct error *err);
/* The line with its hash and line feed, appended. */
void journal_line(struct buf *out, const char *line);

#endif
