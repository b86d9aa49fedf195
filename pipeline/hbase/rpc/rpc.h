/*
 * rpc.h - one connection to a master or a region server: connect, call, and what an answer means
 *
 * HBase's RPC (org.apache.hadoop.hbase.ipc.NettyRpcServer, ServerRpcConnection; RPC.proto), SIMPLE
 * authentication.  A connection serves one service and here one call at a time.
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
 * Connect and send the preamble.  RC_IO, with why->trouble TROUBLE_GONE, when nobody answers there.
 * patience_ms bounds each attempt; an interrupted one is RC_STOPPED.
 */
int rpc_connect(struct rpc **out, const struct hbase_place *at, const char *service,
		const char *user, int64_t patience_ms, struct hbase_failure *why,
		struct error *err);
void rpc_close(struct rpc *c); /* NULL is fine */
/* Was it closed by the server, as far as this side knows? */
bool rpc_is_stale(const struct rpc *c);

struct rpc_answer {
	struct buf frame; /* owned; what follows lies in it */
	struct bytes message, cells;
};
void rpc_answer_release(struct rpc_answer *a);

/*
 * Call a method and wait for its answer.  A failure leaves in *why what it means for the caller,
 * and the sentence in *err; behind any but an exception of the server the connection is of no
 * more use (rpc_is_broken).
 */
int rpc_call(struct rpc *c, const char *method, struct bytes message, int64_t patience_ms,
	     struct rpc_answer *out, struct hbase_failure *why, struct error *err);
bool rpc_is_broken(const struct rpc *c);

/* --- the frames themselves, for tests --- */

/* What a client sends first, preamble and header. */
void rpc_put_preamble(struct buf *b, const char *service, const char *user);
/* A request with its int32 length. */
void rpc_put_request(struct buf *b, uint32_t call_id, const char *method, struct bytes message);
/*
 * Take an answer's frame (behind its int32 length) apart.  RC_DATA: it is none, or of another call.
 * RC_IO: it is an exception, told in *why and *err.  call_id UINT32_MAX is that of the server.
 */
int rpc_read_answer(struct bytes frame, uint32_t call_id, struct bytes *message,
		    struct bytes *cells, struct hbase_failure *why, struct error *err);

#endif
