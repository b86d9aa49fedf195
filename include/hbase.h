/*
 * hbase.h - a live HBase over its own protocol: one function for each call, and checks before a
 * load
 *
 *   hbase_open, calls*, hbase_close
 *
 * HBase 2.4 to 2.6 and, by its message definitions, 3; SIMPLE authentication. A function makes one
 * attempt, except that it looks up moved servers again. The caller decides by hbase_failure whether
 * and when to retry (hbase_retry). Several threads may call these functions.
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

/* The address of a server. */
struct hbase_place {
	char host[256];
	uint16_t port;
};

/* The meaning of a failed call for the caller. */
enum hbase_trouble {
	TROUBLE_NONE,
	TROUBLE_GONE,	 /* not there any more, or never: look up again, then retry */
	TROUBLE_BUSY,	 /* wait, then retry at the same place */
	TROUBLE_LOST,	 /* sent, but no answer came: done or not done */
	TROUBLE_EXISTS,	 /* the table or namespace to create exists */
	TROUBLE_MISSING, /* no such table or namespace */
	TROUBLE_REFUSED	 /* a retry would not help */
};

struct hbase_failure {
	enum hbase_trouble trouble;
	bool may_pass;	/* TROUBLE_REFUSED by an unknown exception class without do_not_retry */
	char name[160]; /* the last part of the exception's class; "": none */
};

/*
 * Wait after a failure (backoff in clock.h) and count *attempt. True: try again. False: a retry
 * would not help, five minutes have passed, or a signal came (see *err).
 */
bool hbase_retry(const struct hbase_failure *why, unsigned *attempt, struct error *err);

/* --- connection --- */

struct hbase;
/*
 * Connect to a cluster. servers: host[:port],... of masters (port 16000) or, from 2.5 on, region
 * servers; or zk:host[:port],...[/parent], the ZooKeeper quorum (2181, /hbase). Each is tried until
 * one answers. user: the user to act as; NULL: $HADOOP_USER_NAME, or the process's user. RC_CONFIG:
 * servers cannot be parsed.
 */
int hbase_open(struct hbase **out, const char *servers, const char *user, struct hbase_failure *why,
	       struct error *err);
void hbase_close(struct hbase *h); /* NULL is fine */
/*
 * True if the same cluster still answers, over a new connection. Connections that servers have
 * closed are released. No other thread may be calling. False: another cluster, or none.
 */
bool hbase_is_same(struct hbase *h);
const char *hbase_cluster_id(const struct hbase *h);
const char *hbase_user(const struct hbase *h);

/* --- tables, by the master --- */

/*
 * Read the table's current attributes into the arena; *exists false: there is no such table. All
 * attributes are items, except a family's configuration.
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
 * Create the table and wait for it. The same nonces mean the same creation: a repeated call, also
 * after a restart of either side, creates no second table.
 */
int hbase_create(struct hbase *h, const char *table, const struct description *d,
		 const struct splits *s, const uint64_t nonce[2], struct hbase_failure *why,
		 struct error *err);
/* Replace the table's attributes and wait until its regions have the new ones. */
int hbase_alter(struct hbase *h, const char *table, const struct description *d,
		const uint64_t nonce[2], struct hbase_failure *why, struct error *err);

/* --- regions --- */

struct hbase_region {
	struct bytes start, end;  /* row keys; empty: open */
	struct bytes name;	  /* "table,start,id.encoded." */
	struct hbase_place place; /* host "": on no server at the moment */
};
struct hbase_regions {
	struct hbase_region *item; /* by start key; the first start and the last end are open */
	size_t count;
	/*
	 * Encoded names of regions that were split or merged into these, while hbase:meta still
	 * lists them.
	 */
	struct bytes *parents;
	size_t nparents;
	struct arena arena;
};
/* Return the encoded name at the end of a region's name, 32 characters; {0}: there is none. */
struct bytes hbase_encoded_name(struct bytes region_name);
/*
 * Read the table's regions from hbase:meta. TROUBLE_BUSY: there is a gap, because a split or merge
 * is running. TROUBLE_MISSING: there are none. Release *out whatever the result.
 */
int hbase_regions(struct hbase *h, const char *table, struct hbase_regions *out,
		  struct hbase_failure *why, struct error *err);
void hbase_regions_release(struct hbase_regions *r);
/* Find the only region of hbase:meta and its server. */
int hbase_meta(struct hbase *h, struct hbase_region *out, struct hbase_failure *why,
	       struct error *err);

struct hbase_family_file {
	const char *family, *path; /* path: as the region server opens it */
};

/*
 * Request a staging folder, which one load of a table uses for all its regions. The caller owns
 * *token.
 */
int hbase_bulk_prepare(struct hbase *h, const char *table, const struct hbase_region *r,
		       char **token, struct hbase_failure *why, struct error *err);
/*
 * Bulk load files into a region: all of them or none. *loaded false: none, and the server gives no
 * reason. patience_ms: how long the call may take.
 */
int hbase_bulk_load(struct hbase *h, const struct hbase_region *r, const char *token,
		    const struct hbase_family_file *files, size_t nfiles, int64_t patience_ms,
		    bool *loaded, struct hbase_failure *why, struct error *err);
/* Remove the staging folder and its content. */
int hbase_bulk_cleanup(struct hbase *h, const struct hbase_region *r, const char *token,
		       struct hbase_failure *why, struct error *err);

/* --- scans --- */

/* The columns of one family to read. */
struct hbase_columns {
	struct bytes family;
	const struct bytes *qualifiers; /* none: all */
	size_t nqualifiers;
};

struct hbase_scan {
	const char *family; /* NULL: all families, or `columns` */
	const struct hbase_columns *columns;
	size_t ncolumns;
	struct bytes start, stop; /* rows; a reversed scan also begins at start; empty: open */
	bool start_exclusive, stop_inclusive;
	bool reversed;
	uint32_t versions;	/* of a cell; 0: one */
	int64_t from_ms, to_ms; /* from_ms <= timestamp < to_ms; both 0: all */
	bool raw;		/* everything stored, including delete markers */
	bool leave_cache;	/* do not fill the servers' block cache */
	/* NULL: none; the types that put_filter supports (hbase/rpc/encode.h) */
	const struct filter *filter;
	uint64_t limit;	       /* rows of the region; 0: all */
	uint32_t rows_a_call;  /* 0: 1000 */
	uint64_t bytes_a_call; /* 0: the server decides */
};
typedef int hbase_take_cell(void *ctx, const struct cell *c, struct error *err);
/* Pass all cells of the scan in a region to take, in order. A failure of take ends the scan. */
int hbase_scan_region(struct hbase *h, const struct hbase_region *r, const struct hbase_scan *scan,
		      hbase_take_cell *take, void *ctx, struct hbase_failure *why,
		      struct error *err);

/* The same scan, one call at a time. {0} is closed. */
struct hbase_scanner {
	struct hbase_place place;
	bool open;  /* the server has the scanner open */
	bool ended; /* the region has no more rows */
	uint64_t id, sequence;
	uint64_t limit; /* rows still wanted, updated by the caller; 0: all */
	uint32_t rows_a_call;
	int64_t lease_ms; /* how long the server waits for the next call; 0: unknown */
};
/* The result of one call: whole rows, except that the last one may continue in the next batch. */
struct hbase_batch {
	struct buf frame;
	struct bytes cells; /* input of hbase_batch_cell */
};
/*
 * Make the first call, and each following one; a batch may be empty. After a failure the scanner is
 * closed; scan the remaining rows with another one. A failure that may pass is TROUBLE_BUSY,
 * because a scan changes nothing. Release the batch after RC_OK.
 */
int hbase_scanner_open(struct hbase *h, struct hbase_scanner *s, const struct hbase_region *r,
		       const struct hbase_scan *scan, struct hbase_batch *out,
		       struct hbase_failure *why, struct error *err);
int hbase_scanner_next(struct hbase *h, struct hbase_scanner *s, struct hbase_batch *out,
		       struct hbase_failure *why, struct error *err);
/* Extend the scanner's lease on the server. */
int hbase_scanner_renew(struct hbase *h, struct hbase_scanner *s, struct hbase_failure *why,
			struct error *err);
/*
 * Close a scanner, also a closed one. It takes at most a second: the lease of a scanner that stays
 * open expires.
 */
void hbase_scanner_close(struct hbase *h, struct hbase_scanner *s);
/*
 * Take the next cell from cells. RC_END: there is none. RC_DATA: the bytes are no cell. It borrows
 * from the batch.
 */
int hbase_batch_cell(struct bytes *cells, struct cell *out, struct error *err);
void hbase_batch_release(struct hbase_batch *b);

/*
 * --- precheck: problems of a cluster, and their fixes, before anything is loaded ---
 *
 *   precheck_wait, precheck_cluster, precheck_table..., hbase_status_release
 */

struct hbase_server {
	struct hbase_place place;
	/* its clock at its last report to the master (every 3 s); 0: unknown */
	int64_t reported_ms;
};
struct hbase_transition {
	const char *table;   /* "ns:name", or "name" in the default namespace */
	struct bytes region; /* start key */
	const char *state;   /* "OPENING" */
	int64_t since_ms;
};
struct hbase_store_files {
	struct bytes region; /* the region's name */
	uint32_t families, files;
	uint64_t mib;	   /* of all its files */
	uint64_t requests; /* reads and writes since the region was opened there */
};
/* The master's view of the cluster (ClusterStatus.proto), all in the arena. */
struct hbase_status {
	const char *version; /* "2.6.4"; "": unknown */
	struct hbase_server *servers;
	struct hbase_transition *transitions;
	struct hbase_store_files *stores;
	size_t nservers, dead, ntransitions, nstores;
	struct arena arena;
};
/* Read the cluster's status. Release *out whatever the result. */
int hbase_status(struct hbase *h, struct hbase_status *out, struct hbase_failure *why,
		 struct error *err);
void hbase_status_release(struct hbase_status *s);
/* Find a region's store files by its name; NULL: its server has not reported. */
const struct hbase_store_files *hbase_status_stores(const struct hbase_status *s,
						    struct bytes region);

/*
 * Read the status, waiting as hbase_retry does until it has a region server: region servers report
 * to a restarted master after some time. RC_IO: none reported. Release *out whatever the result.
 */
int precheck_wait(struct hbase *h, struct hbase_status *out, struct error *err);
/* RC_IO with TROUBLE_BUSY: the cluster has no region server. */
int precheck_servers(const struct hbase_status *s, struct hbase_failure *why, struct error *err);
/*
 * Check the version, and compare the servers' clocks with now_ms, this machine's time when the
 * status arrived. RC_CONFIG: saltmill cannot work with this cluster.
 */
int precheck_cluster(const struct listener *l, const struct hbase_status *s, int64_t now_ms,
		     struct error *err);
/* Report regions of an existing table that are on no server at the moment. */
void precheck_table(const struct listener *l, const struct hbase_status *s, const char *table,
		    int64_t now_ms);
/* Check that the table is enabled. RC_CONFIG: it is not; RC_IO with TROUBLE_BUSY: it will be. */
int precheck_state(const char *table, enum hbase_table_state state, struct hbase_failure *why,
		   struct error *err);
int precheck_enabled(struct hbase *h, const char *table, struct hbase_failure *why,
		     struct error *err);

#endif
