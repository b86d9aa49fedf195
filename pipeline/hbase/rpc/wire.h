/*
 * wire.h - bytes to and from a server
 *
 * Deadlines are times of clock_ms. RC_IO: the server is not there, closed the connection, or took
 * too long. RC_STOPPED: a signal came.
 */
#ifndef SALTMILL_CLUSTER_WIRE_H
#define SALTMILL_CLUSTER_WIRE_H

#include "hbase.h"

/* Connect to the first of the host's addresses that answers; patience_ms limits each attempt. */
int wire_connect(const struct hbase_place *at, int64_t patience_ms, int *fd, struct error *err);
int wire_send(int fd, struct bytes data, int64_t deadline, struct error *err);
/* Append exactly len bytes to b, which grows as they arrive. */
int wire_receive(int fd, struct buf *b, size_t len, int64_t deadline, struct error *err);

#endif
