/*
 * hbase.h - a live HBase by its own protocol: one function a call
 *
 * HBase 2.4 to 2.6 and, by its message definitions, 3; SIMPLE authentication.  Functions here make
 * one attempt, but for looking up again what moved: who calls decides by hbase_failure whether and
 * when to try again (hbase_retry).  All of them may be called by several threads.
 */
#ifndef SALTMILL_HBASE_H
#define SALTMILL_HBASE_H

#include <stdbool.h>

#include "bytes.h"
#include "cell.h"
#include "ddl.h"
#include "error.h"
#include "filter.h"
#include "mem.h"
#include "splits.h"

/* Where a server listens. */
struct hbase_place {
	char host[256];
	uint16_t port;
};

/* What a failed call means for who made it. */
enum hbase_trouble {
	TROUBLE_NONE,
	TROUBLE_GONE,	 /* not there any more, or never: look up again, then repeat */
	TROUBLE_BUSY,	 /* wait, then repeat at the same place */
	TROUBLE_LOST,	 /* sent, and no answer: done or not done */
	TROUBLE_EXISTS,	 /* of a table or namespace that is to be created */
	TROUBLE_MISSING, /* no such table or namespace */
	TROUBLE_REFUSED	 /* repeating would not help */
};

struct hbase_failure {
	enum hbase_trouble trouble;
	bool may_pass;	/* TROUBLE_REFUSED by a class that is not known, without its do_not_retry */
	char name[160]; /* the exception's class, its last part; "": none */
};

/*
 * After a failure: wait as is due (backoff.h); true: try again, and *attempt is counted.  False: it
 * would not help, or it has been tried for five minutes or a signal came (*err tells).
 */
bool hbase_retry(const struct hbase_failure *why, unsigned *attempt, struct error *err);

/* --- the cluster --- */

struct hbase;
/*
 * servers: host[:port],... of masters (port 16000) or, from 2.5 on, region servers; or
 * zk:host[:port],...[/parent], the quorum (2181, /hbase).  Each is asked until one answers.  user:
 * as whom to act; NULL: $HADOOP_USER_NAME, or who runs this.  RC_CONFIG: servers cannot be
 * understood.
 */
int hbase_open(struct hbase **out, const char *servers, const char *user, struct hbase_failure *why,
	       struct error *err);
void hbase_close(struct hbase *h); /* NULL is fine */
/*
 * Does the cluster still answer that was there when it was opened?  Asked by a new connection;
 * connections that servers have closed are let go.  Nobody else may be calling.  False: another
 * one, or none.
 */
bool hbase_is_same(struct hbase *h);
const char *hbase_cluster_id(const struct hbase *h);
const char *hbase_user(const struct hbase *h);

/* --- tables, by the master --- */

/*
 * The table's attributes as they are, in the arena; *exists false: there is no such table.  All of
 * them are items, but for a family's configuration.
 */
int hbase_describe(struct hbase *h, const char *table, struct description *out, struct arena *a,
		   bool *exists, struct hbase_failure *why, struct error *err);
/* TableState.State */
enum hbase_table_state { TABLE_ENABLED, TABLE_DISABLED, TABLE_DISABLING, TABLE_ENABLING };
int hbase_table_state(struct hbase *h, const char *table, enum hbase_table_state *out,
		      struct hbase_failure *why, struct error *err);
int hbase_create_namespace(struct hbase *h, const char *name, struct hbase_failure *why,
			   struct error *err);
/*
 * Make the table and wait for it.  The same nonces name the same creation: repeating it, also after
 * a restart of either side, makes no second one.
 */
int hbase_create(struct hbase *h, const char *table, const struct description *d,
		 const struct splits *s, const uint64_t nonce[2], struct hbase_failure *why,
		 struct error *err);
/* Give the table these attributes, all of them, and wait until its regions have them. */
int hbase_alter(struct hbase *h, const char *table, const struct description *d,
		const uint64_t nonce[2], struct hbase_failure *why, struct error *err);

/* --- regions --- */

struct hbase_region {
	struct bytes start, end;  /* row keys; empty: open */
	struct bytes name;	  /* "table,start,id.encoded." */
	struct hbase_place place; /* host "": on no server at the moment */
};
struct hbase_regions {
	struct hbase_region *item; /* by start key; the first and the last are open */
	size_t count;
	/* Encoded names of regions that were split or merged into these, as long as hbase:meta
	 * lists them. */
	struct bytes *parents;
	size_t nparents;
	struct arena arena;
};
/* The encoded name within a region's name, 32 characters; {0}: the name does not end with one. */
struct bytes hbase_encoded_name(struct bytes region_name);
/*
 * Those of hbase:meta.  TROUBLE_BUSY: they leave a hole, a split or merge is going on.
 * TROUBLE_MISSING: there are none.  Release *out whatever the result.
 */
int hbase_regions(struct hbase *h, const char *table, struct hbase_regions *out,
		  struct hbase_failure *why, struct error *err);
void hbase_regions_release(struct hbase_regions *r);
/* The one region of hbase:meta, and where it is. */
int hbase_meta(struct hbase *h, struct hbase_region *out, struct hbase_failure *why,
	       struct error *err);

struct hbase_family_file {
	const char *family, *path; /* path: as the region server opens it */
};

/* Ask for a staging folder (owned by the caller), which one load of a table uses for all regions.
 */
int hbase_bulk_prepare(struct hbase *h, const char *table, const struct hbase_region *r,
		       char **token, struct hbase_failure *why, struct error *err);
/*
 * Hand files to a region: all or none of them.  *loaded false: none, and the server does not say
 * why.  patience_ms: how long it may take.
 */
int hbase_bulk_load(struct hbase *h, const struct hbase_region *r, const char *token,
		    const struct hbase_family_file *files, size_t nfiles, int64_t patience_ms,
		    bool *loaded, struct hbase_failure *why, struct error *err);
/* Remove the staging folder with all that is in it. */
int hbase_bulk_cleanup(struct hbase *h, const struct hbase_region *r, const char *token,
		       struct hbase_failure *why, struct error *err);

/* --- scans --- */

/* What of a family is wanted. */
struct hbase_columns {
	struct bytes family;
	const struct bytes *qualifiers; /* none: all */
	size_t nqualifiers;
};

struct hbase_scan {
	const char *family; /* NULL: all, or `columns` */
	const struct hbase_columns *columns;
	size_t ncolumns;
	struct bytes start, stop; /* rows, start first, also of a reversed scan; empty: open */
	bool start_exclusive, stop_inclusive;
	bool reversed;
	uint32_t versions;	     /* of a cell; 0: one */
	int64_t from_ms, to_ms;	     /* from_ms <= timestamp < to_ms; both 0: all */
	bool raw;		     /* all that is stored, delete markers too */
	bool leave_cache;	     /* the servers' block cache is left to others */
	const struct filter *filter; /* NULL: none; the kinds of put_filter in hbase/rpc/encode.h */
	uint64_t limit;		     /* rows of the region; 0: all */
	uint32_t rows_a_call;	     /* 0: 1000 */
	uint64_t bytes_a_call;	     /* 0: as the server likes */
};
typedef int hbase_take_cell(void *ctx, const struct cell *c, struct error *err);
/* All cells of a region that the scan asks for, in order, to take; its failure ends it. */
int hbase_scan_region(struct hbase *h, const struct hbase_region *r, const struct hbase_scan *scan,
		      hbase_take_cell *take, void *ctx, struct hbase_failure *why,
		      struct error *err);

/* The same call by call. {0} is closed. */
struct hbase_scanner {
	struct hbase_place place;
	bool open;  /* its server has it */
	bool ended; /* the region has nothing more */
	uint64_t id, sequence;
	uint64_t limit; /* rows that are still wanted, kept by the caller; 0: all */
	uint32_t rows_a_call;
	int64_t lease_ms; /* how long its server waits for the next call; 0: not told */
};
/* What one call brought: whole rows but for the last, which the next may go on with. */
struct hbase_batch {
	struct buf frame;
	struct bytes cells; /* for hbase_batch_cell */
};
/*
 * The first call, and each that follows; a batch may be empty.  After a failure the scanner is
 * closed: what was not brought is for another.  A failure that may pass is TROUBLE_BUSY, for a scan
 * changes nothing.  Release the batch when it is RC_OK.
 */
int hbase_scanner_open(struct hbase *h, struct hbase_scanner *s, const struct hbase_region *r,
		       const struct hbase_scan *scan, struct hbase_batch *out,
		       struct hbase_failure *why, struct error *err);
int hbase_scanner_next(struct hbase *h, struct hbase_scanner *s, struct hbase_batch *out,
		       struct hbase_failure *why, struct error *err);
/* Tell the server that more calls will come. */
int hbase_scanner_renew(struct hbase *h, struct hbase_scanner *s, struct hbase_failure *why,
			struct error *err);
/* Also of one that is closed.  No more than a second: the lease of what is not closed runs out. */
void hbase_scanner_close(struct hbase *h, struct hbase_scanner *s);
/* Take the next cell off; RC_END: there is none; RC_DATA: it is none.  Borrows from the batch. */
int hbase_batch_cell(struct bytes *cells, struct cell *out, struct error *err);
void hbase_batch_release(struct hbase_batch *b);

/*
 * --- a cluster looked at before it is given anything: what would not go well, and its fix
 *
 *   precheck_wait, precheck_cluster, precheck_table..., hbase_status_release
 */

struct hbase_server {
	struct hbase_place place;
	int64_t reported_ms; /* its clock when it told the master last (every 3 s); 0: not told */
};
struct hbase_transition {
	const char *table;   /* "ns:name", or "name" of the default namespace */
	struct bytes region; /* start key */
	const char *state;   /* "OPENING" */
	int64_t since_ms;
};
struct hbase_store_files {
	struct bytes region; /* its name */
	uint32_t families, files;
	uint64_t mib;	   /* of all files */
	uint64_t requests; /* reads and writes since it was opened there */
};
/* What the master knows of the cluster (ClusterStatus.proto); all in the arena. */
struct hbase_status {
	const char *version; /* "2.6.4"; "": not told */
	struct hbase_server *servers;
	struct hbase_transition *transitions;
	struct hbase_store_files *stores;
	size_t nservers, dead, ntransitions, nstores;
	struct arena arena;
};
/* Release *out whatever the result. */
int hbase_status(struct hbase *h, struct hbase_status *out, struct hbase_failure *why,
		 struct error *err);
void hbase_status_release(struct hbase_status *s);
/* Of a region by its name; NULL: its server has not told. */
const struct hbase_store_files *hbase_status_stores(const struct hbase_status *s,
						    struct bytes region);

/*
 * The status once it has a region server, waiting as hbase_retry does: to a master that was just
 * started they report after a while.  RC_IO: none came.  Release *out whatever the result.
 */
int precheck_wait(struct hbase *h, struct hbase_status *out, struct error *err);
/* RC_IO, TROUBLE_BUSY: it has none. */
int precheck_servers(const struct hbase_status *s, struct hbase_failure *why, struct error *err);
/*
 * Version, and the servers' clocks beside now_ms, that of this machine when the status came.
 * RC_CONFIG: nothing can be done with it.
 */
int precheck_cluster(const struct listener *l, const struct hbase_status *s, int64_t now_ms,
		     struct error *err);
/* A table that is there: regions that are nowhere at the moment. */
void precheck_table(const struct listener *l, const struct hbase_status *s, const char *table,
		    int64_t now_ms);
/* Is it enabled?  RC_CONFIG: no; RC_IO, TROUBLE_BUSY: it will be. */
int precheck_state(const char *table, enum hbase_table_state state, struct hbase_failure *why,
		   struct error *err);
int precheck_enabled(struct hbase *h, const char *table, struct hbase_failure *why,
		     struct error *err);

#endif
