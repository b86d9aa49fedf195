#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "monitor.h"
#include "pool.h"
#include "bytes.h"

#define TICK_MS	 500
#define EXTEND_S 60

struct notify {
	struct metrics_of shown;
	struct ticker *ticker;
	int fd;
	bool watched, ready, stopping;
	struct meter meter;
	struct buf said; /* the last status sent */
};

/* Returns a socket connected to the address, or -1 with errno. */
static int open_socket(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t len = strlen(path);

	if (len >= sizeof to.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(to.sun_path, path, len);
	if (*path == '@') /* a name in the abstract namespace */
		to.sun_path[0] = 0;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, size) < 0) {
		int e = errno;

		close(fd);
		errno = e;
		return -1;
	}
	return fd;
}

/* Returns the time of the watchdog in ms, or 0 if the watchdog does not watch this process. */
static int watchdog_ms(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!usec || (pid && strtoll(pid, NULL, 10) != getpid()))
		return 0;
	long long ms = strtoll(usec, NULL, 10) / 1000;
	return ms < 1 ? 0 : ms > 3600 * 1000 ? 3600 * 1000 : (int)ms;
}

static void put_status(struct notify *n, struct buf *lines)
{
	struct buf now = {0};
	uint64_t events;
	struct stream_view v = monitor_look(&n->shown, &n->meter, &events);

	if (n->shown.stream->looked)
		stream_text(&now, &v);
	else
		buf_printf(&now, "waiting for the topic");
	if (!bytes_eq(buf_bytes(&now), buf_bytes(&n->said)))
		buf_printf(lines, "STATUS=%.*s\n", (int)now.len, (const char *)now.ptr);
	buf_release(&n->said);
	n->said = now;
}

static void tell(void *ctx)
{
	struct notify *n = ctx;
	struct buf lines = {0};
	bool alive = atomic_exchange(&stop_asked, false), ready = n->ready, stopping = n->stopping;

	if (!n->ready && n->shown.stream->looked) {
		n->ready = true;
		buf_printf(&lines, "READY=1\n");
	} else if (!n->ready && alive) {
		buf_printf(&lines, "EXTEND_TIMEOUT_USEC=%d000000\n", EXTEND_S);
	}
	if (!n->stopping && stop_flag) {
		n->stopping = true;
		buf_printf(&lines, "STOPPING=1\n");
	}
	if (n->watched && alive)
		buf_printf(&lines, "WATCHDOG=1\n");
	put_status(n, &lines);
	if (lines.len && send(n->fd, lines.ptr, lines.len, MSG_NOSIGNAL) < 0) {
		n->ready = ready; /* the send failed, so try again next time */
		n->stopping = stopping;
		n->said.len = 0;
	}
	buf_release(&lines);
}

struct notify *notify_start(const struct metrics_of *of)
{
	const char *path = getenv("NOTIFY_SOCKET");

	if (!path || !*path)
		return NULL;
	int fd = open_socket(path);
	if (fd < 0) {
		struct buf shown = {0};

		text_visible(&shown, bytes_str(path));
		fprintf(stderr, "saltmill stream: warning: $NOTIFY_SOCKET: cannot open %.*s: %s\n",
			(int)shown.len, (const char *)shown.ptr, strerror(errno));
		buf_release(&shown);
		return NULL;
	}
	struct notify *n = mem_calloc(1, sizeof *n);
	int watchdog = watchdog_ms();
	n->shown = *of;
	n->fd = fd;
	n->watched = watchdog > 0;
	n->ticker = ticker_start(watchdog && watchdog / 3 < TICK_MS ? watchdog / 3 + 1 : TICK_MS,
				 tell, n);
	return n;
}

void notify_stop(struct notify *n)
{
	static const char last[] = "STOPPING=1\n";

	if (!n)
		return;
	ticker_stop(n->ticker);
	if (!n->stopping)
		send(n->fd, last, sizeof last - 1, MSG_NOSIGNAL);
	close(n->fd);
	buf_release(&n->said);
	mem_free(n);
}
