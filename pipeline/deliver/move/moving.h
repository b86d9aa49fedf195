/* moving.h - a table that moves to other row keys (inside this folder only) */
#ifndef SALTMILL_MOVE_MOVING_H
#define SALTMILL_MOVE_MOVING_H

#include "apply.h"
#include "deliver/journal.h"
#include "hbase.h"
#include "query.h"

/* A snapshot that this folder's runs have taken, or have tried to take. */
struct move_snapshot {
	const char *name;
	uint64_t round; /* 0 means the snapshot of the new table, for the proof */
	bool taken;
	bool removed;
};

struct moving {
	const struct move_options *opt;
	struct move_result *out;
	struct arena *a; /* that of the result */
	const char *from, *to;
	struct hbase *hbase;
	struct journal journal;
	/* --- the content of the journal --- */
	const char *root; /* URI of HBase's root, or NULL */
	bool clear;	  /* the new table was missing or empty, so its cells are ours */
	const char *jobs; /* digests of both job files, or NULL before the first round is applied */
	struct move_snapshot *snapshots;
	size_t nsnapshots;
	uint64_t last;	  /* the number of the last round, or 0 */
	uint64_t repairs; /* number of loads that repair the new table */
	bool repaired, equal, finished;
};

/*
 * Opens the journal, or begins one (move_journal.c). The journal consists of these lines:
 *
 *   saltmill-rekey 1 OLD NEW CLUSTER-ID
 *   root hdfs://nn:8020/hbase
 *   clear                       the new table is missing or empty
 *   last 3                      before round 3, if no program writes the old table any more
 *   snapshot 1 NAME             before the call; round 0 is the snapshot of the new table
 *   taken NAME
 *   jobs DIGEST DIGEST          before round 1 is applied
 *   moved 1 CELLS MS            the round is in the new table
 *   repairs 2 CELLS             repair-1 and repair-2 are complete, and the tables will be equal
 *   repaired
 *   equal ROWS CELLS
 *   removed NAME                the snapshot
 *   finished
 */
int move_journal_open(struct moving *m, struct error *err);
/* Reads the journal if there is one, and changes nothing. */
int move_journal_read(struct moving *m, struct error *err);
/* Appends a line, and replays it. */
int move_note(struct moving *m, struct error *err, const char *fmt, ...) ERROR_FORMAT(3, 4);
/* Returns the snapshot of a round, or NULL. */
struct move_snapshot *move_snapshot_of(const struct moving *m, uint64_t round);

/* Checks tables and jobs before the first step (move_check.c). Returns RC_CONFIG if they do not fit. */
int move_check(struct moving *m, struct error *err);
/*
 * Finds HBase's root from the token of a bulk load, which it removes at once. Returns RC_CONFIG if the
 * user may not read the table's folder.
 */
int move_find_root(struct moving *m, struct error *err);
/* Reads the regions of a table, with retries. Release *out whatever the result. */
int move_regions(struct moving *m, const char *table, struct hbase_regions *out, struct error *err);

/* Reports a sentence to the listener. */
#define move_say(m, ...) report_to(&(m)->opt->listener, __VA_ARGS__)
/* Returns the path of a load in the folder, such as FOLDER/round-1. The caller frees it. */
char *move_path(const struct moving *m, const char *kind, uint64_t n);

/* --- the steps (move_steps.c) --- */

/* Takes the snapshot of a round, or of the new table for round 0, unless it exists. */
int move_take(struct moving *m, uint64_t round, struct error *err);
/* Opens the files of a snapshot. Release *out whatever the result. */
int move_open_snapshot(const struct moving *m, const struct move_snapshot *s, struct published *out,
		       struct error *err);
/* Publishes the snapshot under the new row keys as `dir`, without the files of `before` (or NULL). */
int move_rekey(struct moving *m, const struct move_snapshot *s, const struct move_snapshot *before,
	       const char *dir, uint64_t *cells, struct error *err);
/* Returns the options by which apply runs for the load `dir`, which must outlive them. */
struct apply_options move_apply_options(const struct moving *m, const char *dir);
/* Applies the load `dir`. A repeated call continues. */
int move_apply(struct moving *m, const char *dir, bool create, struct error *err);

/* Compares the last snapshot with one of the new table, and repairs the new table (move_prove.c). */
int move_prove(struct moving *m, struct error *err);

#endif
