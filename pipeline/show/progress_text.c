#include "progress_text.h"

#include "bar.h"
#include "load.h"
#include "report.h"
#include "units.h"

static const char *const phase_names[PHASES] = {"opening", "reading", "choosing splits", "writing",
						"publishing"};

/* " 45%, 12 s left"; whole 0: not known. */
static void put_share(struct buf *out, uint64_t done, uint64_t whole, double seconds)
{
	if (!whole || done > whole)
		return;
	double share = (double)done / (double)whole;
	buf_printf(out, " %d%%", (int)(100 * share));
	if (done && done < whole && seconds > 0) {
		buf_append_str(out, ", ");
		put_age(out, seconds * (1 - share) / share);
		buf_append_str(out, " left");
	}
}

static void put_reading(struct buf *out, const struct progress *p, double seconds)
{
	char text[28], bytes[16], total[16];
	uint64_t n = p->events, done = p->bytes, all = p->bytes_total;
	put_share(out, done, all, seconds);
	buf_printf(out, ", %s events, %s%s%s", format_count(text, n), format_bytes(bytes, done),
		   all ? " of " : "", all ? format_bytes(total, all) : "");
	if (seconds > 0)
		buf_printf(out, ", %s events/s",
			   format_count(text, (uint64_t)((double)n / seconds)));
}

static void put_writing(struct buf *out, const struct progress *p, double seconds)
{
	char cells[28], regions[28], total[28];
	uint64_t done = p->regions, all = p->regions_total;
	put_share(out, done, all, seconds);
	buf_printf(out, ", %s of %s regions, %s cells", format_count(regions, done),
		   format_count(total, all), format_count(cells, p->cells));
}

void progress_text(struct buf *out, const struct progress *p, double seconds, bool counts)
{
	int phase = p->phase;
	buf_append_str(out, phase_names[phase]);
	if (!counts)
		return;
	if (phase == PHASE_READ) {
		put_reading(out, p, seconds);
	} else if (phase == PHASE_WRITE) {
		put_writing(out, p, seconds);
	} else {
		buf_append_str(out, ", ");
		put_age(out, seconds);
	}
}
