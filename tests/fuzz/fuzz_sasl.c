/*
 * fuzz_sasl.c - checks that any bytes of a server end a login with an error, and that only bytes which
 * the server has protected reach the client
 *
 * The first byte chooses the login, and bits 2 to 4 of it the protection that the user demands. Login
 * 0 is by a ticket, with the functions of GSSAPI below. Login 1 is by a token. Both give the client
 * all other bytes as they are. Login 2 is by a token, too, and succeeds. Its other bytes are pieces
 * of 1 + n bytes. The highest bit of the first one says whether the server protects the n bytes or
 * sends them as they are.
 */
#include "memory_file.h"

#include <gssapi/gssapi.h>
#include <gssapi/gssapi_ext.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "clock.h"
#include "io.h"
#include "mem.h"
#include "pipeline/hbase/rpc/digest.h"
#include "pipeline/hbase/rpc/sasl.h"

#define STREAM_MOST 65536 /* a socket takes these bytes without a reader */
#define PIECE_MOST  4096
#define WAIT_MS	    20000
#define BARE	    0x80 /* a piece that the server has not protected */
#define CNONCE	    "00000000000000000000000000000000"

/* --- GSSAPI: the first byte of a message says whether it is protected --- */

enum { CHANGED, INTACT, SEALED, OLD };

/* The random text of the client is then CNONCE. */
ssize_t getrandom(void *to, size_t n, unsigned flags)
{
	(void)flags;
	memset(to, 0, n);
	return (ssize_t)n;
}

static OM_uint32 copy(gss_buffer_t out, const void *from, size_t n)
{
	*out = (gss_buffer_desc){n, mem_alloc(n + 1)};
	memcpy(out->value, from, n);
	return GSS_S_COMPLETE;
}

OM_uint32 gss_release_buffer(OM_uint32 *minor, gss_buffer_t b)
{
	*minor = 0;
	mem_free(b->value);
	*b = (gss_buffer_desc)GSS_C_EMPTY_BUFFER;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_acquire_cred_from(OM_uint32 *minor, gss_name_t name, OM_uint32 seconds,
				gss_OID_set mechanisms, gss_cred_usage_t use,
				gss_const_key_value_set_t store, gss_cred_id_t *out,
				gss_OID_set *actual, OM_uint32 *left)
{
	(void)name, (void)seconds, (void)mechanisms, (void)use, (void)store, (void)actual;
	*minor = 0;
	*left = 1;
	*out = GSS_C_NO_CREDENTIAL;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_release_cred(OM_uint32 *minor, gss_cred_id_t *c)
{
	(void)c;
	return *minor = 0;
}

OM_uint32 gss_inquire_cred(OM_uint32 *minor, gss_cred_id_t cred, gss_name_t *name, OM_uint32 *left,
			   gss_cred_usage_t *use, gss_OID_set *mechanisms)
{
	(void)cred, (void)name, (void)use, (void)mechanisms;
	*left = 1;
	return *minor = 0;
}

OM_uint32 gss_display_name(OM_uint32 *minor, gss_name_t name, gss_buffer_t text, gss_OID *type)
{
	(void)name, (void)type;
	*minor = 0;
	return copy(text, "a@R", 3);
}

OM_uint32 gss_display_status(OM_uint32 *minor, OM_uint32 status, int kind, gss_OID mechanism,
			     OM_uint32 *more, gss_buffer_t text)
{
	(void)status, (void)kind, (void)mechanism;
	*minor = *more = 0;
	return copy(text, "a false message", 15);
}

OM_uint32 gss_import_name(OM_uint32 *minor, gss_buffer_t text, gss_OID type, gss_name_t *out)
{
	(void)text, (void)type, (void)out;
	return *minor = 0;
}

OM_uint32 gss_release_name(OM_uint32 *minor, gss_name_t *n)
{
	(void)n;
	return *minor = 0;
}

/* The server's proof is its first token, if it begins with INTACT. */
OM_uint32 gss_init_sec_context(OM_uint32 *minor, gss_cred_id_t cred, gss_ctx_id_t *c,
			       gss_name_t server, gss_OID mechanism, OM_uint32 flags,
			       OM_uint32 seconds, gss_channel_bindings_t bindings, gss_buffer_t in,
			       gss_OID *actual, gss_buffer_t out, OM_uint32 *got, OM_uint32 *left)
{
	(void)cred, (void)c, (void)server, (void)mechanism, (void)seconds, (void)bindings;
	(void)actual, (void)left;
	*minor = 0;
	if (got)
		*got = flags;
	copy(out, "token", 5);
	if (!in || !in->length)
		return GSS_S_CONTINUE_NEEDED;
	return *(uint8_t *)in->value == INTACT ? GSS_S_COMPLETE : GSS_S_DEFECTIVE_TOKEN;
}

OM_uint32 gss_delete_sec_context(OM_uint32 *minor, gss_ctx_id_t *c, gss_buffer_t token)
{
	(void)c, (void)token;
	return *minor = 0;
}

OM_uint32 gss_wrap(OM_uint32 *minor, gss_ctx_id_t c, int seal, gss_qop_t quality, gss_buffer_t in,
		   int *sealed, gss_buffer_t out)
{
	(void)c, (void)seal, (void)quality, (void)sealed;
	*minor = 0;
	return copy(out, in->value, in->length);
}

OM_uint32 gss_unwrap(OM_uint32 *minor, gss_ctx_id_t c, gss_buffer_t in, gss_buffer_t out,
		     int *sealed, gss_qop_t *quality)
{
	const uint8_t *p = in->value;

	(void)c, (void)quality;
	*minor = 0;
	if (!in->length || p[0] == CHANGED || p[0] > OLD)
		return GSS_S_BAD_SIG;
	if (sealed)
		*sealed = p[0] == SEALED;
	copy(out, p + 1, in->length - 1);
	return p[0] == OLD ? GSS_S_OLD_TOKEN : GSS_S_COMPLETE;
}

/* --- the server --- */

static const struct hadoop_token token = {.identifier = {(const uint8_t *)"who", 3},
					  .password = {(const uint8_t *)"key", 3},
					  .kind = HBASE_TOKEN,
					  .service = "c"};

static void put_piece(struct buf *b, struct bytes piece)
{
	buf_be32(b, (uint32_t)piece.len);
	buf_append(b, piece.ptr, piece.len);
}

static void put_status(struct buf *b, const char *text)
{
	buf_be32(b, 0);
	put_piece(b, bytes_str(text));
}

/*
 * Append the server's part of a login by a token, and then the pieces. `plain` gets the protected
 * bytes before the first piece that is bare.
 */
static void put_good_login(struct buf *b, enum protection layer, struct bytes data,
			   struct buf *plain)
{
	const char *qop = layer == PROTECT_AUTHENTICATION ? "auth"
			  : layer == PROTECT_INTEGRITY	  ? "auth-int"
							  : "auth-conf";
	char *challenge = mem_format("realm=\"r\",nonce=\"n\",qop=\"%s\",cipher=\"rc4\","
				     "algorithm=md5-sess",
				     qop);
	struct digest_challenge c;
	struct digest d;
	struct buf answer = {0}, piece = {0};
	struct error err;
	bool bare = false;

	if (digest_challenge_read(&c, bytes_str(challenge), &err))
		abort();
	digest_answer(&d, &c, &token, layer, CNONCE, &answer);
	put_status(b, challenge);
	char *proof = mem_format("rspauth=%s", d.proof);
	put_status(b, proof);
	mem_free(proof);
	mem_free(challenge);
	buf_release(&answer);
	d.out = d.in; /* of the client */
	while (data.len) {
		size_t n = data.ptr[0] & (BARE - 1);
		bool now = data.ptr[0] & BARE;

		n = n < data.len - 1 ? n : data.len - 1;
		struct bytes part = bytes_of(data.ptr + 1, n);
		data = bytes_of(data.ptr + 1 + n, data.len - 1 - n);
		bare |= now && n;
		if (!bare)
			buf_append(plain, part.ptr, n);
		if (now || layer == PROTECT_AUTHENTICATION) {
			buf_append(b, part.ptr, n);
			continue;
		}
		piece.len = 0;
		digest_wrap(&d, part, &piece);
		put_piece(b, buf_bytes(&piece));
	}
	buf_release(&piece);
}

/* --- the client --- */

/* The text may come from the server. */
static void expect_said(int rc, const struct error *err)
{
	if (rc && (err->code != rc || !memchr(err->msg, '\0', sizeof err->msg) || !err->msg[0]))
		abort();
}

/* Receive until an error. Each byte must be one of `plain`, if that is not NULL. */
static void receive_all(struct sasl *s, struct wire *w, const struct buf *plain)
{
	struct buf got = {0};
	struct error err;
	int rc = RC_OK;

	for (size_t n = 1; rc == RC_OK; n = n % 7 + 1)
		rc = sasl_receive(s, w, &got, n, PIECE_MOST, clock_ms() + WAIT_MS, &err);
	expect_said(rc, &err);
	if (plain &&
	    (got.len > plain->len || (got.len && memcmp(got.ptr, plain->ptr, got.len) != 0)))
		abort();
	buf_release(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum protection demands[] = {PROTECT_STRONGEST, PROTECT_AUTHENTICATION,
						  PROTECT_INTEGRITY, PROTECT_PRIVACY};
	const struct hbase_place at = {.host = "h", .port = 1};
	struct hbase_failure why = {0};
	struct buf stream = {0}, plain = {0};
	struct sasl *s = NULL;
	struct error err = {0};
	int ends[2];

	if (size == 0)
		return 0;
	unsigned login = data[0] % 4 % 3, demand = data[0] / 4 % 4;
	enum protection layer = demand ? demands[demand] : PROTECT_PRIVACY;
	struct login l = {.protection = demands[demand]};
	if (login == 2)
		put_good_login(&stream, layer, bytes_of(data + 1, size - 1), &plain);
	else
		buf_append(&stream, data + 1, size - 1);
	if (stream.len > STREAM_MOST || login_use(&l, &err) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends)) {
		buf_release(&stream);
		buf_release(&plain);
		return 0;
	}
	if (stream.len && send(ends[0], stream.ptr, stream.len, 0) != (ssize_t)stream.len)
		abort();
	shutdown(ends[0], SHUT_WR);
	struct wire w = {.fd = ends[1]};
	int rc = login ? sasl_login_by_token(&s, &w, &at, &token, clock_ms() + WAIT_MS, &why, &err)
		       : sasl_login(&s, &w, &at, clock_ms() + WAIT_MS, &why, &err);

	expect_said(rc, &err);
	if (!rc != !!s || (login == 2 && rc))
		abort();
	if (s)
		receive_all(s, &w, login == 2 && layer != PROTECT_AUTHENTICATION ? &plain : NULL);
	sasl_free(s);
	wire_close(&w);
	close(ends[0]);
	buf_release(&stream);
	buf_release(&plain);
	return 0;
}
