/*
 * rpc.h - one connection to a master or a region server
 *
 * HBase's RPC (org.apache.hadoop.hbase.ipc.NettyRpcServer, ServerRpcConnection; RPC.proto) with
 * SIMPLE authentication. A connection serves one service, and here one call at a time.
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

#define RPC_FRAME_MOST ((uint32_t)1 << 30)

struct rpc;

/*
 * Connect and send the preamble. RC_IO with TROUBLE_GONE: no server answers there. RC_STOPPED: a
 * signal came. patience_ms limits each attempt.
 */
int rpc_connect(struct rpc **out, const struct hbase_place *at, const char *service,
		const char *user, int64_t patience_ms, struct hbase_failure *why,
		struct error *err);
void rpc_close(struct rpc *c); /* NULL is fine */
/* True if the server has closed the connection, as far as this side knows. */
bool rpc_is_stale(const struct rpc *c);

struct rpc_answer {
	struct buf frame; /* owned; the members below lie in it */
	struct bytes message, cells;
};
void rpc_answer_release(struct rpc_answer *a);

/*
 * Call a method and wait for its answer. After a failure *why says what it means for the caller,
 * *err has the message. After any failure except an exception of the server the connection is
 * unusable (rpc_is_broken).
 */
int rpc_call(struct rpc *c, const char *method, struct bytes message, int64_t patience_ms,
	     struct rpc_answer *out, struct hbase_failure *why, struct error *err);
bool rpc_is_broken(const struct rpc *c);

/* --- the frames themselves, for tests --- */

/* Append the first bytes of a client: preamble and header. */
void rpc_put_preamble(struct buf *b, const char *service, const char *user);
/* Append a request with its int32 length. */
void rpc_put_request(struct buf *b, uint32_t call_id, const char *method, struct bytes message);
/*
 * Split an answer's frame (after its int32 length). RC_DATA: it is no answer, or answers another
 * call. RC_IO: it is an exception, described in *why and *err. A server uses call_id UINT32_MAX for
 * errors of the connection.
 */
int rpc_read_answer(struct bytes frame, uint32_t call_id, struct bytes *message,
		    struct bytes *cells, struct hbase_failure *why, struct error *err);

#endif
