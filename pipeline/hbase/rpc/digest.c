#include "digest.h"

#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "mem.h"

#define MD5_BYTES  16
#define HMAC_BLOCK 64
#define MAC_BYTES  10
#define TAIL_BYTES 6		  /* int16 1, int32 number */
#define URI	   "null/default" /* the protocol and server name of HBase's servers */
#define SEAL_OUT   "Digest H(A1) to client-to-server sealing key magic constant"
#define SEAL_IN	   "Digest H(A1) to server-to-client sealing key magic constant"
#define SIGN_OUT   "Digest session key to client-to-server signing key magic constant"
#define SIGN_IN	   "Digest session key to server-to-client signing key magic constant"
#define NO_BODY	   ":00000000000000000000000000000000"
#define OUTER_PAD  0x5c
#define INNER_PAD  0x36

/* --- the challenge --- */

/* Take `name=value` or `name="value"`, and the comma after it. */
static bool take_pair(struct bytes *rest, struct bytes *name, struct buf *value)
{
	const uint8_t *p = rest->ptr, *end = p + rest->len, *equals = memchr(p, '=', rest->len);

	value->len = 0;
	if (!equals)
		return false;
	*name = bytes_of(p, (size_t)(equals - p));
	p = equals + 1;
	bool quoted = p < end && *p == '"';
	for (p += quoted; p < end && *p != (quoted ? '"' : ','); p++) {
		if (quoted && *p == '\\' && p + 1 < end)
			p++;
		buf_put(value, *p);
	}
	if (quoted && p++ == end)
		return false;
	while (p < end && (*p == ',' || *p == ' '))
		p++;
	*rest = bytes_of(p, (size_t)(end - p));
	return true;
}

/* Return true if the list `a,b,c` has a word. */
static bool lists(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += n)
		if ((p == list || p[-1] == ',' || p[-1] == ' ') && (p[n] == ',' || p[n] == 0))
			return true;
	return false;
}

static bool keep_text(char out[DIGEST_TEXT], const struct buf *value)
{
	return snprintf(out, DIGEST_TEXT, "%s", (const char *)value->ptr) < DIGEST_TEXT;
}

int digest_challenge_read(struct digest_challenge *c, struct bytes text, struct error *err)
{
	struct buf value = {0};
	struct bytes name;
	bool good = true, conf = false, rc4 = false, session = false;

	*c = (struct digest_challenge){.realm = ""};
	while (good && text.len) {
		good = take_pair(&text, &name, &value);
		buf_put(&value, 0);
		const char *v = (const char *)value.ptr;
		if (!good)
			break;
		if (bytes_eq(name, bytes_str("realm")))
			good = keep_text(c->realm, &value);
		else if (bytes_eq(name, bytes_str("nonce")))
			good = keep_text(c->nonce, &value);
		else if (bytes_eq(name, bytes_str("cipher")))
			rc4 = lists(v, "rc4");
		else if (bytes_eq(name, bytes_str("algorithm")))
			session = strcmp(v, "md5-sess") == 0;
		else if (bytes_eq(name, bytes_str("qop"))) {
			conf = lists(v, "auth-conf");
			c->offered |= lists(v, "auth") ? PROTECT_AUTHENTICATION : 0u;
			c->offered |= lists(v, "auth-int") ? PROTECT_INTEGRITY : 0u;
		}
	}
	c->offered |= conf && rc4 ? PROTECT_PRIVACY : 0u;
	buf_release(&value);
	return good && session && c->nonce[0]
		       ? RC_OK
		       : error_set(err, RC_DATA,
				   "found no challenge of DIGEST-MD5, expected one for a token");
}

/* --- the answer --- */

/* Append the MD5 of the bytes of `b` in hexadecimal, and empty `b`. */
static void hex_of(struct buf *b, struct buf *out)
{
	uint8_t digest[MD5_BYTES];

	md5(buf_bytes(b), digest);
	bytes_hex(out, bytes_of(digest, sizeof digest));
	b->len = 0;
}

static void derive(const uint8_t a1[MD5_BYTES], const char *constant, uint8_t out[MD5_BYTES])
{
	struct buf b = {0};

	buf_append(&b, a1, MD5_BYTES);
	buf_append_str(&b, constant);
	md5(buf_bytes(&b), out);
	buf_release(&b);
}

static void rc4_begin(struct rc4 *c, const uint8_t key[MD5_BYTES])
{
	for (unsigned i = 0; i < 256; i++)
		c->s[i] = (uint8_t)i;
	for (unsigned i = 0, j = 0; i < 256; i++) {
		uint8_t swap = c->s[i];

		j = (j + swap + key[i % MD5_BYTES]) & 255;
		c->s[i] = c->s[j];
		c->s[j] = swap;
	}
	c->i = c->j = 0;
}

static void rc4_apply(struct rc4 *c, uint8_t *p, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		uint8_t swap = c->s[++c->i];

		c->j = (uint8_t)(c->j + swap);
		c->s[c->i] = c->s[c->j];
		c->s[c->j] = swap;
		p[k] ^= c->s[(uint8_t)(c->s[c->i] + swap)];
	}
}

/* Make the keys of both directions from MD5(A1). */
static void make_keys(struct digest *d, const uint8_t a1[MD5_BYTES])
{
	uint8_t key[MD5_BYTES];

	derive(a1, SIGN_OUT, d->out.key);
	derive(a1, SIGN_IN, d->in.key);
	derive(a1, SEAL_OUT, key);
	rc4_begin(&d->out.cipher, key);
	derive(a1, SEAL_IN, key);
	rc4_begin(&d->in.cipher, key);
}

/* Append the response for the method `by` ("AUTHENTICATE"), or the server's proof for "". */
static void respond(const struct digest *d, const struct digest_challenge *c,
		    const uint8_t a1[MD5_BYTES], const char *by, const char *cnonce,
		    const char *qop, struct buf *out)
{
	struct buf a2 = {0}, b = {0};

	buf_printf(&a2, "%s:" URI "%s", by, d->layer == PROTECT_AUTHENTICATION ? "" : NO_BODY);
	bytes_hex(&b, bytes_of(a1, MD5_BYTES));
	buf_printf(&b, ":%s:00000001:%s:%s:", c->nonce, cnonce, qop);
	hex_of(&a2, &b);
	hex_of(&b, out);
	buf_release(&a2);
	buf_release(&b);
}

/* MD5(A1): A1 is MD5(user:realm:password), then the text :nonce:cnonce. */
static void hash_a1(const struct digest_challenge *c, const char *user, struct bytes password,
		    const char *cnonce, uint8_t out[MD5_BYTES])
{
	struct buf b = {0};

	buf_printf(&b, "%s:%s:", user, c->realm);
	text_base64(&b, password);
	md5(buf_bytes(&b), out);
	b.len = 0;
	buf_append(&b, out, MD5_BYTES);
	buf_printf(&b, ":%s:%s", c->nonce, cnonce);
	md5(buf_bytes(&b), out);
	buf_release(&b);
}

void digest_answer(struct digest *d, const struct digest_challenge *c, const struct hadoop_token *t,
		   enum protection layer, const char *cnonce, struct buf *answer)
{
	const char *qop = layer == PROTECT_PRIVACY     ? "auth-conf"
			  : layer == PROTECT_INTEGRITY ? "auth-int"
						       : "auth";
	struct buf user = {0}, proof = {0};
	uint8_t a1[MD5_BYTES];

	*d = (struct digest){.layer = layer};
	text_base64(&user, t->identifier);
	buf_put(&user, 0);
	hash_a1(c, (const char *)user.ptr, t->password, cnonce, a1);
	buf_printf(answer,
		   "charset=utf-8,username=\"%s\",realm=\"%s\",nonce=\"%s\",nc=00000001,"
		   "cnonce=\"%s\",digest-uri=\"" URI "\",maxbuf=65536,response=",
		   (const char *)user.ptr, c->realm, c->nonce, cnonce);
	respond(d, c, a1, "AUTHENTICATE", cnonce, qop, answer);
	buf_printf(answer, ",qop=%s%s", qop, layer == PROTECT_PRIVACY ? ",cipher=\"rc4\"" : "");
	respond(d, c, a1, "", cnonce, qop, &proof);
	snprintf(d->proof, sizeof d->proof, "%.*s", (int)proof.len, (const char *)proof.ptr);
	make_keys(d, a1);
	buf_release(&user);
	buf_release(&proof);
}

bool digest_proves(const struct digest *d, struct bytes answer)
{
	struct buf value = {0};
	struct bytes name;
	bool proved = false;

	while (!proved && answer.len && take_pair(&answer, &name, &value))
		proved = bytes_eq(name, bytes_str("rspauth")) &&
			 bytes_eq(buf_bytes(&value), bytes_str(d->proof));
	buf_release(&value);
	return proved;
}

/* --- messages --- */

/* HMAC-MD5 (RFC 2104) of the number and the bytes. */
static void sign(const struct digest_way *w, struct bytes plain, uint8_t out[MD5_BYTES])
{
	struct buf b = {0};
	uint8_t number[4];

	put_be32(number, w->sequence);
	for (unsigned i = 0; i < HMAC_BLOCK; i++)
		buf_put(&b, (i < MD5_BYTES ? w->key[i] : 0) ^ INNER_PAD);
	buf_append(&b, number, sizeof number);
	buf_append(&b, plain.ptr, plain.len);
	md5(buf_bytes(&b), out);
	b.len = 0;
	for (unsigned i = 0; i < HMAC_BLOCK; i++)
		buf_put(&b, (i < MD5_BYTES ? w->key[i] : 0) ^ OUTER_PAD);
	buf_append(&b, out, MD5_BYTES);
	md5(buf_bytes(&b), out);
	buf_release(&b);
}

static void tail_of(const struct digest_way *w, uint8_t tail[TAIL_BYTES])
{
	tail[0] = 0;
	tail[1] = 1;
	put_be32(tail + 2, w->sequence);
}

void digest_wrap(struct digest *d, struct bytes plain, struct buf *out)
{
	uint8_t mac[MD5_BYTES], tail[TAIL_BYTES];
	size_t at = out->len;

	sign(&d->out, plain, mac);
	tail_of(&d->out, tail);
	buf_append(out, plain.ptr, plain.len);
	buf_append(out, mac, MAC_BYTES);
	if (d->layer == PROTECT_PRIVACY)
		rc4_apply(&d->out.cipher, out->ptr + at, plain.len + MAC_BYTES);
	buf_append(out, tail, sizeof tail);
	d->out.sequence++;
}

int digest_unwrap(struct digest *d, struct bytes piece, struct buf *out, struct error *err)
{
	uint8_t mac[MD5_BYTES], tail[TAIL_BYTES];
	size_t at = out->len;

	tail_of(&d->in, tail);
	if (piece.len >= MAC_BYTES + TAIL_BYTES) {
		size_t sealed = piece.len - TAIL_BYTES, n = sealed - MAC_BYTES;

		buf_append(out, piece.ptr, sealed);
		if (d->layer == PROTECT_PRIVACY)
			rc4_apply(&d->in.cipher, out->ptr + at, sealed);
		sign(&d->in, bytes_of(out->ptr + at, n), mac);
		out->len = at + n;
		if (memcmp(out->ptr + at + n, mac, MAC_BYTES) == 0 &&
		    memcmp(piece.ptr + sealed, tail, TAIL_BYTES) == 0) {
			d->in.sequence++;
			return RC_OK;
		}
	}
	out->len = at;
	return error_set(err, RC_DATA,
			 "found a changed or repeated message, expected one that the server "
			 "protected with the token");
}
