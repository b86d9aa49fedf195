#include "parking.h"

#include <stdio.h>
#include <sys/stat.h>

#include "clock.h"

#define TRY_AGAIN_MS 60000 /* first delay; it doubles each time */
#define TRY_MOST_MS  600000

bool parking_is_for(int rc)
{
	return rc == RC_DATA || rc == RC_ORDER || rc == RC_LIMIT;
}

/* Return when a record was last added to the state; 0: there is no state. */
static int64_t changed_ns(const char *dir)
{
	struct stat st;
	char *loads = mem_format("%s/loads", dir);
	bool there = stat(loads, &st) == 0;

	mem_free(loads);
	return there ? (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec : 0;
}

void parking_put(struct parking *p, struct stream *s, const char *dir, int32_t id, const char *why)
{
	struct ingest *in = &s->in;
	bool again = p->parked;

	p->parked = true;
	if (in->nranges)
		p->position = in->ranges[0].start;
	else if (!in->state || !state_position(in->state, NULL, id, &p->position))
		p->position = -1;
	snprintf(s->seen.parked, sizeof s->seen.parked, "%s", why);
	if (in->state)
		stream_note(s);
	ingest_close(in);
	s->waiting_since = 0;
	p->changed_ns = changed_ns(dir);
	p->delay_ms = again && 2 * p->delay_ms < TRY_MOST_MS ? 2 * p->delay_ms
		      : again				     ? TRY_MOST_MS
							     : TRY_AGAIN_MS;
	p->try_ms = clock_ms() + p->delay_ms;
	report_to(&s->opt->listener,
		  "partition %d is parked, the others go on: %s; saltmill retries it in %lld "
		  "min, and as soon as `saltmill seek` sets its position",
		  id, why, (long long)(p->delay_ms / 60000));
}

bool parking_may_try(struct parking *p, const char *dir)
{
	int64_t changed = p->parked ? changed_ns(dir) : 0;

	if (!p->parked || clock_ms() >= p->try_ms)
		return true;
	if (changed == p->changed_ns)
		return false;
	p->delay_ms = 0; /* somebody is repairing it */
	return true;
}

void parking_end(struct parking *p, struct stream *s, int32_t id)
{
	if (!p->parked)
		return;
	*p = (struct parking){0};
	s->seen.parked[0] = 0;
	report_to(&s->opt->listener, "partition %d continues", id);
}
