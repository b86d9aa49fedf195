/*
 * zookeeper.h - where the master and hbase:meta are, for who knows nothing but the quorum
 *
 * ZooKeeper's protocol as far as reading one node takes it (zookeeper.jute: ConnectRequest,
 * RequestHeader, GetDataRequest): each packet is an int32 length and as many bytes, all numbers are
 * big-endian.
 *
 *   client: ConnectRequest            server: ConnectResponse
 *   client: xid 1, getData, path      server: xid, zxid, error, the node's bytes, Stat
 *   client: closeSession
 *
 * HBase's nodes are FF, int32 n, n bytes of who wrote it, "PBUF", a message (RecoverableZooKeeper,
 * ProtobufUtil).
 */
#ifndef SALTMILL_CLUSTER_ZOOKEEPER_H
#define SALTMILL_CLUSTER_ZOOKEEPER_H

#include "hbase.h"

#define ZOOKEEPER_PORT	 2181
#define ZOOKEEPER_PARENT "/hbase" /* zookeeper.znode.parent */

/*
 * Read a node of HBase at one server: its message, which lies in *node (owned by the caller).
 * TROUBLE_GONE: nobody answers there, or it serves no clients at the moment; TROUBLE_BUSY: the node
 * is not there, as when no master is active.
 */
int zookeeper_read(const struct hbase_place *at, const char *path, int64_t patience_ms,
		   struct buf *node, struct bytes *message, struct hbase_failure *why,
		   struct error *err);

/* --- for tests --- */

/* All that a client sends to read a node: connect, get, close. */
void zookeeper_put_request(struct buf *b, const char *path);
/*
 * The node's bytes in an answer to getData (behind its length).  RC_END: there is no such node.
 * RC_DATA: it is no such answer; RC_IO: another error, told.
 */
int zookeeper_read_answer(struct bytes packet, struct bytes *data, struct error *err);
/* The message in a node's bytes; RC_DATA: they are not HBase's. */
int zookeeper_node_message(struct bytes data, struct bytes *message, struct error *err);

#endif
