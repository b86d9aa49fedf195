/*
 * rpc.h - one connection to a master or a region server
 *
 * HBase's RPC (org.apache.hadoop.hbase.ipc.NettyRpcServer, ServerRpcConnection; RPC.proto) with
 * SIMPLE authentication, or with Kerberos (sasl.h). A connection is for one service. saltmill makes one call at a time on a
 * connection.
 *
 *   client:  "HBas" 0 80 | int32 length, ConnectionHeader
 *   client:  int32 total | varint, RequestHeader | varint, message
 *   server:  int32 total | varint, ResponseHeader | varint, message | cell block
 */
#ifndef SALTMILL_CLUSTER_RPC_H
#define SALTMILL_CLUSTER_RPC_H

#include "bytes.h"
#include "error.h"
#include "hbase.h"

struct rpc;
struct hadoop_token;
/* The user of a connection. */
struct rpc_user {
	const char *name; /* the user, or the impersonated user with Kerberos; may be NULL then */
	bool kerberos;	  /* prove the user with a ticket, or with the token */
	const struct hadoop_token *token; /* NULL: with a ticket */
};

/*
 * Connect, log in and send the preamble. Returns RC_IO with TROUBLE_GONE if no server answers at this
 * address. Returns RC_STOPPED if a signal came. `patience_ms` limits each attempt.
 */
int rpc_connect(struct rpc **out, const struct hbase_place *at, const char *service,
		const struct rpc_user *user, int64_t patience_ms, struct hbase_failure *why,
		struct error *err);
void rpc_close(struct rpc *c); /* `c` may be NULL */
/* Return true if the client knows that the server has closed the connection. */
bool rpc_is_stale(const struct rpc *c);

struct rpc_answer {
	struct buf frame; /* owned; the other members borrow from `frame` */
	struct bytes message, cells;
};
void rpc_answer_release(struct rpc_answer *a);

/*
 * Call a method and wait for its answer. After a failure, `*why` has the kind of failure, and
 * `*err` has the message. Only an exception of the server leaves the connection usable. After other
 * failures rpc_is_broken returns true.
 */
int rpc_call(struct rpc *c, const char *method, struct bytes message, int64_t patience_ms,
	     struct rpc_answer *out, struct hbase_failure *why, struct error *err);
bool rpc_is_broken(const struct rpc *c);

/* --- the frames themselves, for tests --- */

/* Append the header of a connection. Leave out a NULL user. */
void rpc_put_header(struct buf *b, const char *service, const char *user);
/* Append preamble and header, the first bytes that a client without Kerberos sends. */
void rpc_put_preamble(struct buf *b, const char *service, const char *user);
/* Append a request with its int32 length. */
void rpc_put_request(struct buf *b, uint32_t call_id, const char *method, struct bytes message);
/*
 * Split an answer's frame. `frame` begins after the int32 length. Returns RC_DATA if the frame is
 * not an answer, or answers another call. Returns RC_IO if the answer is an exception, which `*why`
 * and `*err` describe. A server uses `call_id` UINT32_MAX for errors of the connection.
 */
int rpc_read_answer(struct bytes frame, uint32_t call_id, struct bytes *message,
		    struct bytes *cells, struct hbase_failure *why, struct error *err);

#endif
