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

int wire_connect(const struct hbase_place *at, int64_t patience_ms, int *fd, struct error *err)
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

int wire_send(int fd, struct bytes data, int64_t deadline, struct error *err)
{
	while (data.len) {
		ssize_t n = send(fd, data.ptr, data.len, MSG_NOSIGNAL);

		if (n >= 0) {
			data = bytes_of(data.ptr + n, data.len - (size_t)n);
		} else if (errno == EAGAIN) {
			int rc = wait_for(fd, POLLOUT, deadline, err);

			if (rc == RC_END)
				rc = error_set(err, RC_IO, "the server accepts no data");
			if (rc)
				return rc;
		} else if (errno != EINTR) {
			return error_errno(err, "send");
		}
	}
	return RC_OK;
}

int wire_receive(int fd, struct buf *b, size_t len, int64_t deadline, struct error *err)
{
	while (len) {
		size_t part = len < READ_BYTES ? len : READ_BYTES;
		ssize_t n = recv(fd, buf_reserve(b, part), part, 0);

		if (n > 0) {
			b->len += (size_t)n;
			len -= (size_t)n;
		} else if (n == 0) {
			return error_set(err, RC_IO, "the server closed the connection");
		} else if (errno == EAGAIN) {
			int rc = wait_for(fd, POLLIN, deadline, err);

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
