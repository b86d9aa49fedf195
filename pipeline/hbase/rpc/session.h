/* session.h - a cluster's open connections, and calls through them */
#ifndef SALTMILL_CLUSTER_SESSION_H
#define SALTMILL_CLUSTER_SESSION_H

#include <pthread.h>

#include "hbase.h"
#include "rpc.h"

#define MASTER_PORT    16000
#define SERVICE_META   "ClientMetaService"
#define SERVICE_MASTER "MasterService"
#define SERVICE_REGION "ClientService"

#define CONNECT_MS 10000
#define CALL_MS	   60000 /* as HBase's own client; slower calls pass their own limit */

struct idle;
struct hbase {
	char *user, *cluster_id;
	struct hbase_place *servers; /* servers that know the master and hbase:meta */
	/* the parent of HBase's nodes if they are ZooKeeper servers; or NULL */
	char *parent;
	size_t nservers;
	pthread_mutex_t lock;	   /* protects the members below */
	size_t answered;	   /* index of the server that answered last */
	struct hbase_place master; /* host "": unknown */
	struct idle *idle;
};

/*
 * Make one call at a place, through an idle connection or a new one. The caller releases out after
 * RC_OK.
 */
int session_call(struct hbase *h, const struct hbase_place *at, const char *service,
		 const char *method, const struct buf *message, int64_t patience_ms,
		 struct rpc_answer *out, struct hbase_failure *why, struct error *err);
/* Make a call at the active master, which is looked up if it is unknown. */
int session_call_master(struct hbase *h, const char *method, const struct buf *message,
			struct rpc_answer *out, struct hbase_failure *why, struct error *err);
/* Find the server of hbase:meta. */
int session_find_meta(struct hbase *h, struct hbase_place *out, struct hbase_failure *why,
		      struct error *err);

#endif
