/* what_if_report.c - prints the settings that `convert --what-if` has tried on a sample */
#include "cli/reports.h"

/* Returns the size of all cells of the family, by the size of the sample's file. */
static uint64_t whole_size(const struct rewrite_estimate *e, const struct rewrite_trial *t)
{
	return (uint64_t)((double)t->bytes * (double)e->cells / (double)e->sample_cells);
}

/* Returns true if other settings are at least as good in size, get and scan, and better in one. */
static bool is_beaten(const struct rewrite_estimate *e, const struct rewrite_trial *t)
{
	for (size_t i = 0; i < e->ntrials; i++) {
		const struct rewrite_trial *o = &e->trials[i];

		if (o->bytes <= t->bytes && o->get_ns <= t->get_ns && o->scan_ns <= t->scan_ns &&
		    (o->bytes < t->bytes || o->get_ns < t->get_ns || o->scan_ns < t->scan_ns))
			return true;
	}
	return false;
}

static const struct rewrite_trial *current_of(const struct rewrite_estimate *e)
{
	const struct rewrite_trial *t = e->trials;

	while (!t->current)
		t++;
	return t;
}

static void put_trial(struct buf *out, const struct rewrite_estimate *e,
		      const struct rewrite_trial *t)
{
	char size[28];

	buf_printf(out, "%c %-11s  %-19s  %8uK  %9s  %4.0f %%  %7.1f us  %6.0f ns\n",
		   t->current ? '*' : ' ', codec_name(t->codec), encoding_name(t->encoding),
		   t->block_bytes >> 10, format_bytes(size, whole_size(e, t)),
		   100.0 * (double)t->bytes / (double)current_of(e)->bytes, (double)t->get_ns / 1e3,
		   t->scan_ns);
}

static void put_family(struct buf *out, const struct rewrite_estimate *e)
{
	char cells[28], sample[28];
	size_t left_out = 0;

	buf_printf(out, "family %s: %s cells, sample of %s\n", e->family,
		   format_count(cells, e->cells), format_count(sample, e->sample_cells));
	if (e->ntrials)
		buf_append_str(out, "  compression  data_block_encoding  blocksize       size  "
				    "of now         get  scan of a cell\n");
	for (size_t i = 0; i < e->ntrials; i++) {
		const struct rewrite_trial *t = &e->trials[i];

		if (t->current || !is_beaten(e, t))
			put_trial(out, e, t);
		else
			left_out++;
	}
	if (left_out)
		buf_printf(
			out,
			"%zu other settings are not better in size, get or scan; --json has them\n",
			left_out);
}

void what_if_report_text(struct buf *out, const struct rewrite_result *r)
{
	for (size_t i = 0; i < r->nestimates; i++)
		put_family(out, &r->estimates[i]);
	buf_append_str(out, "* now\n");
}

/* A trial for JSON. */
struct trial_line {
	const char *compression, *encoding;
	uint64_t block_bytes, sample_bytes, bytes, get_ns;
	double scan_ns;
	bool current;
};
static const struct form_member trial_members[] = {
	{"compression", FORM_TEXT, IN(trial_line, compression), "codec of the blocks"},
	{"data_block_encoding", FORM_TEXT, IN(trial_line, encoding), "encoding of the blocks"},
	{"blocksize", FORM_COUNT, IN(trial_line, block_bytes), "bytes of cells in a block"},
	{"current", FORM_FLAG, IN(trial_line, current), "true for the settings of the table"},
	{"sample_bytes", FORM_COUNT, IN(trial_line, sample_bytes), "size of the sample's file"},
	{"bytes", FORM_COUNT, IN(trial_line, bytes), "estimated size of all cells"},
	{"get_ns", FORM_COUNT, IN(trial_line, get_ns),
	 "processor time of saltmill's reader for all cells of a row, in ns"},
	{"scan_ns", FORM_RATIO, IN(trial_line, scan_ns),
	 "processor time of saltmill's reader for a cell of a scan, in ns"},
};
static const struct form trial_form = FORM(trial_line, trial_members);

struct estimate_view {
	struct rewrite_estimate e;
	struct trial_line *trials;
};
static const struct form_member estimate_members[] = {
	{"family", FORM_TEXT, IN(estimate_view, e.family), "column family"},
	{"cells", FORM_COUNT, IN(estimate_view, e.cells), "cells in all files of the family"},
	{"sample_cells", FORM_COUNT, IN(estimate_view, e.sample_cells), "cells of the sample"},
	{"trials", FORM_LIST, IN(estimate_view, trials), "tried settings, the smallest file first",
	 ITEMS(estimate_view, trial_form, e.ntrials)},
};
static const struct form estimate_form = FORM(estimate_view, estimate_members);

struct what_if_view {
	struct estimate_view *families;
	size_t nfamilies;
};
static const struct form_member what_if_members[] = {
	{"families", FORM_LIST, IN(what_if_view, families), "the families of the table",
	 ITEMS(what_if_view, estimate_form, nfamilies)},
};
const struct form what_if_form = NAMED_FORM(what_if_view, what_if_members, "what_if",
					    "convert --what-if --json", .digits = 3);

void what_if_report_json(struct buf *out, const struct rewrite_result *r)
{
	struct arena a = {0};
	struct what_if_view v = {.families =
					 arena_alloc(&a, (r->nestimates + 1) * sizeof *v.families),
				 .nfamilies = r->nestimates};

	for (size_t i = 0; i < r->nestimates; i++) {
		const struct rewrite_estimate *e = &r->estimates[i];

		v.families[i].e = *e;
		v.families[i].trials =
			arena_alloc(&a, (e->ntrials + 1) * sizeof(struct trial_line));
		for (size_t k = 0; k < e->ntrials; k++) {
			const struct rewrite_trial *t = &e->trials[k];

			v.families[i].trials[k] = (struct trial_line){
				codec_name(t->codec), encoding_name(t->encoding),
				t->block_bytes,	      t->bytes,
				whole_size(e, t),     t->get_ns,
				t->scan_ns,	      t->current};
		}
	}
	form_put(out, &what_if_form, &v, FORM_REPORT);
	arena_release(&a);
}
