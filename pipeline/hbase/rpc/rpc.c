#include "rpc.h"

#include <poll.h>
#include <unistd.h>

#include "clock.h"
#include "frames.h"
#include "mem.h"
#include "wire.h"

/* milliseconds to wait for the answer of a server that has closed the connection */
#define LAST_WORD_MS 2000
#define CALL_IDS     0x7FFFFFFFu

struct rpc {
	int fd;
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
			 struct error *err)
{
	uint32_t most = answer_most(method);
	int rc = wire_receive(c->fd, frame, 4, deadline, err);

	if (rc)
		return rc;
	uint32_t length = get_be32(frame->ptr);
	frame->len = 0;
	if (length > most)
		return error_set(err, RC_DATA,
				 "%s: found an answer of %u bytes, expected at most %u: check "
				 "the address, which may not be an HBase server",
				 method, length, most);
	return wire_receive(c->fd, frame, length, deadline, err);
}

int rpc_connect(struct rpc **out, const struct hbase_place *at, const char *service,
		const char *user, int64_t patience_ms, struct hbase_failure *why, struct error *err)
{
	struct rpc *c = mem_calloc(1, sizeof *c);
	struct buf hello = {0};

	*c = (struct rpc){.fd = -1, .at = *at, .service = service};
	*why = (struct hbase_failure){0};
	int rc = wire_connect(at, patience_ms, &c->fd, err);
	if (rc == RC_OK) {
		rpc_put_preamble(&hello, service, user);
		/* the server reports errors in the preamble in its answer to the first call */
		rc = wire_send(c->fd, buf_bytes(&hello), clock_ms() + patience_ms, err);
		buf_release(&hello);
	}
	if (rc) {
		why->trouble = rc == RC_STOPPED ? TROUBLE_REFUSED : TROUBLE_GONE;
		place_error(c, err);
		rpc_close(c);
		c = NULL;
	}
	*out = c;
	return rc;
}

void rpc_close(struct rpc *c)
{
	if (c && c->fd >= 0)
		close(c->fd);
	mem_free(c);
}

bool rpc_is_stale(const struct rpc *c)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};

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
		    struct buf *frame, struct error *err)
{
	struct error ignored;
	int rc = wire_send(c->fd, buf_bytes(request), deadline, err);

	if (rc == RC_OK)
		return receive_frame(c, method, frame, deadline, err);
	if (rc == RC_IO &&
	    receive_frame(c, method, frame, clock_ms() + LAST_WORD_MS, &ignored) == RC_OK)
		return RC_OK;
	return rc;
}

int rpc_call(struct rpc *c, const char *method, struct bytes message, int64_t patience_ms,
	     struct rpc_answer *out, struct hbase_failure *why, struct error *err)
{
	struct buf request = {0};

	*out = (struct rpc_answer){0};
	*why = (struct hbase_failure){0};
	c->call_id = c->call_id % CALL_IDS + 1;
	rpc_put_request(&request, c->call_id, method, message);
	int rc = exchange(c, method, &request, clock_ms() + patience_ms, &out->frame, err);
	buf_release(&request);
	c->broken = rc != RC_OK;
	if (rc == RC_OK) {
		rc = rpc_read_answer(buf_bytes(&out->frame), c->call_id, &out->message, &out->cells,
				     why, err);
		c->broken = rc == RC_DATA;
	} else if (rc == RC_IO && !c->answered) {
		error_prefix(err,
			     "the server is not a %s of HBase 2.4 or later, or accepts only "
			     "TLS: ",
			     c->service);
	}
	if (rc == RC_OK) {
		c->answered = true;
		return RC_OK;
	}
	if (why->trouble == TROUBLE_NONE)
		why->trouble = TROUBLE_LOST;
	place_error(c, err);
	rpc_answer_release(out);
	return rc;
}
