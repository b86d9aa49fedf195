#include "progress_text.h"

#include <stdio.h>

#include "load.h"
#include "report.h"
#include "units.h"

static const char *const phase_names[PHASES] = {"opening", "reading", "choosing splits", "writing",
						"publishing"};

static void put_reading(struct buf *out, const struct progress *p, double seconds)
{
	char events[28], bytes[16], total[16], eta[32] = "";
	uint64_t n = p->events, done = p->bytes, all = p->bytes_total;
	format_count(events, n);
	format_bytes(bytes, done);
	if (all && done && done <= all)
		snprintf(eta, sizeof eta, ", %.0f s left",
			 seconds * (double)(all - done) / (double)done);
	buf_printf(out, "reading: %s events, %s%s%s, %.0f events/s%s", events, bytes,
		   all ? " of " : "", all ? format_bytes(total, all) : "",
		   seconds > 0 ? (double)n / seconds : 0, eta);
}

static void put_writing(struct buf *out, const struct progress *p)
{
	char cells[28];
	uint64_t done = p->regions, all = p->regions_total;
	buf_printf(out, "writing: %s cells, %llu of %llu regions", format_count(cells, p->cells),
		   (unsigned long long)done, (unsigned long long)all);
}

void progress_text(struct buf *out, const struct progress *p, double seconds, bool counts)
{
	int phase = p->phase;
	if (phase == PHASE_READ && counts)
		put_reading(out, p, seconds);
	else if (phase == PHASE_WRITE && counts)
		put_writing(out, p);
	else
		buf_append_str(out, phase_names[phase]);
}
