#include "room.h"

#include <errno.h>
#include <string.h>

#include "clock.h"

#define LOOK_MS 200
#define ROOM_S	10

bool room_is_missing(int rc, const struct error *err)
{
	return rc == RC_IO &&
	       (strstr(err->msg, strerror(ENOSPC)) || strstr(err->msg, strerror(EDQUOT)) ||
		strstr(err->msg, " of free space"));
}

int room_wait(double *since, const struct job *job, uint64_t patience_s,
	      const struct listener *listener, struct error *err)
{
	uint64_t patience = job->kafka.patience_s ? job->kafka.patience_s : patience_s;
	double now = clock_seconds(), until = now + ROOM_S;
	int rc = RC_OK;

	if (*since == 0) {
		*since = now;
		report_to(listener,
			  "%s; saltmill retries every %d s, and loads the same offsets when there "
			  "is room",
			  err->msg, ROOM_S);
	}
	if (patience != DURATION_FOREVER && now - *since > (double)patience)
		return err->code;
	/* a short patience ends the wait early, and then the last retry follows */
	if (patience != DURATION_FOREVER && *since + (double)patience < until)
		until = *since + (double)patience;
	while (rc == RC_OK && clock_seconds() < until) {
		clock_sleep_ms(LOOK_MS);
		rc = stop_check(err);
	}
	return rc;
}

void room_end(double *since, const struct listener *listener)
{
	if (*since != 0)
		report_to(listener, "the disk has room again");
	*since = 0;
}
