#include "cli/progress_text.h"

#include "bar.h"
#include "cli/reports.h"

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
		buf_append_str(out, w->loads ? ", the last " : ", the load before that ");
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

struct stream_load {
	const char *name;
	uint64_t read, rejected;
	const char *dir;
};

static const struct form_member load_members[] = {
	{"load", FORM_TEXT, IN(stream_load, name), "name of the load in the state folder"},
	{"read", FORM_COUNT, IN(stream_load, read), "events"},
	{"rejected", FORM_COUNT, IN(stream_load, rejected), "bad events"},
	{"output", FORM_TEXT, IN(stream_load, dir), "the published folder"},
};
const struct form stream_form = NAMED_FORM(stream_load, load_members, "stream",
					   "a published load, as a line of `stream --json`");

void stream_load_json(struct buf *out, const char *name, uint64_t read, uint64_t rejected,
		      const char *dir)
{
	struct stream_load l = {name, read, rejected, dir};

	form_put(out, &stream_form, &l, FORM_SPACED);
}

struct phases_view {
	int64_t total, ms[FOLLOW_PHASES];
};
struct applied_json {
	struct applied_view w;
	struct phases_view phases;
};

static const struct form_member phases_members[] = {
	{"total", FORM_INT, IN(phases_view, total), "time until the mark of the load in the state"},
	{"waited", FORM_INT, IN(phases_view, ms[FOLLOW_WAIT]),
	 "waiting for earlier loads, and attempts that failed"},
	{"looked", FORM_INT, IN(phases_view, ms[FOLLOW_APPLY + APPLY_LOOK]),
	 "reading cluster and tables; creating and altering tables"},
	{"uploaded", FORM_INT, IN(phases_view, ms[FOLLOW_APPLY + APPLY_UPLOAD]),
	 "uploading the files"},
	{"loaded", FORM_INT, IN(phases_view, ms[FOLLOW_APPLY + APPLY_CALLS]),
	 "bulk load calls to the region servers"},
	{"cleaned", FORM_INT, IN(phases_view, ms[FOLLOW_APPLY + APPLY_CLEAN]),
	 "checking for leftover files, and removing the upload folders"},
	{"checked", FORM_INT, IN(phases_view, ms[FOLLOW_APPLY + APPLY_CHECK]),
	 "--check: comparing all cells with the table"},
	{"marked", FORM_INT, IN(phases_view, ms[FOLLOW_MARK]), "marking the load in the state"},
};
static const struct form phases_form = FORM(phases_view, phases_members);

static const struct form_member applied_members[] = {
	{"applied", FORM_TEXT, IN(applied_json, w.name), "name of the load in the state folder"},
	{"cells", FORM_COUNT, IN(applied_json, w.cells), "cells of all tables"},
	{"files", FORM_COUNT, IN(applied_json, w.files), "HFiles"},
	{"output", FORM_TEXT, IN(applied_json, w.dir), "folder of the load"},
	{"ms", FORM_PART, IN(applied_json, phases),
	 "milliseconds of each phase since the "
	 "publication of the load",
	 .items = &phases_form},
};
const struct form applied_form =
	NAMED_FORM(applied_json, applied_members, "applied",
		   "a load that is in HBase, as a line of `apply --state --json`");

const char *stream_phase(size_t p)
{
	return phases_members[1 + p].key;
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
	struct applied_json v = {.w = *w, .phases = {.total = sum(w->ms)}};

	memcpy(v.phases.ms, w->ms, sizeof v.phases.ms);
	form_put(out, &applied_form, &v, FORM_SPACED);
}

void stream_applied_text(struct buf *out, const struct applied_view *w)
{
	char count[28];

	buf_printf(out, "%s: in HBase, %s cells in %llu file%s, %.2f s after publication (",
		   w->name, format_count(count, w->cells), (unsigned long long)w->files,
		   w->files == 1 ? "" : "s", (double)sum(w->ms) / 1e3);
	for (size_t p = 0; p < FOLLOW_PHASES; p++)
		buf_printf(out, "%s%s %.2f", p ? ", " : "", stream_phase(p),
			   (double)w->ms[p] / 1e3);
	buf_put(out, ')');
}
