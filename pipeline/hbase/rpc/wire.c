/* wire.c - TCP connections; every wait ends at a deadline or by a signal */
#include "wire.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "pool.h"
#include "tls.h"

#define LOOK_MS	   200 /* a signal ends a wait within this time */
#define READ_BYTES ((size_t)1 << 20)
/* keep-alive detects a dead machine but not a hung process, because the kernel answers probes */
#define SILENCE_S 15
#define PROBES	  3

/* Wait for events. Returns RC_END if the deadline passed. */
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

/* Set the socket to detect a dead machine in half a minute, long before the call's limit. */
static void notice_silence(int fd)
{
	int one = 1, idle_s = SILENCE_S, every_s = SILENCE_S / PROBES, probes = PROBES;
	/*
	 * this timeout also ends probing, for any number of probes (Linux, tcp_keepalive_timer)
	 */
	unsigned unheard_ms = (unsigned)(idle_s + probes * every_s) * 1000;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof every_s);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unheard_ms, sizeof unheard_ms);
}

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
	notice_silence(fd);
	*out = fd;
	return RC_OK;
}

int wire_connect(struct wire *w, const struct hbase_place *at, int64_t patience_ms,
		 struct error *err)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	char port[8];

	*w = (struct wire){.fd = -1};
	snprintf(port, sizeof port, "%u", at->port);
	int bad = getaddrinfo(at->host, port, &hints, &list);
	if (bad)
		return error_set(err, RC_IO, "%s", gai_strerror(bad));
	int rc = RC_IO;
	for (const struct addrinfo *a = list; a && rc == RC_IO; a = a->ai_next)
		rc = connect_one(a, clock_ms() + patience_ms, &w->fd, err);
	freeaddrinfo(list);
	return rc;
}

void wire_close(struct wire *w)
{
	tls_free(w->tls);
	if (w->fd >= 0)
		close(w->fd);
	*w = (struct wire){.fd = -1};
}

/* Wait for an event. `late` is the message if the deadline passes. */
static int wait_or(const struct wire *w, short events, int64_t deadline, const char *late,
		   struct error *err)
{
	int rc = wait_for(w->fd, events, deadline, err);

	return rc == RC_END ? error_set(err, RC_IO, "%s", late) : rc;
}

int wire_secure(struct wire *w, const char *host, int64_t deadline, struct error *err)
{
	short event = 0;
	int rc = tls_new(&w->tls, w->fd, host, err);

	while (rc == RC_OK) {
		rc = tls_shake(w->tls, &event, err);
		if (rc || !event)
			break;
		rc = wait_or(w, event, deadline,
			     "TLS: no answer in time; check that the server uses TLS "
			     "(hbase.server.netty.tls.enabled)",
			     err);
	}
	return rc;
}

/* Send some bytes. *event is the event to wait for, or 0. */
static int send_some(struct wire *w, struct bytes data, size_t *n, short *event, struct error *err)
{
	if (w->tls)
		return tls_write(w->tls, data, n, event, err);
	ssize_t sent = send(w->fd, data.ptr, data.len, MSG_NOSIGNAL);

	*n = sent > 0 ? (size_t)sent : 0;
	*event = sent < 0 && errno == EAGAIN ? POLLOUT : 0;
	return sent >= 0 || *event || errno == EINTR ? RC_OK : error_errno(err, "send");
}

int wire_send(struct wire *w, struct bytes data, int64_t deadline, struct error *err)
{
	while (data.len) {
		size_t n;
		short event;
		int rc = send_some(w, data, &n, &event, err);

		data = bytes_of(data.ptr + n, data.len - n);
		if (rc == RC_OK && event)
			rc = wait_or(w, event, deadline, "the server accepts no data", err);
		if (rc)
			return rc;
	}
	return RC_OK;
}

/* Receive some bytes. *event is the event to wait for, or 0. */
static int receive_some(struct wire *w, uint8_t *to, size_t most, size_t *n, short *event,
			struct error *err)
{
	ssize_t got = 0;

	*event = 0;
	if (w->tls) {
		int rc = tls_read(w->tls, to, most, n, event, err);

		if (rc || *event || *n)
			return rc;
	} else {
		got = recv(w->fd, to, most, 0);
		*n = got > 0 ? (size_t)got : 0;
		*event = got < 0 && errno == EAGAIN ? POLLIN : 0;
	}
	if (got < 0 && !*event && errno != EINTR)
		return error_errno(err, "receive");
	return got == 0 ? error_set(err, RC_IO, "the server closed the connection") : RC_OK;
}

int wire_receive(struct wire *w, struct buf *b, size_t len, int64_t deadline, struct error *err)
{
	while (len) {
		size_t part = len < READ_BYTES ? len : READ_BYTES, n = 0;
		short event;
		int rc = receive_some(w, buf_reserve(b, part), part, &n, &event, err);

		b->len += n;
		len -= n;
		if (rc == RC_OK && event)
			rc = wait_or(w, event, deadline,
				     "no answer in time; check that HBase runs there, and its log",
				     err);
		if (rc)
			return rc;
	}
	return RC_OK;
}
