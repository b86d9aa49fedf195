/*
 * sasl.h - log in to a server with Kerberos or a token, and protect the messages that follow
 *
 * SASL GSSAPI (RFC 4752) in the frames of HBase (AbstractHBaseSaslRpcClient, ServerRpcConnection):
 *
 *   client:  "HBas" 0 81
 *   client:  int32 length, token           until the context is complete, also an empty token
 *   server:  int32 status 0, int32 length, token
 *   server:  the last token offers protections; the client answers with one of them
 *
 * With integrity or privacy, each later piece of the stream is int32 length, gss_wrap(bytes). A
 * piece may hold a part of a frame, or several frames.
 */
#ifndef SALTMILL_CLUSTER_SASL_H
#define SALTMILL_CLUSTER_SASL_H

#include "hbase.h"
#include "wire.h"

struct sasl;
/*
 * Log in with the ticket of login_ticket on a new connection, and check that the server has the key
 * of HBase's principal. Returns RC_CONFIG with TROUBLE_REFUSED if there is no ticket or the server
 * refuses. The result is the same if the server has another identity, or does not offer the
 * protection of the login.
 */
int sasl_login(struct sasl **out, struct wire *w, const struct hbase_place *at, int64_t deadline,
	       struct hbase_failure *why, struct error *err);
/*
 * The same with a token of HBase instead of a ticket (auth byte 82, DIGEST-MD5 of digest.h). The message
 * of a refusal names the token's file.
 */
struct hadoop_token;
int sasl_login_by_token(struct sasl **out, struct wire *w, const struct hbase_place *at,
			const struct hadoop_token *token, int64_t deadline,
			struct hbase_failure *why, struct error *err);
void sasl_free(struct sasl *s); /* NULL is fine */

/*
 * Send and receive through the protection of `s`, as wire_send and wire_receive do. If `s` is NULL,
 * the bytes have no protection. sasl_receive returns RC_DATA for a piece of more than `most` bytes
 * and for changed or repeated pieces.
 */
int sasl_send(struct sasl *s, struct wire *w, struct bytes data, int64_t deadline,
	      struct error *err);
int sasl_receive(struct sasl *s, struct wire *w, struct buf *b, size_t len, size_t most,
		 int64_t deadline, struct error *err);

/*
 * Read the rest of a refusal, after its status 1: int32 length, class, int32 length, message. A
 * refusal of the last token arrives instead of the first answer. Returns RC_CONFIG.
 */
int sasl_read_refusal(struct wire *w, int64_t deadline, struct hbase_failure *why,
		      struct error *err);

#endif
