/*
 * wire.h - bytes to and from a server
 *
 * deadline is of clock_ms.  RC_IO: it is not there, closed, or took too long; RC_STOPPED: a signal
 * came.
 */
#ifndef SALTMILL_CLUSTER_WIRE_H
#define SALTMILL_CLUSTER_WIRE_H

#include "hbase.h"

/* To the first of the host's addresses that answers; patience_ms bounds each attempt. */
int wire_connect(const struct hbase_place *at, int64_t patience_ms, int *fd, struct error *err);
int wire_send(int fd, struct bytes data, int64_t deadline, struct error *err);
/* Exactly len bytes to the end of b, which grows as they come. */
int wire_receive(int fd, struct buf *b, size_t len, int64_t deadline, struct error *err);

#endif
