/*
 * handover.h - one table's files into its regions, each once, whatever breaks off when
 *
 * The state machine alone: all it does to the world goes through struct hand_world, so that a test
 * can let everything happen in every order.  What makes it right:
 *
 * - A file has an id that it keeps when it is moved.  A region server moves it from the upload
 *   folder to the token's folder and from there into a region, and nobody else touches them: what
 *   is in neither after a call whose answer was lost is in the table.  After the answer "not
 *   loaded" it is there too when it is among the region's files, for a server takes file by file
 *   and puts none back; where these may not be looked at, it is taken to be there.
 * - A call is noted before it is made, its files are noted when they are in.  Behind a crash the
 *   files of a call without an end are looked for; they are sent again only from the upload
 *   folder, where a second call for the same file finds nothing to move.
 * - The token's folder is removed when all files are in, and not before.
 * - A file that reaches over a border of the live regions is taken out of the upload folder, so
 * that no call that is still somewhere finds it, cut at the border, and its parts take its place.
 *
 * Where the servers copy instead of moving (the upload folder is of another file system than
 * HBase's root) a lost answer is not told from a lost call: files may then be taken twice, with the
 * same cells, of which HBase shows each once.
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
	bool lost;	  /* a call of it was not answered: it may be done, or still be */
	bool lost_before; /* the same without the last call */
	unsigned refused; /* answers "not loaded" without a reason */
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
	/* Is the file among those of a region?  RC_END: who runs this may not look there. */
	int (*in_region)(void *self, const struct hbase_region *r, const struct hand_file *f,
			 bool *in, struct error *err);
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
	bool copies;		/* what is in the table is in the upload folder all the same */
	_Atomic uint64_t *done; /* counted for who watches, by the replay too; NULL: nobody does */
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
