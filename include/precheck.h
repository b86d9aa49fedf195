/*
 * precheck.h - a cluster looked at before it is given anything: what would not go well, and its fix
 *
 *   precheck_wait, precheck_cluster, precheck_table..., hbase_status_release
 */
#ifndef SALTMILL_PRECHECK_H
#define SALTMILL_PRECHECK_H

#include "hbase.h"

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

/* Who is told what does not hinder, a sentence each; say NULL: nobody. */
struct precheck {
	void (*say)(void *ctx, const char *sentence);
	void *ctx;
};
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
int precheck_cluster(const struct precheck *p, const struct hbase_status *s, int64_t now_ms,
		     struct error *err);
/* A table that is there: regions that are nowhere at the moment. */
void precheck_table(const struct precheck *p, const struct hbase_status *s, const char *table,
		    int64_t now_ms);
/* Is it enabled?  RC_CONFIG: no; RC_IO, TROUBLE_BUSY: it will be. */
int precheck_state(const char *table, enum hbase_table_state state, struct hbase_failure *why,
		   struct error *err);
int precheck_enabled(struct hbase *h, const char *table, struct hbase_failure *why,
		     struct error *err);

#endif
