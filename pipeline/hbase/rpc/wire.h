/*
 * wire.h - bytes to and from a server
 *
 * Deadlines are values of clock_ms. Functions return RC_IO if the server does not exist, closes the
 * connection or takes too long, and RC_STOPPED if a signal came.
 */
#ifndef SALTMILL_CLUSTER_WIRE_H
#define SALTMILL_CLUSTER_WIRE_H

#include "hbase.h"

struct tls;
struct wire {
	int fd;		 /* -1 if there is no connection */
	struct tls *tls; /* NULL without TLS */
};

/* Connect to the first of the host's addresses that answers. `patience_ms` limits each attempt. */
int wire_connect(struct wire *w, const struct hbase_place *at, int64_t patience_ms,
		 struct error *err);
void wire_close(struct wire *w);
/*
 * Begin TLS, with a certificate for the host. Returns RC_CONFIG if the program does not trust the
 * server.
 */
int wire_secure(struct wire *w, const char *host, int64_t deadline, struct error *err);
int wire_send(struct wire *w, struct bytes data, int64_t deadline, struct error *err);
/* Append exactly `len` received bytes to `b`, which grows as bytes arrive. */
int wire_receive(struct wire *w, struct buf *b, size_t len, int64_t deadline, struct error *err);

#endif
