#include "rpc.h"

#include <poll.h>
#include <unistd.h>

#include "clock.h"
#include "frames.h"
#include "mem.h"
#include "wire.h"

#define LAST_WORD_MS 2000 /* for the answer of a server that then closed */
#define CALL_IDS     0x7FFFFFFFu

struct rpc {
	int fd;
	struct hbase_place at;
	const char *service;
	uint32_t call_id;
	bool broken, answered; /* answered: the server has shown that it speaks the service */
};

static int place_error(const struct rpc *c, struct error *err)
{
	return error_prefix(err, "%s:%u: ", c->at.host, c->at.port);
}

static int receive_frame(struct rpc *c, struct buf *frame, int64_t deadline, struct error *err)
{
	int rc = wire_receive(c->fd, frame, 4, deadline, err);

	if (rc)
		return rc;
	uint32_t length = get_be32(frame->ptr);
	frame->len = 0;
	if (length > RPC_FRAME_MOST)
		return error_set(err, RC_DATA,
				 "announced an answer of %u bytes, expected at most 1 GiB", length);
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
		/* the answer to the first call reports errors in it */
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

	return c->broken || poll(&p, 1, 0) != 0; /* no request is open, so nothing may arrive */
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
 * Send a request and receive the answer. A server that rejects a request may close before it has
 * received all of it; then read what it sent.
 */
static int exchange(struct rpc *c, const struct buf *request, int64_t deadline, struct buf *frame,
		    struct error *err)
{
	struct error ignored;
	int rc = wire_send(c->fd, buf_bytes(request), deadline, err);

	if (rc == RC_OK)
		return receive_frame(c, frame, deadline, err);
	if (rc == RC_IO && receive_frame(c, frame, clock_ms() + LAST_WORD_MS, &ignored) == RC_OK)
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
	int rc = exchange(c, &request, clock_ms() + patience_ms, &out->frame, err);
	buf_release(&request);
	c->broken = rc != RC_OK;
	if (rc == RC_OK) {
		rc = rpc_read_answer(buf_bytes(&out->frame), c->call_id, &out->message, &out->cells,
				     why, err);
		c->broken = rc == RC_DATA;
	} else if (rc == RC_IO && !c->answered) {
		error_prefix(err, "it is not a %s of HBase 2.4 or later, or it speaks only TLS: ",
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
