/*
 * digest.h - SASL DIGEST-MD5 (RFC 2831), by which HBase checks tokens
 *
 * The user's name and the password are the token's identifier and password as base64. The server's
 * challenge offers a protection, and its last answer proves that it knows the password, too. With
 * integrity, a piece is the bytes, 10 bytes of an HMAC and a number. With privacy, RC4 encrypts the
 * bytes and the HMAC. RC4 is weak, so connections with tokens should use TLS.
 */
#ifndef SALTMILL_CLUSTER_DIGEST_H
#define SALTMILL_CLUSTER_DIGEST_H

#include "io.h"

#define DIGEST_TEXT 256
struct digest_challenge {
	char realm[DIGEST_TEXT], nonce[DIGEST_TEXT];
	unsigned offered; /* bits of enum protection that this client has */
};
/* Read a server's challenge. Returns RC_DATA if it is not one of DIGEST-MD5. */
int digest_challenge_read(struct digest_challenge *c, struct bytes text, struct error *err);

struct rc4 {
	uint8_t s[256], i, j;
};
/* One direction of the messages. */
struct digest_way {
	uint8_t key[16]; /* of the HMAC */
	struct rc4 cipher;
	uint32_t sequence;
};
struct digest {
	enum protection layer;
	struct digest_way out, in;
	char proof[33]; /* what the server must answer, after "rspauth=" */
};
/*
 * Append the answer to a challenge, with `cnonce` as the client's random text. `layer` is one of the
 * offered protections. *d is then ready for messages.
 */
void digest_answer(struct digest *d, const struct digest_challenge *c, const struct hadoop_token *t,
		   enum protection layer, const char *cnonce, struct buf *answer);
/* Return true if the server's last answer proves that it knows the token's password. */
bool digest_proves(const struct digest *d, struct bytes answer);
/* Append the protected form of bytes, without its length. */
void digest_wrap(struct digest *d, struct bytes plain, struct buf *out);
/* Append the bytes of a piece. Returns RC_DATA if the piece is changed, repeated or out of order. */
int digest_unwrap(struct digest *d, struct bytes piece, struct buf *out, struct error *err);

#endif
