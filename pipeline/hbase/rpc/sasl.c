#include "sasl.h"

#include <gssapi/gssapi.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "clock.h"
#include "digest.h"
#include "frames.h"
#include "io.h"
#include "late.h"
#include "pool.h"
#include "rpc.h"

#define AUTH_KERBEROS	 81
#define AUTH_TOKEN	 82
#define TOKEN_MOST	 ((uint32_t)1 << 16)
#define TEXT_MOST	 ((uint32_t)1 << 14)
#define REFUSED		 1u
#define SWITCH_TO_SIMPLE 0xFFFFFFA8u /* SaslUtil.SWITCH_TO_SIMPLE_AUTH, -88 */
#define LAYER_BYTES	 4
#define ANY_SIZE	 0xFFFFFFu /* the largest size that SASL allows */
#define WRAPPED_MORE	 256	   /* at least what a wrap adds to its bytes */

struct sasl {
	gss_ctx_id_t context;
	struct digest digest; /* instead of the context, if a token logs in */
	bool by_token;
	enum protection layer;
	struct buf plain; /* unwrapped bytes */
	size_t taken;	  /* delivered bytes of `plain` */
};

static gss_buffer_desc view_of(struct bytes b)
{
	return (gss_buffer_desc){b.len, (void *)(uintptr_t)b.ptr};
}

static struct bytes bytes_in(const gss_buffer_desc *b)
{
	return bytes_of(b->value, b->length);
}

void sasl_free(struct sasl *s)
{
	OM_uint32 unused;

	if (!s)
		return;
	if (!s->by_token)
		gss_delete_sec_context(&unused, &s->context, GSS_C_NO_BUFFER);
	buf_release(&s->plain);
	mem_free(s);
}

/* --- the server's principal --- */

/* Return the principal that a server on `host` must have. The caller owns it. */
static char *server_principal(const char *host, const char *realm)
{
	const char *form = login_used()->server, *at = form ? strstr(form, "_HOST") : NULL;
	char *lower = mem_strdup(host), *out;

	for (char *p = lower; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p | 32);
	if (!form)
		out = mem_format("hbase/%s%s", lower, realm);
	else if (at)
		out = mem_format("%.*s%s%s", (int)(at - form), form, lower,
				 at + sizeof "_HOST" - 1);
	else
		out = mem_strdup(form);
	if (form && !strchr(form, '@')) {
		char *whole = mem_format("%s%s", out, realm);

		mem_free(out);
		out = whole;
	}
	mem_free(lower);
	return out;
}

/* --- failures --- */

static int gss_failed(const char *what, OM_uint32 major, OM_uint32 minor, struct error *err)
{
	char why[400] = "";

	login_reason(why, sizeof why, major, minor);
	return error_set(err, RC_CONFIG, "%s: %s", what, why);
}

static int receive_text(struct wire *w, struct buf *b, int64_t deadline, struct error *err)
{
	int rc = wire_receive(w, b, 4, deadline, err);
	uint32_t n = rc == RC_OK ? get_be32(b->ptr) : 0;

	b->len = 0;
	if (rc == RC_OK && n > TEXT_MOST)
		rc = error_set(err, RC_DATA, "found a refusal of %u bytes, expected at most %u", n,
			       TEXT_MOST);
	return rc ? rc : wire_receive(w, b, n, deadline, err);
}

int sasl_read_refusal(struct wire *w, int64_t deadline, struct hbase_failure *why,
		      struct error *err)
{
	struct buf name = {0}, text = {0};
	int rc = receive_text(w, &name, deadline, err);

	if (rc == RC_OK)
		rc = receive_text(w, &text, deadline, err);
	if (rc == RC_OK) {
		exception_tell(buf_bytes(&name), buf_bytes(&text), why, err);
		struct error said = *err;
		error_set(err, RC_CONFIG,
			  "the server refuses the login; its log has the reason: %s%s", said.msg,
			  login_rule_advice(said.msg));
	}
	buf_release(&name);
	buf_release(&text);
	why->trouble = TROUBLE_REFUSED;
	err->code = rc == RC_STOPPED ? RC_STOPPED : RC_CONFIG;
	return err->code;
}

/* A server reports an error of the preamble as an answer to no call. `n` is its length. */
static int read_early_answer(struct wire *w, uint32_t n, int64_t deadline,
			     struct hbase_failure *why, struct error *err)
{
	struct buf frame = {0};
	struct bytes message, cells;
	int rc =
		n > TOKEN_MOST
			? error_set(err, RC_DATA,
				    "found an answer of %u bytes to the login, expected at most %u",
				    n, TOKEN_MOST)
			: wire_receive(w, &frame, n, deadline, err);

	if (rc == RC_OK)
		rc = rpc_read_answer(buf_bytes(&frame), UINT32_MAX, &message, &cells, why, err);
	if (rc == RC_OK)
		rc = error_set(err, RC_DATA, "found an answer, expected a step of the login");
	buf_release(&frame);
	return rc;
}

/* --- the handshake --- */

static int send_token(struct wire *w, struct bytes token, int64_t deadline, struct error *err)
{
	struct buf b = {0};

	buf_be32(&b, (uint32_t)token.len);
	buf_append(&b, token.ptr, token.len);
	int rc = wire_send(w, buf_bytes(&b), deadline, err);
	buf_release(&b);
	return rc;
}

static int receive_token(struct wire *w, struct buf *token, int64_t deadline,
			 struct hbase_failure *why, struct error *err)
{
	token->len = 0;
	int rc = wire_receive(w, token, 4, deadline, err);
	if (rc)
		return rc;
	uint32_t status = get_be32(token->ptr);
	if (status == REFUSED)
		return sasl_read_refusal(w, deadline, why, err);
	if (status)
		return read_early_answer(w, status, deadline, why, err);
	token->len = 0;
	rc = wire_receive(w, token, 4, deadline, err);
	if (rc)
		return rc;
	uint32_t n = get_be32(token->ptr);
	token->len = 0;
	if (n == SWITCH_TO_SIMPLE)
		return error_set(
			err, RC_CONFIG,
			"the server does not use Kerberos, and saltmill does not fall back "
			"to an unproved user name; leave out --principal and --keytab for "
			"this cluster");
	if (n > TOKEN_MOST)
		return error_set(err, RC_DATA,
				 "found a login token of %u bytes, expected at most %u", n,
				 TOKEN_MOST);
	return wire_receive(w, token, n, deadline, err);
}

/* Add the principal, and the command or file that helps. */
static int step_failed(const char *principal, struct error *err)
{
	const char *config = getenv("KRB5_CONFIG");
	struct error said = *err;

	if (strstr(said.msg, "Clock skew"))
		return error_set(
			err, RC_CONFIG,
			"%s: this machine's clock differs from the KDC's or the server's by "
			"more than 5 minutes; compare with `chronyc tracking` on both",
			said.msg);
	if (strstr(said.msg, "KDC for realm"))
		return error_set(err, RC_CONFIG, "%s; check [realms] in %s, and that the KDC runs",
				 said.msg, config ? config : "/etc/krb5.conf");
	return error_prefix(err,
			    "server principal %s (--server-principal sets another): ", principal);
}

/*
 * Begin a login with the principal in the realm of the ticket. If its KDC does not know the server,
 * the server may be in another realm, which krb5.conf or the KDC names.
 */
static int begin(struct login_context *c, const char *principal, bool realm_is_given,
		 struct error *err)
{
	int n = (int)strcspn(principal, "/@"), rc = login_begin(c, principal, LOGIN_PRINCIPAL, err);

	if (rc != RC_CONFIG || realm_is_given || principal[n] != '/' ||
	    !strstr(err->msg, "not found in Kerberos database"))
		return rc;
	const char *host = principal + n + 1;
	char *service = mem_format("%.*s@%.*s", n, principal, (int)strcspn(host, "@"), host);
	struct error other;

	login_context_release(c);
	rc = login_begin(c, service, LOGIN_HOST, &other);
	mem_free(service);
	if (rc == RC_STOPPED || (rc && strstr(other.msg, "no trust path")))
		*err = other;
	return rc ? err->code : RC_OK;
}

/* Exchange tokens until the context is complete. `in` gets the server's last token. */
static int exchange(struct login_context *c, struct wire *w, const char *principal, struct buf *in,
		    int64_t deadline, struct hbase_failure *why, struct error *err)
{
	for (;;) {
		int rc = send_token(w, buf_bytes(&c->token), deadline, err);

		if (rc == RC_OK)
			rc = receive_token(w, in, deadline, why, err);
		if (rc || c->done)
			return rc;
		rc = login_continue(c, buf_bytes(in), err);
		if (rc) {
			error_prefix(err, "cannot log in: ");
			return step_failed(principal, err);
		}
	}
}

static const char *layer_name(enum protection p)
{
	switch (p) {
	case PROTECT_AUTHENTICATION: return "authentication";
	case PROTECT_INTEGRITY: return "integrity";
	case PROTECT_PRIVACY: return "privacy";
	case PROTECT_STRONGEST: break;
	}
	return "the strongest";
}

static void name_layers(char *out, size_t size, unsigned offered)
{
	static const enum protection all[] = {PROTECT_AUTHENTICATION, PROTECT_INTEGRITY,
					      PROTECT_PRIVACY};
	struct buf b = {0};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (offered & all[i])
			buf_printf(&b, "%s%s", b.len ? ", " : "", layer_name(all[i]));
	text_quote(out, size, b.len ? buf_bytes(&b) : bytes_str("nothing"));
	buf_release(&b);
}

/* Choose the protection that the user demands, or the strongest that the server offers. */
static int choose_layer(struct sasl *s, unsigned offered, struct error *err)
{
	enum protection wanted = login_used()->protection;
	char names[80];

	s->layer = wanted			 ? wanted
		   : offered & PROTECT_PRIVACY	 ? PROTECT_PRIVACY
		   : offered & PROTECT_INTEGRITY ? PROTECT_INTEGRITY
						 : PROTECT_AUTHENTICATION;
	if (offered & s->layer)
		return RC_OK;
	name_layers(names, sizeof names, offered);
	return error_set(err, RC_CONFIG,
			 "found a server that offers %s, expected %s; change --protection, or "
			 "hbase.rpc.protection in its hbase-site.xml",
			 names, layer_name(s->layer));
}

static int agree_on_layer(struct sasl *s, struct wire *w, struct bytes offer, int64_t deadline,
			  struct error *err)
{
	gss_buffer_desc in = view_of(offer), said = GSS_C_EMPTY_BUFFER, out = GSS_C_EMPTY_BUFFER;
	OM_uint32 minor, unused, major = gss_unwrap(&minor, s->context, &in, &said, NULL, NULL);
	uint8_t choice[LAYER_BYTES];
	int rc = GSS_ERROR(major)
			 ? gss_failed("cannot read the offered protections", major, minor, err)
		 : said.length == LAYER_BYTES ? choose_layer(s, *(const uint8_t *)said.value, err)
					      : error_set(err, RC_DATA,
							  "found %zu bytes of offered protections, "
							  "expected 4",
							  said.length);

	gss_release_buffer(&unused, &said);
	if (rc)
		return rc;
	put_be32(choice, s->layer == PROTECT_AUTHENTICATION ? 0 : ANY_SIZE);
	choice[0] = (uint8_t)s->layer;
	in = view_of(bytes_of(choice, sizeof choice));
	major = gss_wrap(&minor, s->context, 0, GSS_C_QOP_DEFAULT, &in, NULL, &out);
	if (GSS_ERROR(major))
		return gss_failed("cannot protect a message", major, minor, err);
	rc = send_token(w, bytes_in(&out), deadline, err);
	gss_release_buffer(&unused, &out);
	return rc;
}

/* A failure of the login itself is final, and not one of the network. */
static int finish(struct sasl **out, struct sasl *s, int rc, struct hbase_failure *why)
{
	if ((rc == RC_CONFIG || rc == RC_DATA) && why->trouble == TROUBLE_NONE)
		why->trouble = TROUBLE_REFUSED;
	if (rc) {
		sasl_free(s);
		s = NULL;
	}
	*out = s;
	return rc;
}

int sasl_login(struct sasl **out, struct wire *w, const struct hbase_place *at, int64_t deadline,
	       struct hbase_failure *why, struct error *err)
{
	static const uint8_t hello[] = {'H', 'B', 'a', 's', 0, AUTH_KERBEROS};
	struct login_ticket ticket;
	struct login_context c = {0};
	struct buf token = {0};
	int rc = login_ticket(&ticket, err);

	*out = NULL;
	if (rc) {
		why->trouble = TROUBLE_REFUSED;
		return rc;
	}
	struct sasl *s = mem_calloc(1, sizeof *s);
	const char *realm = strchr(ticket.principal, '@'), *form = login_used()->server;
	char *principal = server_principal(at->host, realm ? realm : "");
	rc = begin(&c, principal, form && strchr(form, '@'), err);
	if (rc == RC_CONFIG) {
		error_prefix(err, "cannot log in: ");
		step_failed(principal, err);
	}
	if (rc == RC_OK)
		rc = wire_send(w, bytes_of(hello, sizeof hello), deadline, err);
	if (rc == RC_OK)
		rc = exchange(&c, w, principal, &token, deadline, why, err);
	s->context = c.context;
	c.context = NULL;
	if (rc == RC_OK)
		rc = agree_on_layer(s, w, buf_bytes(&token), deadline, err);
	login_context_release(&c);
	buf_release(&token);
	mem_free(principal);
	return finish(out, s, rc, why);
}

/* Answer the challenge of a server, and check that the server knows the token's password. */
static int answer_challenge(struct sasl *s, struct wire *w, const struct hadoop_token *token,
			    struct buf *in, int64_t deadline, struct hbase_failure *why,
			    struct error *err)
{
	struct digest_challenge c;
	struct buf answer = {0};
	uint64_t random[2];
	char cnonce[33];
	int rc = digest_challenge_read(&c, buf_bytes(in), err);

	if (rc == RC_OK)
		rc = choose_layer(s, c.offered, err);
	if (rc == RC_OK && getrandom(random, sizeof random, 0) != sizeof random)
		rc = error_errno(err, "getrandom");
	if (rc)
		return rc;
	snprintf(cnonce, sizeof cnonce, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	digest_answer(&s->digest, &c, token, s->layer, cnonce, &answer);
	rc = send_token(w, buf_bytes(&answer), deadline, err);
	buf_release(&answer);
	if (rc == RC_OK)
		rc = receive_token(w, in, deadline, why, err);
	if (rc == RC_OK && !digest_proves(&s->digest, buf_bytes(in)))
		rc = error_set(err, RC_CONFIG,
			       "the server did not prove that it knows the token's password");
	return rc;
}

int sasl_login_by_token(struct sasl **out, struct wire *w, const struct hbase_place *at,
			const struct hadoop_token *token, int64_t deadline,
			struct hbase_failure *why, struct error *err)
{
	static const uint8_t hello[] = {'H', 'B', 'a', 's', 0, AUTH_TOKEN};
	struct sasl *s = mem_calloc(1, sizeof *s);
	struct buf in = {0};

	s->by_token = true;
	int rc = wire_send(w, bytes_of(hello, sizeof hello), deadline, err);
	if (rc == RC_OK)
		rc = send_token(w, (struct bytes){0}, deadline, err);
	if (rc == RC_OK)
		rc = receive_token(w, &in, deadline, why, err);
	if (rc == RC_OK)
		rc = answer_challenge(s, w, token, &in, deadline, why, err);
	if (rc && why->trouble == TROUBLE_REFUSED) {
		char *servers = mem_format("--hbase %s:%u", at->host, at->port);

		rc = login_token_refused(servers, err);
		mem_free(servers);
	}
	buf_release(&in);
	return finish(out, s, rc, why);
}

/* --- protected bytes --- */

static bool is_plain(const struct sasl *s)
{
	return !s || s->layer == PROTECT_AUTHENTICATION;
}

static int send_digested(struct sasl *s, struct wire *w, struct bytes data, int64_t deadline,
			 struct error *err)
{
	struct buf piece = {0};

	digest_wrap(&s->digest, data, &piece);
	int rc = send_token(w, buf_bytes(&piece), deadline, err);
	buf_release(&piece);
	return rc;
}

int sasl_send(struct sasl *s, struct wire *w, struct bytes data, int64_t deadline,
	      struct error *err)
{
	gss_buffer_desc in = view_of(data), out = GSS_C_EMPTY_BUFFER;
	OM_uint32 minor, unused;

	if (is_plain(s))
		return wire_send(w, data, deadline, err);
	if (s->by_token)
		return send_digested(s, w, data, deadline, err);
	OM_uint32 major = gss_wrap(&minor, s->context, s->layer == PROTECT_PRIVACY,
				   GSS_C_QOP_DEFAULT, &in, NULL, &out);
	if (GSS_ERROR(major))
		return gss_failed("cannot protect a message", major, minor, err);
	int rc = send_token(w, bytes_in(&out), deadline, err);
	gss_release_buffer(&unused, &out);
	return rc;
}

/* Unwrap a piece, and if the login demands privacy, check the seal. */
static int unwrap(struct sasl *s, struct bytes wrapped, struct error *err)
{
	gss_buffer_desc in = view_of(wrapped), out = GSS_C_EMPTY_BUFFER;
	OM_uint32 minor, unused;
	int sealed = 0;
	OM_uint32 major = gss_unwrap(&minor, s->context, &in, &out, &sealed, NULL);

	/* a repeated, old or missing piece is a supplementary bit, and `out` has its bytes */
	if (major != GSS_S_COMPLETE) {
		gss_release_buffer(&unused, &out);
		gss_failed("found a changed or repeated message, expected one that the server "
			   "protected",
			   major, minor, err);
		err->code = RC_DATA;
		return RC_DATA;
	}
	int rc = s->layer != PROTECT_PRIVACY || sealed
			 ? RC_OK
			 : error_set(err, RC_DATA,
				     "found a message without encryption, expected privacy");
	if (rc == RC_OK)
		buf_append(&s->plain, out.value, out.length);
	gss_release_buffer(&unused, &out);
	return rc;
}

static int receive_piece(struct sasl *s, struct wire *w, size_t most, int64_t deadline,
			 struct error *err)
{
	struct buf piece = {0};
	struct hbase_failure unused = {0};
	int rc = wire_receive(w, &piece, 4, deadline, err);
	uint32_t n = rc == RC_OK ? get_be32(piece.ptr) : 0;

	piece.len = 0;
	if (rc == RC_OK && n == REFUSED) /* no wrap has one byte */
		rc = sasl_read_refusal(w, deadline, &unused, err);
	else if (rc == RC_OK && n > most + WRAPPED_MORE)
		rc = error_set(err, RC_DATA,
			       "found a protected message of %u bytes, expected at most %zu", n,
			       most + WRAPPED_MORE);
	if (rc == RC_OK)
		rc = wire_receive(w, &piece, n, deadline, err);
	if (rc == RC_OK && s->by_token)
		rc = digest_unwrap(&s->digest, buf_bytes(&piece), &s->plain, err);
	else if (rc == RC_OK)
		rc = unwrap(s, buf_bytes(&piece), err);
	buf_release(&piece);
	return rc;
}

int sasl_receive(struct sasl *s, struct wire *w, struct buf *b, size_t len, size_t most,
		 int64_t deadline, struct error *err)
{
	if (is_plain(s))
		return wire_receive(w, b, len, deadline, err);
	while (len) {
		size_t left = s->plain.len - s->taken, n = left < len ? left : len;

		if (n == 0) {
			s->plain.len = s->taken = 0;
			/* a server can send empty pieces without a pause */
			int rc = stop_check(err);
			if (rc == RC_OK && clock_ms() > deadline)
				rc = error_set(err, RC_IO, "found only empty messages");
			if (rc == RC_OK)
				rc = receive_piece(s, w, most, deadline, err);
			if (rc)
				return rc;
			continue;
		}
		buf_append(b, s->plain.ptr + s->taken, n);
		s->taken += n;
		len -= n;
	}
	return RC_OK;
}
