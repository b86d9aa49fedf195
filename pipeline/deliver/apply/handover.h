/*
 * handover.h - one table's files into its regions, each once, whatever breaks off when
 *
 * This is the state machine alone.  It reaches the world only through struct hand_world, so a test
 * can try every order of events.  The rules that make it right:
 *
 * - A file keeps its id when it is moved.  A region server moves it from the upload folder to the
 *   token's folder, then into the region's folder; a compaction moves it to the archive later.
 * - A file is done when it was found by its id in the table's folder or its archive.  This holds
 *   after every answer, also after "loaded".  Nothing is inferred from a file's absence: a file
 *   that is found nowhere is uploaded again.
 * - If the user may not read the table's folder, the answer "loaded" counts, and no other does.
 * - A call is noted before it is made, and its files are noted when they are done.  After a crash
 *   the files of a call without an end are looked for.  They are sent again only from the upload
 *   folder, where a second call for the same file finds nothing to move.
 * - The token's folder is removed when all files are in, and not before.
 * - A file that reaches over a border of the live regions is taken out of the upload folder, so
 * that no call that is still somewhere finds it, cut at the border, and its parts take its place.
 *
 * If the servers copy instead of moving (HBase's root is file://), or the table's folder cannot be
 * read, a lost answer is not distinguished from a lost call.  Such a file may be loaded twice, with
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
	HAND_ASIDE, /* being taken out of the upload folder, to be cut */
	HAND_CUT    /* other files, behind it, have its cells */
};

struct hand_file {
	const char *family;
	const char *upload, *staged; /* paths within the storage; staged: NULL without a token */
	struct bytes first, last;    /* rows */
	uint64_t id;		     /* of the uploaded file; 0: not known */
	enum hand_state state;
	unsigned refused; /* answers after which it was not in the table, without a reason */
};

enum hand_phase { HAND_UPLOADS, HAND_CALLS, HAND_CLEANS };

struct hand_world {
	void *self;
	/* Upload a file; its id there. */
	int (*put)(void *self, const struct hand_file *f, uint64_t *id, struct error *err);
	/* The id of what is at a path; 0: nothing. */
	int (*look)(void *self, const char *path, uint64_t *id, struct error *err);
	int (*move)(void *self, const char *from, const char *to, struct error *err);
	/*
	 * Cut a file at the borders of r within it: a word for each part, each with a blank before
	 * it, which part() understands.  Several files may be cut at once.
	 */
	int (*cut)(void *self, const struct hand_file *f, const struct hbase_regions *r,
		   struct buf *words, struct error *err);
	/* The next file, one more than there are: a part of file number `of`.  RC_DATA: it is none.
	 */
	int (*part)(void *self, size_t of, const char *word, struct hand_file *out,
		    struct error *err);
	/*
	 * Which files are in the folder or archive of region r; NULL: of any region of the table.
	 * Sets in[i] of those that are; all are false before.  RC_END: the user may not look there.
	 */
	int (*in_table)(void *self, const struct hbase_region *r, struct hand_file *const *files,
			size_t n, bool *in, struct error *err);
	int (*regions)(void *self, struct hbase_regions *out, struct hbase_failure *why,
		       struct error *err);
	int (*load)(void *self, const struct hbase_region *r, struct hand_file *const *files,
		    size_t n, bool *loaded, struct hbase_failure *why, struct error *err);
	/* Remove the token's folder; the upload folder. */
	int (*cleanup)(void *self, const struct hbase_region *r, struct hbase_failure *why,
		       struct error *err);
	int (*sweep)(void *self, struct error *err);
	/* Write an event down for good. */
	int (*note)(void *self, const char *line, struct error *err);
	/*
	 * A server did not load f and gave no reason.  RC_OK: none was found, hint may get words
	 * for the sentence; RC_IO: one that passes; other errors: one that must be mended first.
	 */
	int (*explain)(void *self, const struct hand_file *f, struct buf *hint, struct error *err);
	/* Wait before something is looked at or tried again; false: no more, *err tells. */
	bool (*again)(void *self, const struct hbase_failure *why, unsigned *attempt,
		      struct error *err);
	void (*pause)(void *self, unsigned ms);
	/* What is done from now on, for who measures; NULL: nobody does. */
	void (*begin)(void *self, enum hand_phase phase);
};

struct handover {
	const struct hand_world *world;
	const char *table;
	struct hand_file *files; /* owned by who made it, by mem_alloc; parts are added to it */
	size_t nfiles;
	unsigned threads;
	bool cleaned;
	bool copies;		 /* what is in the table is in the upload folder all the same */
	_Atomic size_t unproved; /* files done by the answer "loaded" alone: they were not seen */
	_Atomic uint64_t *done;	 /* counted for who watches, by the replay too; NULL: nobody does */
	struct progress
		*progress; /* files to upload, then those to hand over; NULL: nobody looks */
	bool sends;	   /* what it shows is handing over */
};

/* Do all that is left, from the upload to the clean-up.  files may be moved in memory. */
int handover_run(struct handover *h, struct error *err);
/*
 * Take in a line of the journal (behind the table's number): put, sent, back, done, aside,
 * cut, cleaned.  RC_END: it is another; RC_DATA: it cannot be of this table.
 */
int handover_replay(struct handover *h, char *line, struct error *err);
/*
 * The region of r that holds the file's first row; false: it does not hold the last one.
 */
bool handover_region(const struct hbase_regions *r, const struct hand_file *f, size_t *region);

#endif
