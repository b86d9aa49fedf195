/*
 * journal.h - the events of handing a load over, a line each, on disk before the next step
 *
 *   saltmill-apply 1 MANIFEST-DIGEST CLUSTER-ID #c3d2e1f0
 *   load 5506282 1795362625.103952771 #...   which folder it is (journal_load)
 *   0 create 1f00.. 77ab.. #...          nonces of the table's creation, before it is requested
 *   0 created #...
 *   folder saltmill-9f8e7d6c5b4a3921 #...
 *   0 token hdfs://nn/hbase/staging/... #...
 *   0 table 16468 3f2a.. 77c1.. #...     which incarnation it is (incarnation.h)
 *   0 put 17 16387 #...                  file 17 of the table is uploaded, with this file id
 *   0 sent 17 18 #...                    before the call of a region with these files
 *   0 back 17 18 #...                    after the call: it has ended, and these are not in
 *   0 done 17 18 #...                    or: they are in the table
 *   0 aside 19 #...                      before it is renamed to where no call finds it
 *   parts #...                           before the folder of cut files is made
 *   0 cut 19 24 61:6b:900:7468:68a5.. 6d:7a:124:1022:9b52.. #...   its parts are files 24 and 25
 *   0 cleaned #...
 *   finished #...
 *
 * The first number is the table's, in the manifest's order. Each line ends with its hash. Half a
 * line at the end was being written when the process died, so its event did not happen.
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
	struct error failure; /* code 0: none; later notes fail with the same error */
};

/* Takes one line without its hash: NUL-terminated, valid during the call. */
typedef int journal_replay(void *ctx, char *line, struct error *err);

/*
 * Opens the journal, or begins it with the line `first`, and locks it. Calls replay for each line
 * that it has. RC_BUSY: another process holds the lock. RC_CONFIG: it begins with another line, so
 * it belongs to something else, and is not changed. RC_DATA: a line was changed.
 */
int journal_open(struct journal *j, const char *path, const char *first, journal_replay *replay,
		 void *ctx, struct error *err);
/*
 * Makes "load INODE TIME": the load's folder, and when its manifest.json was made (its birth, or
 * its last change if the file system has no birth times). Equal inputs and job give another load an
 * equal manifest. A rename keeps this line, and no other folder has it. A removed folder's inode
 * may be reused, a birth time is not.
 */
int journal_load(char line[JOURNAL_LOAD], const char *dir, struct error *err);
/* Returns true if two such lines name manifests that were made at the same time. */
bool journal_same_time(const char *a, const char *b);

struct journal_found {
	char *path;  /* the caller frees it */
	bool other;  /* it has the folder's former name */
	char *alike; /* the caller frees it; NULL: none */
};
/*
 * Finds the load's journal: at path, or in the same parent under another name, if the folder was
 * renamed. Such a journal begins with the lines `first` and `load`. alike: a journal with only an
 * equal manifest, whose own folder is gone.
 */
int journal_find(const char *path, const char *suffix, const char *first, const char *load,
		 struct journal_found *out, struct error *err);
/* Appends a line; RC_OK: it is on disk. Any thread may call it. */
int journal_note(struct journal *j, const char *line, struct error *err);
void journal_close(struct journal *j); /* {.fd = -1} is fine */

/*
 * Parses the content of a journal: calls replay for each whole line after the first, and sets *good
 * to the end of the last whole line.
 */
int journal_read(struct bytes text, const char *path, const char *first, journal_replay *replay,
		 void *ctx, size_t *good, struct error *err);
/* Appends the line with its hash and a line feed to *out. */
void journal_line(struct buf *out, const char *line);

#endif
