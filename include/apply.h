/*
 * apply.h - hand a published load to a live HBase: create its tables, bulk load each file once
 *
 *   apply_run, apply_release                      one load
 *   follow_new, follow_add, follow_run, follow_free   all loads of a state, in order
 *
 * apply_run does the work of `hbase shell create.rb` and completebulkload over HBase's own
 * protocol. A journal beside the load records the progress: after a crash, run it again and it
 * continues (deliver/apply/README.md).
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

/*
 * State that successive runs into one cluster share: connections, regions, and what was checked
 * within the last minute (the cluster's health, space in HDFS). The options of all runs are the
 * same except dir and journal. A run that fails clears it.
 */
struct apply_kept;
struct apply_kept *apply_kept_new(void);
void apply_kept_free(struct apply_kept *k); /* NULL is fine */

struct apply_options {
	const struct run_options *common;
	const char *dir;     /* folder of the load */
	const char *servers; /* host[:port],... (hbase_open) */
	const char *user;    /* user to act as; NULL: $HADOOP_USER_NAME, or the process's user */
	const char *upload;  /* temporary folder for the files (storage.h); NULL: chosen */
	const char *http;    /* HOST[:PORT],... of WebHDFS; NULL: the NameNode's host */
	const char *journal; /* NULL: DIR plus APPLY_SUFFIX */
	bool never_renamed;  /* DIR was not renamed: look for no journal under another name */
	bool create, alter, check, dry_run;
	bool abandon;		   /* only remove what earlier runs left, then the journal */
	bool restart;		   /* do the same first, then hand over everything */
	struct listener listener;  /* receives progress sentences */
	struct apply_kept *kept;   /* NULL: nothing is shared with other runs */
	struct progress *progress; /* NULL: no progress is counted */
};

/* The result of --check: cells of the load's files compared with cells of the live table. */
struct apply_proof {
	uint64_t found, missing;
	uint64_t changed; /* the table has another value there, from another load or a Put */
	uint64_t expired; /* older than their TTL, so HBase does not return them */
	uint64_t others;  /* only in the table, in rows of the load */
};

struct apply_table {
	const char *name;
	bool created, altered; /* by this run or, according to the journal, an earlier one */
	bool missing;	       /* with dry_run: the run would create it */
	size_t regions, files; /* live regions; files of the load */
	uint64_t bytes, cells; /* in these files */
	/*
	 * recut: files that crossed a border of the live regions and were cut there, by any run;
	 * parts: the files made of them. With dry_run: files that would be cut.
	 */
	size_t recut, parts;
	bool checked;
	struct apply_proof proof; /* with check */
	const char **differences; /* sentences: what --alter changed or would change */
	size_t ndifferences;
};
/* The phases of a hand-over; their times are measured. */
enum apply_phase {
	APPLY_LOOK,   /* look at the cluster, tables and regions; create or alter tables */
	APPLY_UPLOAD, /* prepare a folder, upload the files, cut files again */
	APPLY_CALLS,  /* region servers load the files */
	APPLY_CLEAN,  /* check that no file is left, remove the folders */
	APPLY_CHECK,  /* with check: compare all cells */
	APPLY_PHASES
};
struct apply_result {
	const char *cluster_id;
	bool already; /* an earlier run had finished everything */
	struct apply_table *tables;
	size_t ntables;
	const char **warnings; /* sentences, each with its fix */
	size_t nwarnings;
	int64_t ms[APPLY_PHASES]; /* of this run */
	struct arena arena;
};

/*
 * Hand the load at opt->dir to HBase. Release *out whatever the result.
 *
 * RC_CONFIG: the load and the cluster do not fit together, or an option is missing; err names the
 * tables that were created or altered before. RC_BUSY: another process hands over this load.
 */
int apply_run(struct apply_result *out, const struct apply_options *opt, struct error *err);
void apply_release(struct apply_result *r);

/*
 * --- follow: hand over the published loads of states, in order, and mark each one ---
 *
 * The same follower runs in `stream --apply`, as a thread of the stream, and in `apply --state`, as
 * its own process (deliver/apply/README.md 6).
 */

/* The phases between a load's publication and its mark. */
enum follow_phase {
	FOLLOW_WAIT,  /* waiting for earlier loads, and attempts that failed */
	FOLLOW_APPLY, /* the apply_phase values, one after the other */
	FOLLOW_MARK = FOLLOW_APPLY + APPLY_PHASES,
	FOLLOW_PHASES
};

/* Gauges of a follower; any thread may read them. */
struct follow_gauges {
	_Atomic uint64_t waiting;   /* loads that are published but not handed over */
	_Atomic uint64_t behind;    /* of them, the loads that a new load has to wait for */
	_Atomic int64_t oldest_ms;  /* when the oldest of them was published; 0: none waits */
	_Atomic uint64_t applied;   /* loads since the start */
	_Atomic int64_t applied_ms; /* when the last one was applied, wall clock; 0: none */
	_Atomic uint64_t failures;  /* attempts that failed since the start */
	_Atomic int64_t ms[FOLLOW_PHASES]; /* sums over the applied loads */
	/* states whose next load failed at the last attempt, or that cannot be read */
	_Atomic uint64_t stuck;
	_Atomic int paused; /* reading is paused because too many loads wait */
};

/* How long a load's folder is kept after its hand-over. */
struct follow_keep {
	enum { KEEP_ALL, KEEP_LOADS, KEEP_TIME } by;
	uint64_t n; /* loads of each state, or seconds */
};

struct follow_options {
	struct apply_options apply; /* for each load; dir and journal are ignored */
	struct follow_keep keep;
	uint64_t max_waiting; /* follow_full is true from this many loads on; 0: never */
	struct follow_gauges *gauges;
	struct listener listener; /* receives failures and recoveries, from the following thread */
	/* The following thread calls it after each load. */
	void (*applied)(void *ctx, const char *name, const char *dir, const struct apply_result *r,
			const int64_t ms[FOLLOW_PHASES]);
	void *ctx;
	int64_t slow_ms; /* report a load that takes longer than this; 0: 30 s */
	/* NULL: apply_run; tests set their own */
	int (*run)(struct apply_result *out, const struct apply_options *opt, struct error *err);
};

struct follow;
/* Create a follower. opt and everything it points to must outlive it. */
struct follow *follow_new(const struct follow_options *opt);
/* Free a follower. No thread may be following. NULL is fine. */
void follow_free(struct follow *f);

/*
 * Start or stop following the loads of the state in dir. A load that is being handed over is
 * finished. prefix: prefix of the loads' names. Any thread.
 */
void follow_add(struct follow *f, const char *dir, const char *prefix);
void follow_drop(struct follow *f, const char *dir);
/*
 * Follow all states of dir, which may be shared, including those of partitions that appear later.
 */
void follow_all(struct follow *f, const char *dir);
/* Look at the states now; call it after publishing a load. Any thread. */
void follow_look(struct follow *f);
/*
 * True if max_waiting loads wait, or if their number cannot be determined. It reports when this
 * begins and when it ends. Any thread.
 */
bool follow_full(struct follow *f);
/*
 * Return how many loads a new one has to wait for: all waiting loads, except those of a state whose
 * first load fails while loads of other states pass it. Any thread.
 */
uint64_t follow_behind(const struct follow *f);

/*
 * Hand over the waiting loads, one after another, in this thread.
 *
 * forever: until RC_STOPPED. A failure is reported and the load is retried without limit, with
 * growing waits (backoff in clock.h); loads of other states continue. Otherwise: until no load
 * waits (RC_OK) or one load fails.
 */
int follow_run(struct follow *f, bool forever, struct error *err);
/* Call follow_run with forever in a thread of its own. */
int follow_start(struct follow *f, struct error *err);
/* End that thread. It finishes the current load first, unless a signal came (stop_flag). */
void follow_stop(struct follow *f);

#endif
