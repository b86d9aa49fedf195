/*
 * handover.h - load one table's files into their regions, each exactly once, even if runs die
 *
 * This state machine acts only through struct hand_world, so a test can try every order of events.
 * The state machine follows these rules:
 *
 * - A file keeps its id when HBase moves it. A region server moves it from the upload folder to the
 *   token's folder, then into the region's folder. A compaction moves it to the archive later.
 * - A file is done when apply finds its id in the table's folder or its archive. This rule applies
 *   after every answer, also after "loaded". The absence of a file proves nothing. If no folder has
 *   a file, apply uploads it again.
 * - If the user may not read the table's folder, a file is done after the answer "loaded", or if the
 *   table shows all cells of a file that is in no other folder.
 * - apply notes a call before it begins, and notes its files when they are done. After a crash,
 *   apply looks for the files of a call without an end. apply sends such files again only from the
 *   upload folder. If HBase has moved a file, a second call for the file finds nothing there.
 * - apply removes the token's folder only after all files are in the table.
 * - If a file crosses a border of the live regions, apply moves it out of the upload folder. A call
 *   that still runs then cannot find the file. apply cuts the file, and the parts replace it.
 *
 * If HBase's root is file://, the servers copy files instead of moving them. In that case, or if
 * the user may read neither the table's folder nor the table, apply cannot distinguish a lost answer
 * from a lost call. apply may then load a file twice. Both copies have the same cells, and HBase
 * shows each cell once.
 *
 * If HBase's root is in S3, the servers copy files, too, but apply finds the copies by their bytes
 * (copies.c). After a lost answer, apply searches for half a minute, and a second for each 4 MiB,
 * before it sends a file again, because the call may still be copying.
 */
#ifndef SALTMILL_APPLY_HANDOVER_H
#define SALTMILL_APPLY_HANDOVER_H

#include "hbase.h"
#include "run.h"

enum hand_state {
	HAND_NEW,   /* not uploaded */
	HAND_READY, /* in the upload folder */
	HAND_SENT,  /* in a call */
	HAND_DONE,  /* in the table */
	HAND_ASIDE, /* moves out of the upload folder; then apply cuts it */
	HAND_CUT    /* replaced by its parts, which are later files */
};

struct hand_file {
	const char *family;
	/* paths within the storage; `staged` is NULL before there is a token */
	const char *upload, *staged;
	struct bytes first, last; /* first and last row */
	uint64_t id;		  /* id of the uploaded file, 0 if unknown */
	uint64_t bytes;
	enum hand_state state;
	/* number of answers without a reason that left the file outside of the table */
	unsigned refused;
	bool later; /* the file belongs to a later batch */
};

enum hand_phase { HAND_UPLOADS, HAND_CALLS, HAND_CLEANS };

struct hand_world {
	void *self;
	/* Uploads a file, and sets *id to its id in the storage. */
	int (*put)(void *self, const struct hand_file *f, uint64_t *id, struct error *err);
	/* Reads the id of the file at a path. Sets *id to 0 if there is no file. */
	int (*look)(void *self, const char *path, uint64_t *id, struct error *err);
	int (*move)(void *self, const char *from, const char *to, struct error *err);
	/*
	 * Cuts a file at the borders of the regions `r` within it. Appends a space and a word for
	 * each part. part() parses these words. Several threads may cut files at once.
	 */
	int (*cut)(void *self, const struct hand_file *f, const struct hbase_regions *r,
		   struct buf *words, struct error *err);
	/*
	 * Sets *out to a part of file number `of`. Returns RC_DATA if the word does not describe a
	 * part.
	 */
	int (*part)(void *self, size_t of, const char *word, struct hand_file *out,
		    struct error *err);
	/*
	 * Finds which files are in the folder or archive of region `r`. If `r` is NULL, searches
	 * all regions of the table. Sets in[i] for the files found. Before the call, the caller
	 * sets all in[i] to false. Returns RC_END if the user may not read these folders.
	 */
	int (*in_table)(void *self, const struct hbase_region *r, struct hand_file *const *files,
			size_t n, bool *in, struct error *err);
	/*
	 * Compares the cells of a file with the live table, for a user who may not read the table's
	 * folders. Sets *in if the table has all cells of the file. A file is then in the table, or
	 * its load would not change the table for readers. If the user may not read the table, sets
	 * *in to false.
	 */
	int (*cells)(void *self, const struct hand_file *f, bool *in, struct error *err);
	int (*regions)(void *self, struct hbase_regions *out, struct hbase_failure *why,
		       struct error *err);
	int (*load)(void *self, const struct hbase_region *r, struct hand_file *const *files,
		    size_t n, bool *loaded, struct hbase_failure *why, struct error *err);
	/* Removes the token's folder (cleanup) and the upload folder (sweep). */
	int (*cleanup)(void *self, const struct hbase_region *r, struct hbase_failure *why,
		       struct error *err);
	int (*sweep)(void *self, struct error *err);
	/* Writes an event to the journal. After RC_OK the event is on disk. */
	int (*note)(void *self, const char *line, struct error *err);
	/*
	 * Looks for the cause if a server did not load `f` and gave no reason. Returns RC_OK if it
	 * finds no cause, and may append a hint for the message. Returns RC_IO for a temporary
	 * cause, and another error for a cause that the user must remove.
	 */
	int (*explain)(void *self, const struct hand_file *f, struct buf *hint, struct error *err);
	/*
	 * Waits before the next check or attempt. Returns false to give up, with the cause in *err.
	 */
	bool (*again)(void *self, const struct hbase_failure *why, struct hbase_attempts *attempt,
		      struct error *err);
	void (*pause)(void *self, unsigned ms);
	/*
	 * Waits until the next upload or call may begin (ready), and until the servers have digested
	 * the calls before (settle). These members may be NULL.
	 */
	int (*ready)(void *self, struct error *err);
	int (*settle)(void *self, struct error *err);
	/* Reports that a phase begins, for time measurements. This member may be NULL. */
	void (*begin)(void *self, enum hand_phase phase);
};

struct handover {
	const struct hand_world *world;
	const char *table;
	/* array from mem_alloc, owned by the caller; cuts append parts to it (mem_reserve) */
	struct hand_file *files;
	size_t nfiles, files_room;
	unsigned threads;
	/* apply uploads and loads the files of so many regions before others; 0 means all */
	size_t batch;
	bool cleaned;
	/* true if servers copy files, so that a loaded file stays in the upload folder */
	bool copies;
	/* with `copies`: true if in_table can find the copies */
	bool proves;
	uint64_t checks; /* searches for the files of calls that an earlier run began */
	/* number of files that count as loaded only because of the answer */
	_Atomic size_t unproved;
	/* counter of files in the table, including those of replay; may be NULL */
	_Atomic uint64_t *done;
	struct progress *progress; /* counts uploads, then files in calls; may be NULL */
	bool sends;		   /* true if the progress line shows calls, not uploads */
};

/* Does all remaining steps, from the upload to the clean-up. May reallocate the array `files`. */
int handover_run(struct handover *h, struct error *err);
/*
 * Replays a line of the journal without the table's number. Handles put, sent, back, done, aside,
 * cut and cleaned. Returns RC_END for another event, and RC_DATA if the event cannot belong to this
 * table.
 */
int handover_replay(struct handover *h, char *line, struct error *err);
/*
 * Finds the region of `r` that contains the file's first row. Returns false if the last row is
 * beyond the end of that region.
 */
bool handover_region(const struct hbase_regions *r, const struct hand_file *f, size_t *region);

#endif
