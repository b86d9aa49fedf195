/* deadline.c - see deadline.h; the retries of hbase.h */
#include "deadline.h"

#include "clock.h"
#include "hbase.h"
#include "io.h"

/*
 * A server dies unnoticed for 90 s (zookeeper.session.timeout), and a master assigns its regions in
 * less than a minute. HBase's client retries for 20 minutes (hbase.client.operation.timeout).
 */
#define OPERATION_MS 240000
#define GONE_WAIT                                                                                  \
	5 /* backoff step of 2 s, because a query is cheap and the server may return soon */

static int64_t operation_ms = OPERATION_MS, call_limit_ms = CALL_MS;
static bool user_limits;

static _Thread_local struct {
	int64_t until_ms;
	unsigned depth; /* calls of deadline_begin without deadline_end */
	bool retrying;
	bool failed; /* the last call failed */
} now;

void hbase_limit(int64_t ms, bool by_user)
{
	operation_ms = ms;
	user_limits = by_user;
	call_limit_ms = by_user || ms < CALL_MS ? ms : CALL_MS;
	login_limit(ms);
}

void deadline_begin(void)
{
	if (now.depth++ == 0 && (!now.retrying || clock_ms() >= now.until_ms))
		now.until_ms = clock_ms() + operation_ms;
}

int64_t deadline_for(int64_t call_ms)
{
	int64_t left = now.until_ms - clock_ms();

	if (call_ms > CALL_MS)
		return call_ms;
	if (call_ms == CALL_MS)
		call_ms = call_limit_ms;
	left = left > 1 ? left : 1;
	return call_ms < left ? call_ms : left;
}

int64_t deadline_for_change(int64_t ms)
{
	return user_limits ? operation_ms : ms;
}

void deadline_end(int rc, bool final)
{
	now.depth--;
	now.failed = rc != RC_OK;
	now.retrying = now.retrying && (rc || !final);
}

bool hbase_retry(const struct hbase_failure *why, struct hbase_attempts *a, struct error *err)
{
	bool helps = why->trouble == TROUBLE_GONE || why->trouble == TROUBLE_BUSY ||
		     why->trouble == TROUBLE_LOST;
	struct error stopped;

	now.retrying = false;
	if (!helps || err->code == RC_STOPPED)
		return false;
	if (a->n == 0) {
		a->until_ms = now.failed ? now.until_ms : clock_ms() + operation_ms;
		a->waited_ms = 0;
	}
	unsigned wait = why->trouble == TROUBLE_GONE && a->n > GONE_WAIT ? GONE_WAIT : a->n;
	int64_t left = a->rounds ? operation_ms - a->waited_ms : a->until_ms - clock_ms();
	int rc = backoff_wait(wait, clock_seconds() + (double)left / 1000, &stopped);

	if (rc == RC_STOPPED)
		*err = stopped;
	if (rc == RC_END)
		error_prefix(err, "no result within %lld s (--timeout), after %u attempt%s: ",
			     (long long)(operation_ms + 999) / 1000, a->n + 1, a->n ? "s" : "");
	if (rc)
		return false;
	a->n++;
	a->waited_ms += backoff_ms(wait);
	now.until_ms = a->until_ms;
	now.retrying = !a->rounds;
	return true;
}
