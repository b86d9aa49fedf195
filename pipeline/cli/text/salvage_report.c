/* salvage_report.c - print the result of `inspect --salvage` as text and as JSON */
#include <string.h>

#include "bytes.h"
#include "cli/inspect.h"
#include "cli/reports.h"
#include "mem.h"

struct salvage_report {
	struct arena arena;
	struct hfile_loss *losses;
	size_t nlosses;
	/* for JSON */
	const char *from, *to;
	uint64_t rows, cells, cells_lost;
	bool unknown; /* the trailer is damaged */
};

static const struct form_member loss_members[] = {
	{"offset", FORM_COUNT, IN(hfile_loss, offset), "offset of the range in the damaged file"},
	{"bytes", FORM_COUNT, IN(hfile_loss, bytes), "bytes of the range"},
	{"no_cells", FORM_FLAG, IN(hfile_loss, no_cells),
	 "true if the blocks on both sides prove that the range has no cells"},
	{"after_row", FORM_KEY, IN(hfile_loss, before),
	 "row key of the nearest cell before the range", FORM_IF_ANY},
	{"before_row", FORM_KEY, IN(hfile_loss, after),
	 "row key of the nearest cell after the range", FORM_IF_ANY},
	{"reason", FORM_TEXT, IN(hfile_loss, why), "the first fault of the range"},
};
static const struct form loss_form = FORM(hfile_loss, loss_members);

static const struct form_member salvage_members[] = {
	{"file", FORM_TEXT, IN(salvage_report, from), "the damaged file"},
	{"salvaged", FORM_TEXT, IN(salvage_report, to), "the new file"},
	{"rows", FORM_COUNT, IN(salvage_report, rows), "rows of the new file"},
	{"cells", FORM_COUNT, IN(salvage_report, cells), "cells of the new file"},
	{"cells_lost", FORM_COUNT, IN(salvage_report, cells_lost),
	 "cells that the damaged file had and the new file lacks; null if the trailer is damaged",
	 FORM_NULL_IF, IF(salvage_report, unknown)},
	{"lost", FORM_LIST, IN(salvage_report, losses), "ranges of the damaged file, by offset",
	 ITEMS(salvage_report, loss_form, nlosses)},
};
const struct form salvage_form =
	NAMED_FORM(salvage_report, salvage_members, "salvage", "inspect --salvage --json");

struct salvage_report *salvage_report_new(const char *from, const char *to)
{
	struct salvage_report *r = mem_calloc(1, sizeof *r);

	r->from = from;
	r->to = to;
	return r;
}

void salvage_report_free(struct salvage_report *r)
{
	arena_release(&r->arena);
	mem_free(r);
}

void salvage_report_add(void *report, const struct hfile_loss *l)
{
	struct salvage_report *r = report;

	r->losses = arena_grow(&r->arena, r->losses, r->nlosses, sizeof *r->losses);
	struct hfile_loss *kept = &r->losses[r->nlosses++];
	*kept = *l;
	kept->before = arena_bytes(&r->arena, l->before);
	kept->after = arena_bytes(&r->arena, l->after);
	kept->why = arena_strdup(&r->arena, l->why);
}

void salvage_report_end(struct salvage_report *r, const struct hfile_salvaged *s)
{
	r->rows = s->sum.rows;
	r->cells = s->sum.cells;
	r->unknown = s->expected == UINT64_MAX || s->expected < s->sum.cells;
	r->cells_lost = r->unknown ? 0 : s->expected - s->sum.cells;
}

static void append_row(struct buf *text, const char *before, struct bytes row)
{
	if (!row.len)
		return;
	buf_append_str(text, before);
	bytes_escape(text, row);
	buf_put(text, '"');
}

void salvage_losses_text(struct buf *text, const struct salvage_report *r)
{
	char bytes[28], offset[28];

	for (const struct hfile_loss *l = r->losses; l < r->losses + r->nlosses; l++) {
		buf_printf(text, "%s: %s bytes at offset %s",
			   l->no_cells ? "damaged, without cells" : "lost",
			   format_count(bytes, l->bytes), format_count(offset, l->offset));
		append_row(text, ", after row \"", l->before);
		append_row(text, l->before.len ? " and before row \"" : ", before row \"",
			   l->after);
		buf_printf(text, ": %s\n", l->why);
	}
}

void salvage_result_text(struct buf *text, const struct salvage_report *r)
{
	char rows[28], cells[28], lost[28];

	buf_printf(text, "%s: %s rows, %s cells; ", r->to, format_count(rows, r->rows),
		   format_count(cells, r->cells));
	if (r->unknown)
		buf_append_str(text,
			       "the trailer is damaged, so the number of lost cells is unknown\n");
	else
		buf_printf(text, "%s cells are lost\n", format_count(lost, r->cells_lost));
}

void salvage_json(struct buf *out, const struct salvage_report *r)
{
	form_put(out, &salvage_form, r, FORM_REPORT);
}
