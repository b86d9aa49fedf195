/*
 * zookeeper.h - find the master and hbase:meta through the ZooKeeper quorum
 *
 * This client uses only the part of ZooKeeper's protocol that reads one node (ConnectRequest,
 * RequestHeader and GetDataRequest in zookeeper.jute). Each packet is an int32 length and the
 * bytes. All numbers are big-endian.
 *
 *   client: ConnectRequest            server: ConnectResponse
 *   client: xid 1, getData, path      server: xid, zxid, error, the node's bytes, Stat
 *   client: closeSession
 *
 * HBase's nodes are FF, int32 n, n bytes that name the writer, "PBUF", a message
 * (RecoverableZooKeeper, ProtobufUtil).
 */
#ifndef SALTMILL_CLUSTER_ZOOKEEPER_H
#define SALTMILL_CLUSTER_ZOOKEEPER_H

#include "hbase.h"

#define ZOOKEEPER_PORT	 2181
#define ZOOKEEPER_PARENT "/hbase" /* zookeeper.znode.parent */

/*
 * Read an HBase node from one server. `*message` is the node's message, a part of `*node`, which
 * the caller owns. The trouble is TROUBLE_GONE if the server does not answer, or does not accept
 * clients at the moment. The trouble is TROUBLE_BUSY if the node does not exist, for example
 * because no master is active.
 */
int zookeeper_read(const struct hbase_place *at, const char *path, int64_t patience_ms,
		   struct buf *node, struct bytes *message, struct hbase_failure *why,
		   struct error *err);

/* --- for tests --- */

/* Append the requests connect, get and close, which read a node. */
void zookeeper_put_request(struct buf *b, const char *path);
/*
 * Get the node's bytes from an answer to getData. `packet` begins after the length. Returns RC_END
 * if there is no such node. Returns RC_DATA if the bytes are not such an answer. Returns RC_IO for
 * another error, with its code in `err`.
 */
int zookeeper_read_answer(struct bytes packet, struct bytes *data, struct error *err);
/* Get the message from a node's bytes. Returns RC_DATA if the bytes are not from HBase. */
int zookeeper_node_message(struct bytes data, struct bytes *message, struct error *err);

#endif
