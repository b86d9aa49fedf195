#include "rpc.h"

#include <poll.h>
#include <unistd.h>

#include "clock.h"
#include "frames.h"
#include "mem.h"
#include "sasl.h"
#include "tls.h"

/* milliseconds to wait for the answer of a server that has closed the connection */
#define LAST_WORD_MS 2000
#define CALL_IDS     0x7FFFFFFFu

struct rpc {
	struct wire wire;
	struct sasl *sasl; /* NULL without Kerberos */
	struct hbase_place at;
	const char *service;
	uint32_t call_id;
	bool broken, answered; /* `answered` is true after one valid answer of the server */
};

static int place_error(const struct rpc *c, struct error *err)
{
	return error_prefix(err, "%s:%u: ", c->at.host, c->at.port);
}

/*
 * Return the longest allowed answer of a method, in bytes. So a server other than HBase cannot make
 * the client allocate more. Cells may be long, and the status has a line for each region.
 */
static uint32_t answer_most(const char *method)
{
	static const struct {
		const char *method;
		uint32_t most;
	} longer[] = {{"Scan", 256u << 20},
		      {"GetClusterStatus", 128u << 20},
		      {"GetTableDescriptors", 16u << 20}};

	for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
		if (strcmp(longer[i].method, method) == 0)
			return longer[i].most;
	return 1u << 20;
}

static int receive_frame(struct rpc *c, const char *method, struct buf *frame, int64_t deadline,
			 struct hbase_failure *why, struct error *err)
{
	uint32_t most = answer_most(method);
	int rc = sasl_receive(c->sasl, &c->wire, frame, 4, most, deadline, err);

	if (rc)
		return rc;
	uint32_t length = get_be32(frame->ptr);
	frame->len = 0;
	if (length == 1 && c->sasl) /* no frame has one byte */
		return sasl_read_refusal(&c->wire, deadline, why, err);
	if (length > most)
		return error_set(err, RC_DATA,
				 "%s: found an answer of %u bytes, expected at most %u: check "
				 "the address, which may not be an HBase server",
				 method, length, most);
	return sasl_receive(c->sasl, &c->wire, frame, length, most, deadline, err);
}

/* Name the likely causes if a server has not answered at all. */
static void may_be_another(const struct rpc *c, struct error *err)
{
	error_prefix(err, "the server is not a %s of HBase 2.4 or later%s: ", c->service,
		     tls_is_demanded() ? "" : ", or accepts only TLS (--ca)");
}

/* The server reports errors in the preamble in its answer to the first call. */
static int greet(struct rpc *c, const struct rpc_user *user, int64_t deadline,
		 struct hbase_failure *why, struct error *err)
{
	struct buf hello = {0};
	int rc = tls_is_demanded() ? wire_secure(&c->wire, c->at.host, deadline, err) : RC_OK;

	if (rc == RC_OK && user->token) {
		rc = sasl_login_by_token(&c->sasl, &c->wire, &c->at, user->token, deadline, why,
					 err);
		rpc_put_header(&hello, c->service, NULL);
	} else if (rc == RC_OK && user->kerberos) {
		rc = sasl_login(&c->sasl, &c->wire, &c->at, deadline, why, err);
		rpc_put_header(&hello, c->service, user->name);
	} else {
		rpc_put_preamble(&hello, c->service, user->name);
	}
	if (rc == RC_OK)
		rc = sasl_send(c->sasl, &c->wire, buf_bytes(&hello), deadline, err);
	buf_release(&hello);
	return rc;
}

int rpc_connect(struct rpc **out, const struct hbase_place *at, const char *service,
		const struct rpc_user *user, int64_t patience_ms, struct hbase_failure *why,
		struct error *err)
{
	struct rpc *c = mem_calloc(1, sizeof *c);

	*c = (struct rpc){.at = *at, .service = service};
	*why = (struct hbase_failure){0};
	int64_t deadline = clock_ms() + patience_ms;
	int rc = wire_connect(&c->wire, at, patience_ms, err);
	if (rc == RC_OK) {
		rc = greet(c, user, deadline, why, err);
		if (rc == RC_IO && user->kerberos)
			may_be_another(c, err);
	}
	if (rc) {
		if (why->trouble == TROUBLE_NONE)
			why->trouble = rc == RC_IO ? TROUBLE_GONE : TROUBLE_REFUSED;
		place_error(c, err);
		rpc_close(c);
		c = NULL;
	}
	*out = c;
	return rc;
}

void rpc_close(struct rpc *c)
{
	if (!c)
		return;
	sasl_free(c->sasl);
	wire_close(&c->wire);
	mem_free(c);
}

bool rpc_is_stale(const struct rpc *c)
{
	struct pollfd p = {.fd = c->wire.fd, .events = POLLIN};

	return c->broken || poll(&p, 1, 0) != 0; /* no request is open, so no bytes may arrive */
}

bool rpc_is_broken(const struct rpc *c)
{
	return c->broken;
}

void rpc_answer_release(struct rpc_answer *a)
{
	buf_release(&a->frame);
	*a = (struct rpc_answer){0};
}

/*
 * Send a request and receive the answer. A server that rejects a request may close the connection
 * before it has received the whole request. In that case, read the bytes that the server sent
 * before.
 */
static int exchange(struct rpc *c, const char *method, const struct buf *request, int64_t deadline,
		    struct buf *frame, struct hbase_failure *why, struct error *err)
{
	struct error ignored;
	int rc = sasl_send(c->sasl, &c->wire, buf_bytes(request), deadline, err);

	if (rc == RC_OK)
		return receive_frame(c, method, frame, deadline, why, err);
	if (rc == RC_IO &&
	    receive_frame(c, method, frame, clock_ms() + LAST_WORD_MS, why, &ignored) == RC_OK)
		return RC_OK;
	return rc;
}

int rpc_call(struct rpc *c, const char *method, struct bytes message, int64_t patience_ms,
	     struct rpc_answer *out, struct hbase_failure *why, struct error *err)
{
	struct buf request = {0};

	double began = clock_seconds();

	*out = (struct rpc_answer){0};
	*why = (struct hbase_failure){0};
	c->call_id = c->call_id % CALL_IDS + 1;
	rpc_put_request(&request, c->call_id, method, message);
	int rc = exchange(c, method, &request, clock_ms() + patience_ms, &out->frame, why, err);
	buf_release(&request);
	c->broken = rc != RC_OK;
	if (rc == RC_OK) {
		rc = rpc_read_answer(buf_bytes(&out->frame), c->call_id, &out->message, &out->cells,
				     why, err);
		c->broken = rc == RC_DATA || why->hangs_up;
	} else if (rc == RC_IO && !c->answered) {
		may_be_another(c, err);
	}
	if (rc == RC_OK) {
		c->answered = true;
		return RC_OK;
	}
	if (why->trouble == TROUBLE_NONE)
		why->trouble = TROUBLE_LOST;
	if (rc == RC_IO && !why->name[0])
		error_prefix(err, "%s, after %.1f s: ", method, clock_seconds() - began);
	place_error(c, err);
	rpc_answer_release(out);
	return rc;
}
