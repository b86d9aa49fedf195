/*
 * apply.h - a published load handed over to a live HBase: its tables, its files, each once
 *
 * What `hbase shell create.rb` and completebulkload do, by HBase's own protocol.  A journal beside
 * the load says how far it is: who is killed is started again and goes on (deliver/apply/README.md).
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

/* Of the journal beside DIR. */
#define APPLY_SUFFIX ".saltmill-apply"

/*
 * What runs into one cluster, one after the other, leave to each other: connections, regions, and
 * what was looked at within the last minute (the cluster's health, HDFS's room).  The options of
 * all are the same but for dir and journal.  A run that fails leaves nothing.
 */
struct apply_kept;
struct apply_kept *apply_kept_new(void);
void apply_kept_free(struct apply_kept *k); /* NULL is fine */

struct apply_options {
	const struct run_options *common;
	const char *dir;     /* the load */
	const char *servers; /* host[:port],... (hbase_open) */
	const char *user;    /* as whom; NULL: $HADOOP_USER_NAME, or who runs this */
	const char *upload;  /* a folder for the files meanwhile (storage.h); NULL: chosen */
	const char *http;    /* HOST[:PORT],... of WebHDFS; NULL: the NameNode's host */
	const char *journal; /* NULL: DIR and APPLY_SUFFIX */
	bool never_renamed;  /* of DIR: no journal under another name is looked for */
	bool create, alter, check, dry_run;
	bool abandon;		   /* only remove what earlier runs left, and the journal */
	bool restart;		   /* the same first, then hand all over */
	struct listener listener;  /* hears how it goes on */
	struct apply_kept *kept;   /* NULL: nothing was before this run, and nothing is left */
	struct progress *progress; /* NULL: nobody looks */
};

/* The cells of the load's files beside those of the live table. */
struct apply_proof {
	uint64_t found, missing;
	uint64_t changed; /* the table has another value there, of another load or a Put */
	uint64_t expired; /* older than their TTL, so that HBase does not show them */
	uint64_t others;  /* of the table alone, in the rows of the load */
};

struct apply_table {
	const char *name;
	bool created, altered; /* by this run or, says the journal, one before it */
	bool missing;	       /* with dry_run: it would be created */
	size_t regions, files; /* live regions; files of the load */
	uint64_t bytes, cells; /* of these files */
	/* Of the files those that reached over a border of the live regions and were cut again
	 * there, by any run, and what became of them; with dry_run: that would be. */
	size_t recut, parts;
	bool checked;
	struct apply_proof proof; /* with check */
	const char **differences; /* sentences; what --alter changed, or would */
	size_t ndifferences;
};
/* What a hand-over spends its time with. */
enum apply_phase {
	APPLY_LOOK,   /* at the cluster, the tables and their regions; tables are made or altered */
	APPLY_UPLOAD, /* a place for the files, the files, and files that are cut again */
	APPLY_CALLS,  /* region servers take them */
	APPLY_CLEAN,  /* nothing is left behind, and the folders are removed */
	APPLY_CHECK,  /* with check: all cells are compared */
	APPLY_PHASES
};
struct apply_result {
	const char *cluster_id;
	bool already; /* it was all done before */
	struct apply_table *tables;
	size_t ntables;
	const char **warnings; /* sentences, each with its fix */
	size_t nwarnings;
	int64_t ms[APPLY_PHASES]; /* of this run */
	struct arena arena;
};

/*
 * RC_CONFIG: the load and the cluster do not fit together, or an option is missing; err names the
 * tables that were created or altered before.  RC_BUSY: another process is at it.  Release *out
 * whatever the result.
 */
int apply_run(struct apply_result *out, const struct apply_options *opt, struct error *err);
void apply_release(struct apply_result *r);

/*
 * --- the published loads of states, handed over to HBase in their order, each marked
 *
 * One follower is behind `stream --apply`, in a thread of the stream, and `apply --state`, in a
 * process of its own (deliver/apply/README.md 6).
 */

/* From a load's publication to its mark. */
enum follow_phase {
	FOLLOW_WAIT,  /* for loads before it, and tries that failed */
	FOLLOW_APPLY, /* the phases of apply.h, one after the other */
	FOLLOW_MARK = FOLLOW_APPLY + APPLY_PHASES,
	FOLLOW_PHASES
};

/* What can be seen from outside; any thread reads. */
struct follow_gauges {
	_Atomic uint64_t waiting;   /* loads that are published and not handed over */
	_Atomic uint64_t behind;    /* of them, those that a new one will wait for */
	_Atomic int64_t oldest_ms;  /* the oldest of them was published then; 0: there is none */
	_Atomic uint64_t applied;   /* loads since the start */
	_Atomic int64_t applied_ms; /* the last, by the wall clock; 0: none */
	_Atomic uint64_t failures;  /* attempts that failed since the start */
	_Atomic int64_t ms[FOLLOW_PHASES]; /* of the loads that were applied */
	/* states whose next load failed when it was tried last, or that cannot be looked at */
	_Atomic uint64_t stuck;
	_Atomic int paused; /* nothing is read, as so many loads wait */
};

/* How long a load's folder stays behind its hand-over. */
struct follow_keep {
	enum { KEEP_ALL, KEEP_LOADS, KEEP_TIME } by;
	uint64_t n; /* loads of each state, or seconds */
};

struct follow_options {
	struct apply_options apply; /* of each load; dir and journal are not looked at */
	struct follow_keep keep;
	uint64_t max_waiting; /* follow_full from there on; 0: never */
	struct follow_gauges *gauges;
	struct listener listener; /* hears failures and recoveries, from the thread that follows */
	/* The thread that follows calls it after each load. */
	void (*applied)(void *ctx, const char *name, const char *dir, const struct apply_result *r,
			const int64_t ms[FOLLOW_PHASES]);
	void *ctx;
	int64_t slow_ms; /* a load on its way for so long is told; 0: 30 s */
	/* apply_run, but for a test's */
	int (*run)(struct apply_result *out, const struct apply_options *opt, struct error *err);
};

struct follow;
/* opt, with what it points to, must outlive it. */
struct follow *follow_new(const struct follow_options *opt);
/* Nobody may be following.  NULL is fine. */
void follow_free(struct follow *f);

/*
 * The loads of the state in dir are followed from now on, or are not any more; the one that is
 * being handed over is finished.  prefix: of their names.  Any thread.
 */
void follow_add(struct follow *f, const char *dir, const char *prefix);
void follow_drop(struct follow *f, const char *dir);
/* All states of dir, which may be shared: also those of partitions that come later. */
void follow_all(struct follow *f, const char *dir);
/* Look at the states now: a load was published, says who made it.  Any thread. */
void follow_look(struct follow *f);
/* Do as many loads wait as may, or can nobody tell how many?  Any thread; says so when it becomes
 * true and when it ends. */
bool follow_full(struct follow *f);
/*
 * How many loads a new one will wait for: all that wait, but those of a state whose first one fails
 * while others go past it.  Any thread.
 */
uint64_t follow_behind(const struct follow *f);

/*
 * Hand over what waits, load after load, in this thread: forever, until RC_STOPPED; a failure is
 * said and the load tried again, for ever, with waits that grow (backoff.h), while those of other
 * states go on.  Or once: until nothing waits (RC_OK) or one load fails.
 */
int follow_run(struct follow *f, bool forever, struct error *err);
/* The former, in a thread of its own. */
int follow_start(struct follow *f, struct error *err);
/* End it; a load that is on its way is waited for, unless a signal came (stop_flag). */
void follow_stop(struct follow *f);

#endif
