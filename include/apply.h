/*
 * apply.h - a published load handed over to a live HBase: its tables, its files, each once
 *
 * What `hbase shell create.rb` and completebulkload do, by HBase's own protocol.  A journal beside
 * the load says how far it is: who is killed is started again and goes on (apply/README.md).
 */
#ifndef SALTMILL_APPLY_H
#define SALTMILL_APPLY_H

#include <stdbool.h>

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
	void (*say)(void *ctx, const char *sentence); /* how it goes on; NULL: not told */
	void *say_ctx;
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
 * RC_CONFIG: the load and the cluster do not fit together, or an option is missing; nothing was
 * sent.  RC_BUSY: another process is at it.  Release *out whatever the result.
 */
int apply_run(struct apply_result *out, const struct apply_options *opt, struct error *err);
void apply_release(struct apply_result *r);

#endif
