/*
 * notify.h - a stream tells the service manager how it is (inside pipeline/cli/command only)
 *
 * The protocol of sd_notify(3): lines NAME=VALUE in one datagram to the socket that $NOTIFY_SOCKET
 * names, by its path or, behind an @, in Linux' abstract name space.  By hand: it is one call, and
 * libsystemd would come with a dozen libraries.
 */
#ifndef SALTMILL_CMD_NOTIFY_H
#define SALTMILL_CMD_NOTIFY_H

#include "cli/metrics.h"

/*
 * Starts a thread that tells READY=1 once the topic was looked at; until then, while the stream is
 * alive, that starting takes longer (EXTEND_TIMEOUT_USEC), as it waits for brokers.  STATUS= is the
 * line that a terminal shows, when it is another.  WATCHDOG=1 is told when $WATCHDOG_USEC is set
 * and stop_check was called since the last one: its threads do something, though it be waiting.
 * Threads beside the stream (stop_unwatched: a follower's) do not count.
 * STOPPING=1 is told behind a signal, or by notify_stop.
 *
 * NULL when $NOTIFY_SOCKET is not set or, with a line on standard error, cannot be.  What is
 * shown must outlive it.
 */
struct notify;
struct notify *notify_start(const struct metrics_of *of);
void notify_stop(struct notify *n);

#endif
