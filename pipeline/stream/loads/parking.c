#include "parking.h"

#include <stdio.h>
#include <sys/stat.h>

#include "clock.h"

/* Return the time in ns of the last record of the state, or 0 if there is no state. */
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
	p->delay_ms = parked_delay(again ? p->delay_ms : 0);
	p->try_ms = clock_ms() + p->delay_ms;
	report_to(&s->opt->listener,
		  "partition %d is parked, and the other partitions continue: %s; saltmill retries "
		  "it in %lld min, or when `saltmill seek` sets its position",
		  id, why, (long long)(p->delay_ms / 60000));
}

bool parking_may_try(struct parking *p, const char *dir)
{
	int64_t changed = p->parked ? changed_ns(dir) : 0;

	if (!p->parked || clock_ms() >= p->try_ms)
		return true;
	if (changed == p->changed_ns)
		return false;
	p->delay_ms = 0; /* the records changed, so the user is repairing the state */
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
