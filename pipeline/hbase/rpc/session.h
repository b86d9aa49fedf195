/*
 * session.h - a cluster's connections, and calls by them
 */
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
#define CALL_MS	   60000 /* as HBase's own client; what may take longer says so */

struct idle;
struct hbase {
	char *user, *cluster_id;
	struct hbase_place *servers; /* whom to ask for the rest */
	char *parent;		     /* they are ZooKeeper's, and HBase's nodes below it; or NULL */
	size_t nservers;
	pthread_mutex_t lock;	   /* what follows */
	size_t answered;	   /* of servers, the one that did last */
	struct hbase_place master; /* host "": ask */
	struct idle *idle;
};

/*
 * One call at a place, by a connection that is free or a new one.  out is released by the caller
 * when it is RC_OK.
 */
int session_call(struct hbase *h, const struct hbase_place *at, const char *service,
		 const char *method, const struct buf *message, int64_t patience_ms,
		 struct rpc_answer *out, struct hbase_failure *why, struct error *err);
/* The same at the active master, which is asked for if it is not known. */
int session_call_master(struct hbase *h, const char *method, const struct buf *message,
			struct rpc_answer *out, struct hbase_failure *why, struct error *err);
/* Where hbase:meta is. */
int session_find_meta(struct hbase *h, struct hbase_place *out, struct hbase_failure *why,
		      struct error *err);

#endif
