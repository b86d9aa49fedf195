#include "rpc.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "frames.h"
#include "mem.h"
#include "pool.h"

#define LOOK_MS	     200  /* how soon a signal ends a wait */
#define LAST_WORD_MS 2000 /* for what a server said before it closed */
#define READ_BYTES   ((size_t)1 << 20)
#define CALL_IDS     0x7FFFFFFFu

struct rpc {
	int fd;
	struct hbase_place at;
	const char *service;
	uint32_t call_id;
	bool broken, answered; /* answered: it has shown that it speaks the service */
};

/* RC_END: not in time. */
static int wait_for(int fd, short events, int64_t deadline, struct error *err)
{
	for (;;) {
		struct pollfd p = {.fd = fd, .events = events};
		int64_t left = deadline - clock_ms();
		if (stop_check(err))
			return RC_STOPPED;
		if (left <= 0)
			return RC_END;
		int n = poll(&p, 1, (int)(left < LOOK_MS ? left : LOOK_MS));
		if (n > 0)
			return RC_OK;
		if (n < 0 && errno != EINTR)
			return error_errno(err, "poll");
	}
}

/* --- connecting --- */

static int connect_one(const struct addrinfo *a, int64_t deadline, int *out, struct error *err)
{
	int one = 1, failed = 0;
	socklen_t len = sizeof failed;
	int fd =
		socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
	if (fd < 0)
		return error_errno(err, "socket");
	int rc = RC_OK;
	if (connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
		rc = errno == EINPROGRESS ? wait_for(fd, POLLOUT, deadline, err)
					  : error_errno(err, "connect");
		if (rc == RC_END)
			rc = error_set(err, RC_IO, "connect: no answer in time");
		if (rc == RC_OK && getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &len) == 0 &&
		    failed) {
			errno = failed;
			rc = error_errno(err, "connect");
		}
	}
	if (rc) {
		close(fd);
		return rc;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
	*out = fd;
	return RC_OK;
}

static int connect_any(const struct hbase_place *at, int64_t patience_ms, int *fd,
		       struct error *err)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	char port[8];

	snprintf(port, sizeof port, "%u", at->port);
	int bad = getaddrinfo(at->host, port, &hints, &list);
	if (bad)
		return error_set(err, RC_IO, "%s", gai_strerror(bad));
	int rc = RC_IO;
	for (const struct addrinfo *a = list; a && rc == RC_IO; a = a->ai_next)
		rc = connect_one(a, clock_ms() + patience_ms, fd, err);
	freeaddrinfo(list);
	return rc;
}

/* --- sending and receiving --- */

static int place_error(const struct rpc *c, struct error *err)
{
	return error_prefix(err, "%s:%u: ", c->at.host, c->at.port);
}

static int send_all(struct rpc *c, struct bytes data, int64_t deadline, struct error *err)
{
	while (data.len) {
		ssize_t n = send(c->fd, data.ptr, data.len, MSG_NOSIGNAL);
		if (n >= 0) {
			data = bytes_of(data.ptr + n, data.len - (size_t)n);
		} else if (errno == EAGAIN) {
			int rc = wait_for(c->fd, POLLOUT, deadline, err);
			if (rc == RC_END)
				rc = error_set(err, RC_IO, "it takes no data");
			if (rc)
				return rc;
		} else if (errno != EINTR) {
			return error_errno(err, "send");
		}
	}
	return RC_OK;
}

/* Exactly len bytes to the end of b, which grows as they come. */
static int receive(struct rpc *c, struct buf *b, size_t len, int64_t deadline, struct error *err)
{
	while (len) {
		size_t part = len < READ_BYTES ? len : READ_BYTES;
		ssize_t n = recv(c->fd, buf_reserve(b, part), part, 0);
		if (n > 0) {
			b->len += (size_t)n;
			len -= (size_t)n;
		} else if (n == 0) {
			return error_set(err, RC_IO, "closed the connection");
		} else if (errno == EAGAIN) {
			int rc = wait_for(c->fd, POLLIN, deadline, err);
			if (rc == RC_END)
				rc = error_set(err, RC_IO, "no answer in time");
			if (rc)
				return rc;
		} else if (errno != EINTR) {
			return error_errno(err, "receive");
		}
	}
	return RC_OK;
}

static int receive_frame(struct rpc *c, struct buf *frame, int64_t deadline, struct error *err)
{
	int rc = receive(c, frame, 4, deadline, err);
	if (rc)
		return rc;
	uint32_t length = get_be32(frame->ptr);
	frame->len = 0;
	if (length > RPC_FRAME_MOST)
		return error_set(err, RC_DATA, "announced an answer of %u bytes", length);
	return receive(c, frame, length, deadline, err);
}

int rpc_connect(struct rpc **out, const struct hbase_place *at, const char *service,
		const char *user, int64_t patience_ms, struct hbase_failure *why, struct error *err)
{
	struct rpc *c = mem_calloc(1, sizeof *c);
	struct buf hello = {0};

	*c = (struct rpc){.fd = -1, .at = *at, .service = service};
	*why = (struct hbase_failure){0};
	int rc = connect_any(at, patience_ms, &c->fd, err);
	if (rc == RC_OK) {
		rpc_put_preamble(&hello, service, user);
		/* what is wrong with it the answer to the first call tells */
		rc = send_all(c, buf_bytes(&hello), clock_ms() + patience_ms, err);
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
	return c->broken || poll(&p, 1, 0) != 0; /* nothing is asked, so nothing may come */
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

/* A server that cannot do with what it was sent closes before all of it is written. */
static int exchange(struct rpc *c, const struct buf *request, int64_t deadline, struct buf *frame,
		    struct error *err)
{
	struct error ignored;
	int rc = send_all(c, buf_bytes(request), deadline, err);
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
		error_prefix(err,
			     "it is no %s of HBase 2.4 or later, or speaks TLS only: ", c->service);
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
