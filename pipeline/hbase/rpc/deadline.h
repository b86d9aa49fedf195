/*
 * deadline.h - the time limit of an operation
 *
 * An operation is a call with all its retries, searches for servers and logins. Each thread has one
 * operation at a time. An operation ends with an answer of a master or a region server.
 */
#ifndef SALTMILL_CLUSTER_DEADLINE_H
#define SALTMILL_CLUSTER_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#define CONNECT_MS 10000
#define CALL_MS	   60000 /* the limit of HBase's client; slower calls have another limit */

/* Begin an operation, unless this thread is in one, or retries one. */
void deadline_begin(void);
/*
 * Return the milliseconds for a call: at most `call_ms`, and at most what the operation has left.
 * The limit of a call that may take longer than CALL_MS is its own.
 */
int64_t deadline_for(int64_t call_ms);
/* Note the result after deadline_begin. `final` is true if a success ends the retries. */
void deadline_end(int rc, bool final);
/* Return the milliseconds for a change by the master, at most `ms`. */
int64_t deadline_for_change(int64_t ms);

#endif
