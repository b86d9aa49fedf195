#include "cli/progress_text.h"

#include "bar.h"
#include "cli/reports.h"
#include "show_json.h"

static void put_cut(struct buf *out, const struct stream_view *w)
{
	char count[28];

	if (!w->cut) {
		buf_append_str(out, "no open cut");
		return;
	}
	buf_printf(out, "%s %s offsets (", w->loading ? "loading" : "open cut",
		   format_count(count, w->cut));
	if (w->loading)
		buf_printf(out, "%s read, ", format_count(count, w->cut_read));
	put_age(out, w->cut_age_s);
	buf_put(out, ')');
}

void stream_text(struct buf *out, const struct stream_view *w)
{
	char lag[28], rate[28], loads[28];

	buf_printf(out, "lag %s offsets, %s events/s, ", format_count(lag, w->lag),
		   format_count(rate, (uint64_t)(w->rate + 0.5)));
	put_cut(out, w);
	buf_printf(out, ", %s load%s", format_count(loads, w->loads), w->loads == 1 ? "" : "s");
	if (w->published_s >= 0) {
		buf_append_str(out, w->loads ? ", the last " : ", the last one before that ");
		put_age(out, w->published_s);
		buf_append_str(out, " ago");
	}
	if (w->waiting)
		buf_printf(out, ", %s wait%s for HBase", format_count(loads, w->waiting),
			   w->waiting == 1 ? "s" : "");
	if (w->parked)
		buf_printf(out, ", %llu partition%s PARKED", (unsigned long long)w->parked,
			   w->parked == 1 ? "" : "s");
}

/* v is released. */
static void put_line(struct buf *out, json_t *v)
{
	show_json(out, v, 0);
	out->len -= out->len > 0; /* the line end */
}

void stream_load_json(struct buf *out, const char *name, uint64_t read, uint64_t rejected,
		      const char *dir)
{
	put_line(out, json_pack("{s:s, s:I, s:I, s:o}", "load", name, "read", (json_int_t)read,
				"rejected", (json_int_t)rejected, "output", show_string(dir)));
}

static int64_t sum(const int64_t ms[FOLLOW_PHASES])
{
	int64_t all = 0;

	for (size_t p = 0; p < FOLLOW_PHASES; p++)
		all += ms[p];
	return all;
}

void stream_applied_json(struct buf *out, const struct applied_view *w)
{
	json_t *ms = json_object();

	json_object_set_new(ms, "total", json_integer(sum(w->ms)));
	for (size_t p = 0; p < FOLLOW_PHASES; p++)
		json_object_set_new(ms, follow_phases[p], json_integer(w->ms[p]));
	put_line(out, json_pack("{s:s, s:I, s:I, s:o, s:o}", "applied", w->name, "cells",
				(json_int_t)w->cells, "files", (json_int_t)w->files, "output",
				show_string(w->dir), "ms", ms));
}

void stream_applied_text(struct buf *out, const struct applied_view *w)
{
	char count[28];

	buf_printf(out, "%s: in HBase, %s cells in %llu file%s, %.2f s behind its publication (",
		   w->name, format_count(count, w->cells), (unsigned long long)w->files,
		   w->files == 1 ? "" : "s", (double)sum(w->ms) / 1e3);
	for (size_t p = 0; p < FOLLOW_PHASES; p++)
		buf_printf(out, "%s%s %.2f", p ? ", " : "", follow_phases[p],
			   (double)w->ms[p] / 1e3);
	buf_put(out, ')');
}
