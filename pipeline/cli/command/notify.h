/*
 * notify.h - reports the state of a stream to the service manager (inside this room only)
 *
 * The protocol of sd_notify(3): lines NAME=VALUE in one datagram to the socket $NOTIFY_SOCKET, a
 * path or, after an @, a name in Linux' abstract name space.  It is one call, and libsystemd would
 * bring a dozen libraries.
 */
#ifndef SALTMILL_CMD_NOTIFY_H
#define SALTMILL_CMD_NOTIFY_H

#include "cli/metrics.h"

/*
 * Start a thread that sends
 *   EXTEND_TIMEOUT_USEC  while a live stream waits for brokers at its start
 *   READY=1              after the first look at the topic
 *   STATUS=              the progress line, when it changes
 *   WATCHDOG=1           if $WATCHDOG_USEC is set and stop_check was called since the last one;
 *                        threads beside the stream (stop_unwatched, the follower) do not count
 *   STOPPING=1           after a signal, or in notify_stop
 *
 * Returns NULL if $NOTIFY_SOCKET is not set, or cannot be opened, which it prints.  `of` must
 * outlive it.
 */
struct notify;
struct notify *notify_start(const struct metrics_of *of);
void notify_stop(struct notify *n);

#endif
