#include "cli/progress_text.h"

#include "bar.h"
#include "cli/reports.h"
#include "bytes.h"

/* Appends a text such as " 45%, 12 s left". `whole` is 0 if the total is unknown. */
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

static void put_bytes(struct buf *out, uint64_t done, uint64_t all)
{
	char bytes[16], total[16];

	buf_printf(out, ", %s%s%s", format_bytes(bytes, done), all ? " of " : "",
		   all ? format_bytes(total, all) : "");
}

/* Appends ", 3 of 16 regions". */
static void put_parts(struct buf *out, uint64_t done, uint64_t all, const char *what)
{
	char text[28], total[28];

	buf_printf(out, ", %s of %s %s", format_count(text, done), format_count(total, all), what);
}

/* Appends ", 1,200 events/s". */
static void put_rate(struct buf *out, uint64_t n, const char *what, double seconds)
{
	char text[28];

	if (seconds > 0)
		buf_printf(out, ", %s %s/s", format_count(text, (uint64_t)((double)n / seconds)),
			   what);
}

static void put_counts(struct buf *out, const struct progress *p, double seconds)
{
	char text[28];
	uint64_t n = p->events;

	switch ((enum progress_told)p->told) {
	case PROGRESS_INPUT:
		buf_printf(out, ", %s events", format_count(text, n));
		put_bytes(out, p->done, p->total);
		put_rate(out, n, "events", seconds);
		break;
	case PROGRESS_REGIONS:
		put_parts(out, p->regions, p->regions_total, "regions");
		buf_printf(out, ", %s cells", format_count(text, p->cells));
		break;
	case PROGRESS_FILES: put_parts(out, p->done, p->total, "files"); break;
	case PROGRESS_BYTES: put_bytes(out, p->done, p->total); break;
	case PROGRESS_ROWS:
		buf_printf(out, ", %s rows", format_count(text, n));
		put_rate(out, n, "rows", seconds);
		break;
	case PROGRESS_SECONDS:
		buf_append_str(out, ", ");
		put_age(out, seconds);
		break;
	}
}

void progress_text(struct buf *out, const struct progress *p, double seconds, bool counts)
{
	const char *phase = p->phase;

	buf_append_str(out, phase ? phase : "opening");
	if (!counts)
		return;
	put_share(out, p->done, p->total, seconds);
	put_counts(out, p, seconds);
}
