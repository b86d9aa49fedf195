/* move_report.c - prints the state of a table that moves to other row keys in rounds */
#include "cli/reports.h"

#include "apply.h"

void move_report_text(struct buf *out, const struct move_result *r)
{
	char n[4][28];

	for (size_t i = 0; i < r->nsteps; i++)
		buf_printf(out, "%zu. %s\n", i + 1, r->steps[i]);
	if (r->nsteps) {
		buf_append_str(out, "saltmill changed nothing (--dry-run)\n");
		return;
	}
	buf_printf(out, "%s: %s cells in %s rounds; the last one moved %s in %s ms\n", r->to,
		   format_count(n[0], r->cells), format_count(n[1], r->rounds),
		   format_count(n[2], r->last_cells), format_count(n[3], r->last_ms));
	if (r->repaired)
		buf_printf(out, "repaired %s cells\n", format_count(n[0], r->repaired));
	if (r->finished)
		buf_printf(out, "equal: %s rows, %s cells\n", format_count(n[0], r->proved_rows),
			   format_count(n[1], r->proved_cells));
	else
		buf_printf(out,
			   "to end the move, stop all programs that write table %s, and run the "
			   "same command with --finish\n",
			   r->from);
}

static const struct form_member moved_members[] = {
	{"from", FORM_TEXT, IN(move_result, from), "the old table"},
	{"to", FORM_TEXT, IN(move_result, to), "the new table"},
	{"rounds", FORM_COUNT, IN(move_result, rounds), "rounds of all runs"},
	{"cells", FORM_COUNT, IN(move_result, cells), "cells that the rounds have written"},
	{"last_cells", FORM_COUNT, IN(move_result, last_cells), "cells of the last round"},
	{"last_ms", FORM_COUNT, IN(move_result, last_ms), "duration of the last round"},
	{"finished", FORM_FLAG, IN(move_result, finished),
	 "true if the last round and the proof are done, and both tables are equal"},
	{"rows", FORM_COUNT, IN(move_result, proved_rows), "rows of the proof"},
	{"proved", FORM_COUNT, IN(move_result, proved_cells), "cells of the proof"},
	{"repaired", FORM_COUNT, IN(move_result, repaired), "cells that --repair has changed"},
	{"removed", FORM_COUNT, IN(move_result, removed), "snapshots that this run has removed"},
	{"steps", FORM_TEXTS, IN(move_result, steps), "the next steps, with --dry-run",
	 COUNT_AT(move_result, nsteps)},
};
const struct form moved_form =
	NAMED_FORM(move_result, moved_members, "moved", "rekey --hbase --json");

void move_report_json(struct buf *out, const struct move_result *r)
{
	form_put(out, &moved_form, r, FORM_REPORT);
}
