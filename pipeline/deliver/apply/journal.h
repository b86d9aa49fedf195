/*
 * journal.h - what was done of handing a load over, a line an event, on disk before what follows
 *
 *   saltmill-apply 1 MANIFEST-DIGEST CLUSTER-ID #c3d2e1f0
 *   load 5506282 1795362625.103952771 #...   which folder it is (journal_load)
 *   0 create 1f00.. 77ab.. #...          nonces of the table's creation, before it is asked for
 *   0 created #...
 *   folder saltmill-9f8e7d6c5b4a3921 #...
 *   0 token hdfs://nn/hbase/staging/... #...
 *   0 table 16468 3f2a.. 77c1.. #...     which incarnation it is (incarnation.h)
 *   0 put 17 16387 #...                  file 17 of the table is uploaded, with this file id
 *   0 sent 17 18 #...                    before it: the call of a region with these files
 *   0 back 17 18 #...                    behind it: it has ended, and these are not in
 *   0 done 17 18 #...                    or: they are in the table
 *   0 aside 19 #...                      before it is renamed where no call finds it
 *   parts #...                           before the folder of cut files is made
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

#define JOURNAL_LOAD 64

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
 * "load INODE TIME": the load's folder, and when its manifest.json was made (its birth; its last
 * change, where the file system knows no birth).  Equal inputs and job give another load an equal
 * manifest: a rename keeps this line, and no other folder has it.  A folder's inode is given anew
 * when it is removed, a birth is not.
 */
int journal_load(char line[JOURNAL_LOAD], const char *dir, struct error *err);
/* Do two such lines tell of manifests that were made at the same time? */
bool journal_same_time(const char *a, const char *b);

struct journal_found {
	char *path;  /* the caller's */
	bool other;  /* it has the name that the folder had before */
	char *alike; /* the caller's; NULL: none */
};
/*
 * Where the load's journal is: at path, or else, when its folder was given another name in its
 * parent, under the name it had there: one whose first two lines are `first` and `load`.  alike:
 * one of an equal manifest alone, whose own folder is not there any more.
 */
int journal_find(const char *path, const char *suffix, const char *first, const char *load,
		 struct journal_found *out, struct error *err);
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
