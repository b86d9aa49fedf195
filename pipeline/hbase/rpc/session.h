/* session.h - a cluster's open connections, and calls through them */
#ifndef SALTMILL_CLUSTER_SESSION_H
#define SALTMILL_CLUSTER_SESSION_H

#include <pthread.h>

#include "hbase.h"
#include "deadline.h"
#include "rpc.h"

#define MASTER_PORT    16000
#define SERVICE_META   "ClientMetaService"
#define SERVICE_MASTER "MasterService"
#define SERVICE_REGION "ClientService"
#define SERVICE_ADMIN  "AdminService"

struct idle;
struct hbase {
	char *user, *cluster_id;
	char *named_user;		  /* the user that the caller named, or NULL */
	char *simple_user;		  /* `user` before a server demanded Kerberos */
	char *acts_for;			  /* with Kerberos, the user to impersonate; else NULL */
	_Atomic bool kerberos;		  /* every connection logs in with a ticket or the token */
	const struct hadoop_token *token; /* NULL: with a ticket; constant after the first login */
	const struct hadoop_tokens *token_file; /* the file of `token` */
	/* servers that can report the address of the master and of hbase:meta */
	struct hbase_place *servers;
	/* the parent of HBase's nodes if `servers` are ZooKeeper servers; else NULL */
	char *parent;
	size_t nservers;
	pthread_mutex_t lock;	   /* protects the members below */
	size_t answered;	   /* index of the server that answered last */
	struct hbase_place master; /* host "" means unknown */
	struct idle *idle;
};

/*
 * Make one call to a server, through an idle connection or a new connection. After RC_OK the caller
 * releases `*out`.
 */
int session_call(struct hbase *h, const struct hbase_place *at, const char *service,
		 const char *method, const struct buf *message, int64_t patience_ms,
		 struct rpc_answer *out, struct hbase_failure *why, struct error *err);
/* Call a method of the active master. If the master is unknown, find it first. */
int session_call_master(struct hbase *h, const char *method, const struct buf *message,
			struct rpc_answer *out, struct hbase_failure *why, struct error *err);
/*
 * Call a service of the region's server and release `b`. If the region is on no server, the trouble
 * is TROUBLE_GONE, because a server will open the region soon.
 */
int session_call_region(struct hbase *h, const struct hbase_region *r, const char *service,
			const char *method, struct buf *b, int64_t patience_ms,
			struct rpc_answer *out, struct hbase_failure *why, struct error *err);
/* Find the server of hbase:meta. */
int session_find_meta(struct hbase *h, struct hbase_place *out, struct hbase_failure *why,
		      struct error *err);

#endif
