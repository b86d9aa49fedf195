/*
 * zookeeper.h - find the master and hbase:meta through the ZooKeeper quorum
 *
 * It speaks only the part of ZooKeeper's protocol that reads one node (zookeeper.jute:
 * ConnectRequest, RequestHeader, GetDataRequest). Each packet is an int32 length and as many bytes;
 * all numbers are big-endian.
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
 * Read an HBase node from one server: *message is its message, inside *node, which the caller owns.
 * TROUBLE_GONE: the server does not answer, or serves no clients at the moment. TROUBLE_BUSY: the
 * node does not exist, for example because no master is active.
 */
int zookeeper_read(const struct hbase_place *at, const char *path, int64_t patience_ms,
		   struct buf *node, struct bytes *message, struct hbase_failure *why,
		   struct error *err);

/* --- for tests --- */

/* Append everything that a client sends to read a node: connect, get, close. */
void zookeeper_put_request(struct buf *b, const char *path);
/*
 * Get the node's bytes from an answer to getData, after its length. RC_END: there is no such node.
 * RC_DATA: not such an answer. RC_IO: another error, in the message.
 */
int zookeeper_read_answer(struct bytes packet, struct bytes *data, struct error *err);
/* Get the message from a node's bytes; RC_DATA: HBase did not write them. */
int zookeeper_node_message(struct bytes data, struct bytes *message, struct error *err);

#endif
