/*
 * hbase.h - calls to a live HBase over its own protocol, and checks before a load
 *
 *   hbase_open, calls*, hbase_close
 *
 * These functions support HBase 2.4 to 2.6 with SIMPLE authentication, and HBase 3 according to its
 * message definitions. A function makes one attempt, but searches again for a server that moved.
 * With hbase_failure, the caller decides whether and when to retry (hbase_retry). Several threads
 * may call these functions.
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

/* Kinds of failed calls. Each kind needs another reaction of the caller. */
enum hbase_trouble {
	TROUBLE_NONE,
	TROUBLE_GONE, /* the server or region is not there; find the new server, then retry */
	TROUBLE_BUSY, /* wait, then retry at the same server */
	/* the client sent the call, but got no answer; the server may have done the call */
	TROUBLE_LOST,
	TROUBLE_EXISTS,	 /* the table or namespace to create exists */
	TROUBLE_MISSING, /* the table or namespace does not exist */
	TROUBLE_REFUSED	 /* a retry would not help */
};

struct hbase_failure {
	enum hbase_trouble trouble;
	/* TROUBLE_REFUSED because of an unknown exception class without do_not_retry */
	bool may_pass;
	bool wants_kerberos; /* the server refuses users without a Kerberos login */
	bool hangs_up;	     /* the exception is of the connection, which the server closes */
	char name[160];	     /* last part of the exception's class; "" if there was no exception */
};

/* The attempts of an operation. {0} has made none. */
struct hbase_attempts {
	unsigned n; /* attempts that failed */
	/* an attempt has many calls, so the limit is for the waits between attempts only */
	bool rounds;
	int64_t until_ms, waited_ms; /* of hbase_retry */
};
/*
 * Wait after a failure (backoff in clock.h), and count it in *a. Returns true if the caller may
 * retry. Returns false if a retry would not help, if a signal came, or if the limit of hbase_limit
 * would pass. *err has the reason. Until its next answer, the thread's calls end at this limit.
 */
bool hbase_retry(const struct hbase_failure *why, struct hbase_attempts *a, struct error *err);

/* --- connection --- */

struct hbase;
/*
 * Limit each operation, with its retries, searches and logins, in milliseconds (default: four
 * minutes). A limit of the user is also that of one call, which otherwise is a minute, and of a
 * change by the master, which otherwise is half an hour. hbase_bulk_load has its own limit. Call
 * this function before the first thread.
 */
void hbase_limit(int64_t ms, bool by_user);
/*
 * Connect to a cluster. `servers` is host[:port],... of masters (port 16000) or, from HBase 2.5 on,
 * of region servers. `servers` can also be zk:host[:port],...[/parent], the ZooKeeper quorum (2181,
 * /hbase). The function tries each server until one answers. `user` is the HBase user of all calls.
 * If `user` is NULL, this is $HADOOP_USER_NAME, or the process's user. Returns RC_CONFIG if it
 * cannot parse `servers`.
 */
int hbase_open(struct hbase **out, const char *servers, const char *user, struct hbase_failure *why,
	       struct error *err);
void hbase_close(struct hbase *h); /* NULL is fine */
/*
 * Return true if the same cluster answers over a new connection. Return false if another cluster or
 * no cluster answers. The function releases connections that servers have closed. No other thread
 * may use `h` during the call.
 */
bool hbase_is_same(struct hbase *h);
const char *hbase_cluster_id(const struct hbase *h);
const char *hbase_user(const struct hbase *h);
/* Return true if the cluster requires Kerberos, so that connections log in with a ticket. */
bool hbase_is_secured(const struct hbase *h);
struct hadoop_token;
/* Return the token that logs in to the cluster, or NULL if a ticket does, or nothing. */
const struct hadoop_token *hbase_token_used(const struct hbase *h);
/*
 * Get a token of HBase, in *a, for processes without a ticket. HBase's servers accept it for seven
 * days (hbase.auth.token.max.lifetime), and give one only for a ticket.
 */
int hbase_token(struct hbase *h, struct arena *a, struct hadoop_token *out,
		struct hbase_failure *why, struct error *err);

/* --- tables, by calls to the master --- */

/*
 * Read the table's current attributes into the arena. *exists is false if there is no such table.
 * All attributes go to `items`, except a family's `configuration`.
 */
int hbase_describe(struct hbase *h, const char *table, struct description *out, struct arena *a,
		   bool *exists, struct hbase_failure *why, struct error *err);
/* TableState.State */
enum hbase_table_state { TABLE_ENABLED, TABLE_DISABLED, TABLE_DISABLING, TABLE_ENABLING };
int hbase_table_state(struct hbase *h, const char *table, enum hbase_table_state *out,
		      struct hbase_failure *why, struct error *err);
/* Draw the two numbers by which the master recognizes a repeated change. */
int hbase_draw_nonces(uint64_t nonce[2], struct error *err);
int hbase_create_namespace(struct hbase *h, const char *name, struct hbase_failure *why,
			   struct error *err);
/*
 * Create the table and wait until it is ready. A retry with the same nonces does not create the
 * table twice, even after a restart of HBase or of this process.
 */
int hbase_create(struct hbase *h, const char *table, const struct description *d,
		 const struct splits *s, const uint64_t nonce[2], struct hbase_failure *why,
		 struct error *err);
/* Replace the table's attributes and wait until its regions have the new attributes. */
int hbase_alter(struct hbase *h, const char *table, const struct description *d,
		const uint64_t nonce[2], struct hbase_failure *why, struct error *err);

/*
 * Disable a table, or delete a disabled table, and wait until HBase has done so. A retry with the
 * same nonces does not make a second change.
 */
int hbase_disable(struct hbase *h, const char *table, const uint64_t nonce[2],
		  struct hbase_failure *why, struct error *err);
int hbase_delete(struct hbase *h, const char *table, const uint64_t nonce[2],
		 struct hbase_failure *why, struct error *err);

/*
 * Take a snapshot of an enabled table, and wait for its end. Servers first write what they have in
 * memory. A retry with the same name does not take it twice. The trouble is TROUBLE_BUSY if the
 * snapshot failed because a region moved or split, or because another snapshot of the table runs.
 */
int hbase_snapshot(struct hbase *h, const char *name, const char *table, struct hbase_failure *why,
		   struct error *err);
/* Delete a snapshot. A missing snapshot is not an error. */
int hbase_delete_snapshot(struct hbase *h, const char *name, struct hbase_failure *why,
			  struct error *err);

/*
 * Query whether the user may bulk load into the table, or create a missing table. Both need the
 * right CREATE on the table or its namespace. Needs HBase 2.3 and its AccessController.
 */
int hbase_may_load(struct hbase *h, const char *table, bool exists, bool *may,
		   struct hbase_failure *why, struct error *err);

struct hbase_table {
	const char *name; /* "ns:table", or "table" in the default namespace */
	enum hbase_table_state state;
	size_t regions; /* the regions that hbase:meta lists, even if they have gaps */
};
struct hbase_tables {
	struct hbase_table *item; /* sorted by name */
	size_t count;
	struct arena arena;
};
/*
 * List the tables whose whole name matches a regular expression of Java, as the shell's `list`
 * does. The master evaluates it. NULL matches all tables. The list omits system tables. Release
 * *out whatever the result.
 */
int hbase_tables(struct hbase *h, const char *regex, struct hbase_tables *out,
		 struct hbase_failure *why, struct error *err);
void hbase_tables_release(struct hbase_tables *t);

/* --- regions --- */

struct hbase_region {
	struct bytes start, end; /* row keys; empty means unbounded */
	struct bytes name;	 /* "table,start,id.encoded." */
	/* `place.host` is "" if the region is on no server at the moment */
	struct hbase_place place;
};
struct hbase_regions {
	/* sorted by start key; the first start and the last end are unbounded */
	struct hbase_region *item;
	size_t count;
	/*
	 * Encoded names of the regions from which HBase split or merged these regions. hbase:meta
	 * lists such regions for some time.
	 */
	struct bytes *parents;
	size_t nparents;
	bool gap; /* true if the regions have a gap or overlap; `item` has them all the same */
	struct arena arena;
};
/*
 * Return the encoded name (32 characters) at the end of a region's name, or {0} if the name has
 * another form.
 */
struct bytes hbase_encoded_name(struct bytes region_name);
/*
 * Read the table's regions from hbase:meta. The trouble is TROUBLE_BUSY if the regions have a gap,
 * because a split or merge is running. The trouble is TROUBLE_MISSING if there are no regions.
 * Release *out whatever the result.
 */
int hbase_regions(struct hbase *h, const char *table, struct hbase_regions *out,
		  struct hbase_failure *why, struct error *err);
void hbase_regions_release(struct hbase_regions *r);
/* Find the only region of hbase:meta and its server. */
int hbase_meta(struct hbase *h, struct hbase_region *out, struct hbase_failure *why,
	       struct error *err);

struct hbase_family_file {
	const char *family, *path; /* `path` is the path that the region server opens */
};

/*
 * Request a staging folder. A load of a table uses this folder for all regions. The caller owns
 * *token.
 */
int hbase_bulk_prepare(struct hbase *h, const char *table, const struct hbase_region *r,
		       char **token, struct hbase_failure *why, struct error *err);
/* A delegation token of HDFS (HBaseProtos DelegationToken, Hadoop's Token). */
struct hbase_fs_token {
	struct bytes identifier, password;
	const char *kind, *service;
};
/* One call of BulkLoadHFile. */
struct hbase_bulk {
	const char *token; /* from hbase_bulk_prepare */
	const struct hbase_family_file *files;
	size_t nfiles;
	/* lets the server act as the user; NULL without Kerberos, or if all files are in s3a:// */
	const struct hbase_fs_token *fs_token;
	bool no_replicate;   /* the cluster does not replicate these cells to its peers */
	int64_t patience_ms; /* longest time for the call */
};
/*
 * Bulk load files into a region. The region loads all files or no file. *loaded is false if the
 * region loaded no file and gave no reason. On a secured cluster without a complete `fs_token`, the
 * function returns RC_CONFIG and sends nothing for files in HDFS. Otherwise the server would act as
 * HBase's own user, and a refused load could then lose the files.
 */
int hbase_bulk_load(struct hbase *h, const struct hbase_region *r, const struct hbase_bulk *load,
		    bool *loaded, struct hbase_failure *why, struct error *err);
/* Remove the staging folder and its content. */
int hbase_bulk_cleanup(struct hbase *h, const struct hbase_region *r, const char *token,
		       struct hbase_failure *why, struct error *err);

/* --- writes --- */

/*
 * Write the values of cells into a region. Each cell is of another row, and the server gives the
 * timestamps. After a failure, the region may have a part of the cells; a retry is harmless.
 */
int hbase_put(struct hbase *h, const struct hbase_region *r, const struct cell *cells, size_t n,
	      struct hbase_failure *why, struct error *err);
/* Write what the region has in memory to store files, and wait until it has done so. */
int hbase_flush(struct hbase *h, const struct hbase_region *r, struct hbase_failure *why,
		struct error *err);

/* --- scans --- */

/* The columns of one family to read. */
struct hbase_columns {
	struct bytes family;
	const struct bytes *qualifiers; /* no qualifiers means all columns */
	size_t nqualifiers;
};

struct hbase_scan {
	const char *family; /* family to read; NULL means all families, or `columns` */
	const struct hbase_columns *columns;
	size_t ncolumns;
	/* row keys; empty means unbounded; a reversed scan also begins at `start` */
	struct bytes start, stop;
	bool start_exclusive, stop_inclusive;
	bool reversed;
	uint32_t versions;	/* versions of each column; 0 means one */
	int64_t from_ms, to_ms; /* from_ms <= timestamp < to_ms; both 0 means all */
	bool raw;		/* return all stored cells, including delete markers */
	bool leave_cache;	/* do not put blocks into the servers' block cache */
	/* NULL means no filter; put_filter must support the filter's types (hbase/rpc/encode.h) */
	const struct filter *filter;
	uint64_t limit;	       /* the most rows from the region; 0 means all */
	uint32_t rows_a_call;  /* most rows in an answer; 0 means 1000 */
	uint64_t bytes_a_call; /* most bytes in an answer; 0 means that the server decides */
	int64_t patience_ms;   /* longest time of a call; 0 means a minute */
};
typedef int hbase_take_cell(void *ctx, const struct cell *c, struct error *err);
/* Pass all cells of the scan in a region to `take`, in order. A failure of `take` ends the scan. */
int hbase_scan_region(struct hbase *h, const struct hbase_region *r, const struct hbase_scan *scan,
		      hbase_take_cell *take, void *ctx, struct hbase_failure *why,
		      struct error *err);

/* A scan of a region, one call at a time. {0} has no scanner. */
struct hbase_scanner {
	struct hbase_place place;
	bool open;  /* the scanner is open on the server */
	bool ended; /* the region has no more rows */
	uint64_t id, sequence;
	uint64_t limit; /* number of rows that remain to read, updated by the caller; 0 means all */
	uint32_t rows_a_call;
	/* longest time of the next call, set by the caller; 0 means a minute */
	int64_t patience_ms;
	/* milliseconds that the server waits for the next call; 0 means unknown */
	int64_t lease_ms;
};
/*
 * The result of one call. All rows are whole, except that the last row may continue in the next
 * batch.
 */
struct hbase_batch {
	struct buf frame;
	struct bytes cells; /* input of hbase_batch_cell */
};
/*
 * hbase_scanner_open makes the first call, and hbase_scanner_next each following call. A batch may
 * be empty. A failure closes the scanner, and the caller scans the remaining rows with another
 * scanner. A temporary failure is TROUBLE_BUSY, because a scan changes nothing. Release the batch
 * after RC_OK.
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
 * Close a scanner. A second call has no effect. The call takes at most a second. If the call fails,
 * the scanner stays open on the server until its lease expires.
 */
void hbase_scanner_close(struct hbase *h, struct hbase_scanner *s);
/*
 * Take the next cell from *cells. *out borrows from the batch. Returns RC_END after the last cell.
 * Returns RC_DATA if the bytes are not a cell.
 */
int hbase_batch_cell(struct bytes *cells, struct cell *out, struct error *err);
void hbase_batch_release(struct hbase_batch *b);

/*
 * --- precheck: problems of a cluster, and their fixes, before a load ---
 *
 *   precheck_wait, precheck_cluster, precheck_table..., hbase_status_release
 */

struct hbase_server {
	struct hbase_place place;
	uint64_t start_code; /* differs after each start of the server */
	/* the server's clock at its last report to the master (every 3 s); 0 means unknown */
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
	uint64_t mib;		/* size of all files of the store */
	uint64_t reads, writes; /* requests since the server opened the region */
	size_t server;		/* index of the server that reports the region */
	uint64_t to_compact;	/* cells that running compactions have not read yet */
};
/* The master's view of the cluster (ClusterStatus.proto). All data is in the arena. */
struct hbase_status {
	const char *version; /* "2.6.4"; "" means unknown */
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
/*
 * Find the store files of the region with this name. Returns NULL if the region's server has not
 * reported.
 */
const struct hbase_store_files *hbase_status_stores(const struct hbase_status *s,
						    struct bytes region);

/*
 * List the ids of the peers to which the cluster replicates, separated by ", ", in the arena. The
 * list is "" without enabled peers. HBase lets only administrators list them.
 */
int hbase_peers(struct hbase *h, struct arena *a, const char **out, struct hbase_failure *why,
		struct error *err);
/*
 * Read the status until it has a region server, with the waits of hbase_retry. Region servers
 * report to a restarted master only after some time. Returns RC_IO if no server has reported.
 * Release *out whatever the result.
 */
int precheck_wait(struct hbase *h, struct hbase_status *out, struct error *err);
/*
 * Check that the cluster has a region server. Returns RC_IO with TROUBLE_BUSY if there is no region
 * server.
 */
int precheck_servers(const struct hbase_status *s, struct hbase_failure *why, struct error *err);
/*
 * Check the version, and compare the servers' clocks with `now_ms`. `now_ms` is the time of this
 * machine when the status arrived. Returns RC_CONFIG if saltmill cannot work with this cluster.
 */
int precheck_cluster(const struct listener *l, const struct hbase_status *s, int64_t now_ms,
		     struct error *err);
/* Report the regions of an existing table that are on no server at the moment. */
void precheck_table(const struct listener *l, const struct hbase_status *s, const char *table,
		    int64_t now_ms);
/*
 * Check that the table is not disabled. Returns RC_CONFIG if the table is disabled. Returns RC_IO
 * with TROUBLE_BUSY if HBase is just enabling the table.
 */
int precheck_state(const char *table, enum hbase_table_state state, struct hbase_failure *why,
		   struct error *err);
int precheck_enabled(struct hbase *h, const char *table, struct hbase_failure *why,
		     struct error *err);

/*
 * --- disk: HBase's files beside a table's store files ---
 *
 * Results are in the arena. Functions return RC_DATA if `file` is not such a file.
 */

/* Rows of a store file that a reference selects: rows from `row` on, or the rows before it. */
struct disk_half {
	struct bytes row;
	bool top;
};
struct disk_region {
	const char *name;  /* encoded name, which is the name of the region's folder */
	const char *table; /* "ns:table", or "table" in the default namespace */
	struct bytes start, end;
	uint64_t id;	/* a region has a larger id than the regions that it replaces */
	bool is_parent; /* the region was split, and others have its rows */
	bool is_replica;
	bool is_mob; /* not a region, but the name for the table's MOB files in a snapshot */
};
/* Return the name of the region folder that has the MOB files of a table ("ns:table"). */
const char *disk_mob_region(struct bytes table, struct arena *a);
struct disk_file {
	const char *name;
	bool is_half;
	struct disk_half half;
};
struct disk_store {
	const char *family;
	struct disk_file *files;
	size_t nfiles;
};
/* A region of a snapshot, with the store files that it had. */
struct disk_region_files {
	struct disk_region region;
	struct disk_store *stores;
	size_t nstores;
};
struct disk_manifest {
	struct description table;
	struct disk_region_files *regions;
	size_t nregions;
};
/* Read a table's descriptor (.tableinfo). */
int disk_read_table(struct bytes file, struct description *out, struct arena *a, struct error *err);
int disk_read_region(struct bytes file, struct disk_region *out, struct arena *a,
		     struct error *err); /* .regioninfo */
int disk_read_half(struct bytes file, struct disk_half *out, struct arena *a,
		   struct error *err); /* a reference */
/* Set *out if `list`, a file's COMPACTION_EVENT_KEY, has the name of this store file. */
int disk_names_compacted(struct bytes list, const char *name, bool *out, struct error *err);
/* Read the table and the version of the format from .snapshotinfo. */
int disk_read_snapshot(struct bytes file, const char **table, uint64_t *version, struct arena *a,
		       struct error *err);
int disk_read_manifest(struct bytes file, struct disk_manifest *out, struct arena *a,
		       struct error *err); /* data.manifest */
/* Append the region of a region-manifest file to the manifest. */
int disk_read_region_files(struct bytes file, struct disk_manifest *out, struct arena *a,
			   struct error *err);

#endif
