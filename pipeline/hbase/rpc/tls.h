/* tls.h - TLS to a server from the first byte, if the login names a file of certificates (libssl) */
#ifndef SALTMILL_CLUSTER_TLS_H
#define SALTMILL_CLUSTER_TLS_H

#include "bytes.h"
#include "error.h"

struct tls;
/*
 * Return true if every connection must use TLS. saltmill never falls back to a connection without
 * it.
 */
bool tls_is_demanded(void);
/*
 * Begin TLS on a connected socket that does not block. The server's certificate must be for `host`
 * and signed by the login's CA. *wait is POLLIN or POLLOUT if the handshake continues after this
 * event (tls_shake), else 0. Returns RC_CONFIG for a wrong file or certificate.
 */
int tls_new(struct tls **out, int fd, const char *host, struct error *err);
int tls_shake(struct tls *t, short *wait, struct error *err);
void tls_free(struct tls *t); /* NULL is fine */

/*
 * Send or receive some bytes, and set *n. If *wait is not 0, the caller must repeat the call after
 * this event. tls_read sets *n to 0 at the end of the stream.
 */
int tls_write(struct tls *t, struct bytes data, size_t *n, short *wait, struct error *err);
int tls_read(struct tls *t, uint8_t *to, size_t most, size_t *n, short *wait, struct error *err);

#endif
