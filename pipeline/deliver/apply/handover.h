/*
 * handover.h - hand one table's files to their regions, each once, even if runs break off
 *
 * This is the state machine alone. It acts only through struct hand_world, so a test can try every
 * order of events. These rules make it right:
 *
 * - A file keeps its id when it is moved. A region server moves it from the upload folder to the
 *   token's folder, then into the region's folder. A compaction moves it to the archive later.
 * - A file is done when it was found by its id in the table's folder or its archive. This holds
 *   after every answer, also after "loaded". Nothing is inferred from a file's absence: a file
 *   that is found nowhere is uploaded again.
 * - If the user may not read the table's folder, the answer "loaded" counts, and no other does.
 * - A call is noted before it is made, and its files are noted when they are done. After a crash
 *   the files of a call without an end are looked for. They are sent again only from the upload
 *   folder, where a second call for the same file finds nothing to move.
 * - The token's folder is removed when all files are in, and not before.
 * - A file that crosses a border of the live regions is moved out of the upload folder, so that no
 *   call that may still run finds it. It is cut at the border, and its parts replace it.
 *
 * If the servers copy instead of moving (HBase's root is file://), or the table's folder cannot be
 * read, a lost answer is not distinguished from a lost call. Such a file may be loaded twice, with
 * the same cells, and HBase shows each cell once.
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
	HAND_ASIDE, /* being moved out of the upload folder, to be cut */
	HAND_CUT    /* later files have its cells */
};

struct hand_file {
	const char *family;
	const char *upload, *staged; /* paths within the storage; staged: NULL without a token */
	struct bytes first, last;    /* rows */
	uint64_t id;		     /* of the uploaded file; 0: unknown */
	enum hand_state state;
	unsigned refused; /* answers without a reason after which it was not in the table */
};

enum hand_phase { HAND_UPLOADS, HAND_CALLS, HAND_CLEANS };

struct hand_world {
	void *self;
	/* Uploads a file; *id: its id there. */
	int (*put)(void *self, const struct hand_file *f, uint64_t *id, struct error *err);
	/* Reads the id of the file at a path; 0: there is no file. */
	int (*look)(void *self, const char *path, uint64_t *id, struct error *err);
	int (*move)(void *self, const char *from, const char *to, struct error *err);
	/*
	 * Cuts a file at the borders of r within it. Appends a word for each part, with a blank
	 * before it; part() parses these words. Several files may be cut at once.
	 */
	int (*cut)(void *self, const struct hand_file *f, const struct hbase_regions *r,
		   struct buf *words, struct error *err);
	/*
	 * Makes the next file, one more than there are: a part of file number `of`. RC_DATA: the
	 * word names no part.
	 */
	int (*part)(void *self, size_t of, const char *word, struct hand_file *out,
		    struct error *err);
	/*
	 * Finds which files are in the folder or archive of region r; NULL: of any region of the
	 * table. Sets in[i] for those that are; all are false before. RC_END: the user may not look
	 * there.
	 */
	int (*in_table)(void *self, const struct hbase_region *r, struct hand_file *const *files,
			size_t n, bool *in, struct error *err);
	int (*regions)(void *self, struct hbase_regions *out, struct hbase_failure *why,
		       struct error *err);
	int (*load)(void *self, const struct hbase_region *r, struct hand_file *const *files,
		    size_t n, bool *loaded, struct hbase_failure *why, struct error *err);
	/* Removes the token's folder (cleanup) and the upload folder (sweep). */
	int (*cleanup)(void *self, const struct hbase_region *r, struct hbase_failure *why,
		       struct error *err);
	int (*sweep)(void *self, struct error *err);
	/* Writes an event to the journal; RC_OK: it is on disk. */
	int (*note)(void *self, const char *line, struct error *err);
	/*
	 * Looks for the reason why a server did not load f and gave none. RC_OK: none was found;
	 * hint may get words for the message. RC_IO: a reason that passes. Other errors: a reason
	 * that the user must remove first.
	 */
	int (*explain)(void *self, const struct hand_file *f, struct buf *hint, struct error *err);
	/* Waits before the next look or try; false: give up, *err has the cause. */
	bool (*again)(void *self, const struct hbase_failure *why, unsigned *attempt,
		      struct error *err);
	void (*pause)(void *self, unsigned ms);
	/* Reports the phase that begins, for time measurements; may be NULL. */
	void (*begin)(void *self, enum hand_phase phase);
};

struct handover {
	const struct hand_world *world;
	const char *table;
	struct hand_file *files; /* the caller's, from mem_alloc; parts are appended */
	size_t nfiles;
	unsigned threads;
	bool cleaned;
	bool copies; /* servers copy: a loaded file stays in the upload folder */
	/* files that only the answer "loaded" proves: nobody looked for them */
	_Atomic size_t unproved;
	_Atomic uint64_t *done; /* counter of files that are in, also during replay; may be NULL */
	struct progress *progress; /* counts uploads, then files handed over; may be NULL */
	bool sends;		   /* the progress line shows the hand-over */
};

/* Does all that is left, from the upload to the clean-up. May reallocate files. */
int handover_run(struct handover *h, struct error *err);
/*
 * Replays a line of the journal, from after the table's number: put, sent, back, done, aside, cut,
 * cleaned. RC_END: it is another event; RC_DATA: it cannot belong to this table.
 */
int handover_replay(struct handover *h, char *line, struct error *err);
/* Finds the region of r that has the file's first row; false: the last row is beyond its end. */
bool handover_region(const struct hbase_regions *r, const struct hand_file *f, size_t *region);

#endif
