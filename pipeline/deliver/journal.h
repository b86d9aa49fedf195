/*
 * journal.h - the events of apply, one per line, each on disk before the next step
 *
 *   saltmill-apply 1 MANIFEST-DIGEST CLUSTER-ID #c3d2e1f0
 *   load 5506282 1795362625.103952771 #...   the load's folder (journal_load)
 *   0 create 1f00.. 77ab.. #...          nonces of the table's creation, before its request
 *   0 created #...
 *   folder saltmill-9f8e7d6c5b4a3921 #...
 *   0 token hdfs://nn/hbase/staging/... #...
 *   0 table 16468 3f2a.. 77c1.. #...     the table's incarnation (incarnation.h)
 *   0 put 17 16387 #...                  file 17 of the table is in the upload folder, with this id
 *   0 sent 17 18 #...                    before a call with these files
 *   0 back 17 18 #...                    after the call, if these files are not in the table
 *   0 done 17 18 #...                    after the call, if these files are in the table
 *   0 aside 19 #...                      before the rename of the file, so that no call finds it
 *   parts #...                           before the creation of the folder of parts
 *   0 cut 19 24 61:6b:900:7468:68a5.. 6d:7a:124:1022:9b52.. #...   the parts are files 24 and 25
 *   0 cleaned #...
 *   finished #...
 *
 * The first number is the table's index in the manifest. Each line ends with its hash. The reader
 * ignores an incomplete last line, because the process died before the step that the line
 * announces.
 */
#ifndef SALTMILL_APPLY_JOURNAL_H
#define SALTMILL_APPLY_JOURNAL_H

#include <pthread.h>

#include "bytes.h"
#include "error.h"

#define JOURNAL_LOAD 64

struct journal {
	int fd; /* -1 if not open */
	char *path;
	pthread_mutex_t lock;
	/* `code` is 0 before a failure; after a failure, all later notes fail with the same
	 * error */
	struct error failure;
};

/* Handles one line without its hash. The line is NUL-terminated and valid during the call. */
typedef int journal_replay(void *ctx, char *line, struct error *err);

/*
 * Opens and locks the journal, or begins a new one with the line `first`. Calls `replay` for each
 * existing line. Returns RC_BUSY if another process holds the lock, and RC_DATA if a line does not
 * match its digest. If the first line differs, returns RC_CONFIG and leaves the file unchanged.
 */
int journal_open(struct journal *j, const char *path, const char *first, journal_replay *replay,
		 void *ctx, struct error *err);
/*
 * Makes the line "load INODE TIME", which identifies the load's folder. INODE is the folder's
 * inode. TIME is the birth time of manifest.json, or the time of its last change if the file system
 * has no birth times. Two loads of equal inputs have equal manifests, but different lines. A rename
 * of the folder keeps the line. The file system may reuse an inode, but not a birth time.
 */
int journal_load(char line[JOURNAL_LOAD], const char *dir, struct error *err);
/* Returns true if both lines of journal_load name manifests of the same time. */
bool journal_same_time(const char *a, const char *b);

struct journal_found {
	char *path;  /* the caller frees it */
	bool other;  /* true if the journal has the folder's former name */
	char *alike; /* freed by the caller; NULL if there is no such journal */
};
/*
 * Finds the load's journal, which begins with the lines `first` and `load`. The journal is at
 * `path`. After a rename of the folder, the journal has another name in the same parent. Sets
 * out->alike to a journal that has an equal manifest, but whose folder no longer exists.
 */
int journal_find(const char *path, const char *suffix, const char *first, const char *load,
		 struct journal_found *out, struct error *err);
/* Appends a line. After RC_OK the line is on disk. Any thread may call this function. */
int journal_note(struct journal *j, const char *line, struct error *err);
void journal_close(struct journal *j); /* Closes the journal. Accepts {.fd = -1}. */

/*
 * Parses the content of a journal. Calls `replay` for each complete line after the first, and sets
 * *good to the end of the last complete line.
 */
int journal_read(struct bytes text, const char *path, const char *first, journal_replay *replay,
		 void *ctx, size_t *good, struct error *err);
/* Appends the line with its hash and a line feed to *out. */
void journal_line(struct buf *out, const char *line);

#endif
