/*
 * wire.h - bytes to and from a server
 *
 * Deadlines are values of clock_ms. Functions return RC_IO if the server does not exist, closes the
 * connection or takes too long, and RC_STOPPED if a signal came.
 */
#ifndef SALTMILL_CLUSTER_WIRE_H
#define SALTMILL_CLUSTER_WIRE_H

#include "hbase.h"

/* Connect to the first of the host's addresses that answers. `patience_ms` limits each attempt. */
int wire_connect(const struct hbase_place *at, int64_t patience_ms, int *fd, struct error *err);
int wire_send(int fd, struct bytes data, int64_t deadline, struct error *err);
/* Append exactly `len` received bytes to `b`, which grows as bytes arrive. */
int wire_receive(int fd, struct buf *b, size_t len, int64_t deadline, struct error *err);

#endif
