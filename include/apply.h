/*
 * apply.h - load a published load into a live HBase, each file once, and create its tables
 *
 *   apply_run, apply_release                      one load
 *   follow_new, follow_add, follow_run, follow_free   all loads of a state, in order
 *   move_run, move_release                        a live table to other row keys, in rounds
 *
 * apply_run does the work of `hbase shell create.rb` and completebulkload over HBase's own
 * protocol. A journal beside the load records the progress. After a crash, call apply_run again.
 * The new call continues at the recorded step (deliver/apply/README.md).
 */
#ifndef SALTMILL_APPLY_H
#define SALTMILL_APPLY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "error.h"
#include "mem.h"
#include "run.h"

/* The journal of the load DIR is the file DIR plus this suffix. */
#define APPLY_SUFFIX ".saltmill-apply"
/* The journal for a second cluster has this word before the suffix. */
#define APPLY_ALSO ".also"
/* saltmill renames a load's folder to DIR plus this suffix before it removes the folder. */
#define APPLY_REMOVED ".saltmill-removed"

/*
 * State that apply keeps between successive runs on one cluster. The state has connections,
 * regions, and the results of the last minute's checks (the cluster's health, space in HDFS). All
 * runs have the same options, except `dir` and `journal`. A run that fails clears this state.
 */
struct apply_kept;
struct apply_kept *apply_kept_new(void);
void apply_kept_free(struct apply_kept *k); /* NULL is fine */

/* Hours in which apply uploads files and makes calls, in minutes since midnight, local time. */
struct apply_window {
	bool given;
	unsigned from, until; /* may span midnight */
};

struct apply_options {
	const struct run_options *common;
	const char *dir; /* folder of the load */
	/*
	 * URI of the load in S3. `dir` is its copy, but the HFiles are in S3 until apply needs their
	 * bytes here. NULL means that they are in `dir`
	 */
	const char *origin;
	const char *servers; /* host[:port],... (hbase_open) */
	/* HBase user of the calls; NULL means $HADOOP_USER_NAME, or the process's user */
	const char *user;
	/* temporary folder for the files (storage.h); if NULL, apply_run chooses a folder */
	const char *upload;
	/* WebHDFS servers as HOST[:PORT],...; NULL means the NameNode's host */
	const char *http;
	const char *journal; /* path of the journal; NULL means DIR plus APPLY_SUFFIX */
	/* true if DIR never had another name, so that no journal has another name */
	bool never_renamed;
	/*
	 * id of the first cluster, if this run loads the files into a second one; NULL means that
	 * there is only one
	 */
	const char *first_cluster;
	bool create, alter, check, dry_run;
	bool check_access; /* only check what the user may do; set dry_run, too */
	bool abandon;	   /* only remove the files and the journal of earlier runs */
	bool restart;	   /* first do the same as `abandon`, then load everything */
	uint64_t rate;	   /* bytes a second of all uploads; 0 means no limit */
	uint64_t batch;	   /* apply loads so many regions before others; 0 means all */
	struct apply_window window;
	bool pace;		   /* between batches, wait for compactions */
	bool no_replicate;	   /* the cluster does not replicate the cells of this load */
	struct listener listener;  /* receives progress sentences */
	struct apply_kept *kept;   /* NULL means that no other run shares state */
	struct progress *progress; /* NULL means that the run counts no progress */
};

/* The result of `--check`, which compares the cells of the load's files with the live table. */
struct apply_proof {
	uint64_t found, missing;
	/* cells that have another value in the table, from another load or a Put */
	uint64_t changed;
	uint64_t expired; /* cells older than their TTL, which HBase does not return */
	uint64_t others;  /* cells that only the table has, in rows of the load */
};

struct apply_table {
	const char *name;
	bool created, altered; /* this run, or an earlier run that the journal records, did it */
	bool missing;	       /* the run would create the table; true only with dry_run */
	size_t regions, files; /* regions of the live table; files of the load */
	uint64_t bytes, cells; /* totals of these files */
	/*
	 * `recut` counts the files that crossed a border of the live regions, so that a run cut
	 * them there. `parts` counts the resulting files. With `dry_run`, `recut` counts the files
	 * that a run would cut.
	 */
	size_t recut, parts;
	bool checked;
	struct apply_proof proof; /* filled if options.check is true */
	const char **differences; /* sentences about what `--alter` changed or would change */
	size_t ndifferences;
};
/* A finding of `--check-access`. */
struct apply_access {
	const char *what; /* "login", "clocks", "rights", "folder" or "token" */
	bool good;
	const char *text; /* a sentence; if not `good`, with the command that helps */
};
/* The phases of a run. apply times each phase. */
enum apply_phase {
	/* read the state of the cluster, tables and regions; create or alter tables */
	APPLY_LOOK,
	APPLY_UPLOAD, /* prepare a folder, upload the files, cut files at region borders */
	APPLY_CALLS,  /* region servers load the files */
	APPLY_CLEAN,  /* check that no file remains, remove the folders */
	APPLY_CHECK,  /* compare all cells, if options.check is true */
	APPLY_PHASES
};
struct apply_result {
	const char *cluster_id;
	bool already; /* an earlier run finished everything, so this run did nothing */
	struct apply_table *tables;
	size_t ntables;
	struct apply_access *access; /* filled if options.check_access is true */
	size_t naccess, refused;     /* `refused` findings are not good */
	const char **warnings;	     /* sentences, each with its fix */
	size_t nwarnings;
	int64_t ms[APPLY_PHASES]; /* duration of each phase of this run */
	struct bytes also; /* the report about a second cluster, as JSON; set by the caller */
	struct arena arena;
};

/*
 * Apply the load at opt->dir to HBase. Release *out whatever the result.
 *
 * Returns RC_CONFIG if the cluster cannot take the load, or if an option is missing. `err` then
 * names the tables that this run has created or altered. Returns RC_BUSY if another process applies
 * this load.
 */
int apply_run(struct apply_result *out, const struct apply_options *opt, struct error *err);
void apply_release(struct apply_result *r);

/*
 * Set *finished to true if the journal DIR.saltmill-apply records that the whole load is in HBase,
 * and to false if there is no journal. The function contacts no server.
 */
int apply_is_finished(const char *dir, bool *finished, struct error *err);
/* Remove a load's folder and its journal. After a crash, call apply_remove again. */
int apply_remove(const char *dir, struct error *err);

/*
 * --- follow: apply the published loads of states, in order, and mark each one ---
 *
 * The same follower runs in `stream --apply`, as a thread of the stream, and in `apply --state`, as
 * its own process (deliver/apply/README.md 6).
 */

/* The phases between a load's publication and its mark. */
enum follow_phase {
	FOLLOW_WAIT,  /* the load waits for earlier loads, or an attempt has failed */
	FOLLOW_APPLY, /* the first phase of apply_run; the other phases follow */
	FOLLOW_MARK = FOLLOW_APPLY + APPLY_PHASES,
	FOLLOW_PHASES
};

/* Gauges of a follower, which any thread may read. */
struct follow_gauges {
	_Atomic uint64_t waiting; /* published loads that apply has not loaded yet */
	_Atomic uint64_t behind;  /* the part of `waiting` that a new load must wait for */
	/* publication time of the oldest waiting load, wall clock; 0 if no load waits */
	_Atomic int64_t oldest_ms;
	_Atomic uint64_t applied; /* loads since the start */
	/* time of the last applied load, wall clock; 0 before the first load */
	_Atomic int64_t applied_ms;
	_Atomic uint64_t failures;	   /* attempts that failed since the start */
	_Atomic int64_t ms[FOLLOW_PHASES]; /* sums over the applied loads */
	/* unreadable states, and states whose next load failed at the last attempt */
	_Atomic uint64_t stuck;
	_Atomic int paused; /* the stream has stopped reading because too many loads wait */
};

/* How long the follower keeps a load's folder after the load is in HBase. */
struct follow_keep {
	enum { KEEP_ALL, KEEP_LOADS, KEEP_TIME } by;
	uint64_t n; /* KEEP_LOADS: number of loads of each state; KEEP_TIME: seconds */
};

struct follow_options {
	/* options for each load; the follower ignores `dir` and `journal` */
	struct apply_options apply;
	struct follow_keep keep;
	/* follow_full returns true if at least this many loads wait; 0 means never */
	uint64_t max_waiting;
	struct follow_gauges *gauges;
	struct listener listener; /* receives failures and recoveries, from the following thread */
	/* The following thread calls this function after each load. */
	void (*applied)(void *ctx, const char *name, const char *dir, const struct apply_result *r,
			const int64_t ms[FOLLOW_PHASES]);
	void *ctx;
	int64_t slow_ms; /* report a load that takes longer than this; 0 means 30 s */
	/* replaces apply_run in tests; NULL means apply_run */
	int (*run)(struct apply_result *out, const struct apply_options *opt, struct error *err);
};

struct follow;
/* Create a follower. `opt` and all data that it points to must outlive the follower. */
struct follow *follow_new(const struct follow_options *opt);
/* Free a follower. No thread may be in follow_run. NULL is fine. */
void follow_free(struct follow *f);

/*
 * Start or stop following the loads of the state in `dir`. follow_drop lets the current load
 * finish. `prefix` is the prefix of the loads' names. Any thread may call these functions.
 */
void follow_add(struct follow *f, const char *dir, const char *prefix);
void follow_drop(struct follow *f, const char *dir);
/*
 * Follow all states below `dir`, which may be a shared folder. The follower also finds the states
 * of later partitions.
 */
void follow_all(struct follow *f, const char *dir);
/*
 * Wake the follower, so that it reads the states at once. Call follow_look after you publish a
 * load. Any thread may call this function.
 */
void follow_look(struct follow *f);
/*
 * Return true if max_waiting loads wait, or if reading their number fails. The listener gets a
 * sentence when the result changes. Any thread may call this function.
 */
bool follow_full(struct follow *f);
/*
 * Return how many loads a new load must wait for. The function counts all waiting loads. The count
 * leaves out the loads of a state while this state's first load fails and apply loads those of
 * other states. Any thread may call this function.
 */
uint64_t follow_behind(const struct follow *f);

/*
 * Apply the waiting loads, one after another, in this thread.
 *
 * If `forever` is true, the function returns only RC_STOPPED. The follower reports each failure and
 * retries the load without limit, with growing waits (backoff in clock.h). Loads of other states
 * continue. If `forever` is false, the function returns RC_OK when no load waits, or the error of
 * the first load that fails.
 */
int follow_run(struct follow *f, bool forever, struct error *err);
/* Start a thread that calls follow_run with `forever`. */
int follow_start(struct follow *f, struct error *err);
/*
 * End the thread of follow_start. The thread finishes the current load first, unless a signal came
 * (stop_flag).
 */
void follow_stop(struct follow *f);

/*
 * --- move: a live table to the row keys of another job, without a stop (deliver/move) ---
 *
 * A round takes a snapshot of the old table, writes the cells of its new files under the new row keys
 * as a load, and applies the load. The last round follows when no program writes the old table any
 * more. Then the proof compares a snapshot of each table. The file `journal` in the folder contains
 * each step before the step begins, so a killed run continues.
 */

struct rekey_options;
struct storage_options;
struct move_options {
	const struct run_options *common;
	const char *folder; /* has the journal, and the load of the current round */
	const char *servers, *user, *upload, *http; /* as in struct apply_options */
	const struct storage_options *storage;	    /* reads HBase's files */
	const struct rekey_options *keys;	    /* `before` is unused */
	int64_t round_ms; /* end after a round that took at most this long */
	bool finish;	  /* no program writes the old table any more */
	bool repair;	  /* if the proof finds different cells, give the new table the old cells */
	bool abandon;	  /* only remove the snapshots, loads and journal of earlier runs */
	bool dry_run;	  /* only check, and list the steps in *out */
	struct listener listener;
	struct progress *progress;
};
struct move_result {
	const char *from, *to;	      /* the tables */
	uint64_t rounds, cells;	      /* of all runs */
	uint64_t last_cells, last_ms; /* of the last round */
	bool finished;		      /* the tables are equal */
	uint64_t proved_rows, proved_cells, repaired;
	uint64_t removed;   /* snapshots that this run removed */
	const char **steps; /* filled if options.dry_run is true */
	size_t nsteps;
	struct arena arena;
};
/*
 * Make rounds until one is short, or with `finish` the last round and the proof. Release *out whatever
 * the result. Returns RC_CONFIG if the tables do not fit, and RC_DATA if the proof fails. Returns
 * RC_BUSY if another process uses the folder.
 */
int move_run(struct move_result *out, const struct move_options *opt, struct error *err);
void move_release(struct move_result *r);

#endif
