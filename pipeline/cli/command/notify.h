/*
 * notify.h - reports the state of a stream to the service manager (inside this folder only)
 *
 * The protocol of sd_notify(3) sends lines NAME=VALUE in one datagram to the socket $NOTIFY_SOCKET.
 * The address is a path or, after an @, a name in Linux' abstract namespace. saltmill does not use
 * libsystemd, because it would add a dozen libraries.
 */
#ifndef SALTMILL_CMD_NOTIFY_H
#define SALTMILL_CMD_NOTIFY_H

#include "cli/metrics.h"

/*
 * Start a thread that sends these lines to the service manager.
 *   EXTEND_TIMEOUT_USEC  while a live stream waits for brokers at its start
 *   READY=1              after the first read of the topic's offsets
 *   STATUS=              the progress line, each time that line changes
 *   WATCHDOG=1           if $WATCHDOG_USEC has a value, and a thread of the stream has called
 *                        stop_check since the last such line; other threads call stop_unwatched
 *   STOPPING=1           after a signal, or from notify_stop
 *
 * Returns NULL if $NOTIFY_SOCKET has no value. If it cannot open the socket, prints a warning and
 * returns NULL. `of` must outlive the thread.
 */
struct notify;
struct notify *notify_start(const struct metrics_of *of);
void notify_stop(struct notify *n);

#endif
